/** The style sheet of the page. It is a string, so that the build copies no files. */
import { palette } from "../service/amlProfile.ts"
import { formStyle } from "./faultForm.tsx"

export const style = `
:root {
  color-scheme: light dark;
  ${palette}
  --inset: light-dark(#f8f9fb, #11151c);
  --strong-line: light-dark(#858e9e, #6b7486);
  --accent: light-dark(#3451b2, #9db2ff);
  --accent-ground: light-dark(#3451b2, #3d5bc4);
  --bad: light-dark(#a01818, #ff9e96);
  --bad-ground: light-dark(#fde7e5, #3f1a1a);
  --info: light-dark(#1d4f8f, #8fc1ff);
  --info-ground: light-dark(#e3eefb, #14294a);
  --odd: light-dark(#6a2c91, #d5a6f5);
  --odd-ground: light-dark(#f3e8fa, #331a45);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --gap: 1rem;
}

*, ::before, ::after { box-sizing: border-box }
[hidden] { display: none !important }
html { scroll-padding-top: 6.5rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--ground); color: var(--text); font: 0.875rem/1.45 var(--sans) }
h1, h2, h3, h4, p, ul, dl, dd, figure, pre { margin: 0 }
a { color: var(--accent) }
a, button, input, select, summary, textarea { text-underline-offset: 0.15em }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
code, pre, .mono { font-family: var(--mono); font-size: 0.92em; font-weight: 400 }
.muted { color: var(--muted); font-weight: 400 }
.hidden:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
html:not(.scripted) .needs-script { display: none }
.skip { position: absolute; left: -99rem; z-index: 3; padding: 0.5rem 1rem; background: var(--panel) }
.skip:focus { left: 0.5rem; top: 0.5rem }

/* Controls */
button, input, select, textarea {
  font: inherit; color: inherit; min-height: 1.875rem; padding: 0.2rem 0.6rem; border-radius: 5px;
  border: 1px solid var(--strong-line); background: var(--panel); max-width: 100%;
}
input[type="checkbox"] { min-height: 0; accent-color: var(--accent); vertical-align: -0.1em; margin: 0 0.3rem 0 0 }
textarea { width: 100%; resize: vertical; line-height: 1.5 }
:is(input, textarea).mono { font-family: var(--mono); font-size: 0.92em }
::placeholder { color: var(--muted); opacity: 1 }
button { cursor: pointer; font-weight: 500; white-space: nowrap }
button:hover { background: var(--inset); border-color: var(--accent) }
button.primary { background: var(--accent-ground); border-color: var(--accent-ground); color: #fff }
button.primary:hover { filter: brightness(1.1) }
button.small { min-height: 1.5rem; padding: 0 0.5rem; font-size: 0.8125rem }
.htmx-request button { cursor: progress; opacity: 0.7 }
[aria-invalid="true"] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad) }
.error { color: var(--bad); font-size: 0.8125rem; padding: 0 }
.hint { color: var(--muted); font-size: 0.8125rem }
.buttons, .toolbar { display: flex; flex-wrap: wrap; gap: 0.375rem; align-items: center }

/* The bar and the tabs */
.bar {
  position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem;
  padding: 0.375rem 1rem; background: var(--panel);
}
.brand { font-weight: 650; font-size: 1rem; color: var(--text); text-decoration: none; letter-spacing: -0.01em }
.brand::before { content: ""; display: inline-block; width: 0.7em; height: 0.7em; margin-right: 0.45em; border-radius: 3px; background: var(--accent-ground) }
.api { order: 1; margin-left: auto }
.switch { display: flex; align-items: center; gap: 0.375rem }
.switch label { color: var(--muted) }
.switch select { font-family: var(--mono); font-size: 0.8125rem; max-width: 14rem; min-height: 1.5rem; padding-block: 0 }
#clock, .now { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem }
.now time { font-family: var(--mono); font-weight: 600; font-variant-numeric: tabular-nums }
#live-state { color: var(--muted) }
#live-state::before { content: ""; display: inline-block; width: 0.55em; height: 0.55em; margin-right: 0.45em; border-radius: 50%; background: var(--strong-line) }
#live-state.on { color: var(--good) }
#live-state.on::before { background: currentColor }
#live-state.off { color: var(--bad) }
#message { flex: 1 1 12rem; min-width: 0; color: var(--muted); text-align: right; overflow-wrap: anywhere }
nav { position: sticky; top: 2.25rem; z-index: 1; display: flex; flex-wrap: wrap; gap: 0 1.25rem; align-items: center; padding: 0 1rem; background: var(--panel); border-bottom: 1px solid var(--line) }
[role="tablist"] { display: flex; flex-wrap: wrap; gap: 0 1.25rem }
[role="tab"] { padding: 0.25rem 0; color: var(--muted); text-decoration: none; border-bottom: 2px solid transparent }
[role="tab"]:hover { color: var(--text) }
.scripted [role="tab"][aria-selected="true"] { color: var(--text); font-weight: 600; border-color: var(--accent) }
.scripted .pane:not(.shown) { display: none }

/* Panels */
main { max-width: 110rem; margin: 0 auto; padding: 0.75rem 1rem 2rem; display: grid; gap: var(--gap) }
main > *, .pane > * { min-width: 0 }
.pane { display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr) }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; min-width: 0; overflow: clip }
.panel > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; padding: 0.625rem 1rem 0.5rem }
h1 { font-size: 1.25rem; letter-spacing: -0.01em }
h2:focus { outline: 0 }
h2 { font-size: 0.9375rem; font-weight: 650 }
h3 { font-size: 0.9375rem }
h4 { font-size: 0.875rem }
.panel .muted { font-size: 0.8125rem }
.empty { padding: 0.75rem 1rem 1rem; color: var(--muted) }
.toolbar { padding: 0 1rem 0.625rem }

/* Tables */
table { width: 100%; border-collapse: collapse; font-size: 0.8125rem }
th, td { padding: 0.3rem 0.5rem; text-align: left; vertical-align: baseline; border-top: 1px solid var(--line); overflow-wrap: break-word }
th:first-child, td:first-child { padding-left: 1rem }
th:last-child, td:last-child { padding-right: 1rem }
thead th { font-weight: 500; color: var(--muted); background: var(--inset); padding-block: 0.25rem }
tbody th { font-weight: 500 }
td.action { text-align: right; width: 1% }
td.when { min-width: 5.5rem }
td.count { white-space: nowrap; font-variant-numeric: tabular-nums }

caption:not(.hidden) { padding: 0.5rem 1rem 0.25rem; text-align: left; color: var(--muted) }

/* Badges */
.badge, .status {
  display: inline-block; padding: 0 0.4em; border-radius: 4px; font-size: 0.75rem; line-height: 1.5; font-weight: 500;
  color: var(--muted); background: var(--inset); box-shadow: inset 0 0 0 1px var(--line); white-space: nowrap;
}
.status { font-family: var(--mono); font-variant-numeric: tabular-nums; box-shadow: none }
.s2, .badge.clear, .badge.documented { color: var(--good); background: var(--good-ground); box-shadow: none }
.s3, .badge.observed { color: var(--info); background: var(--info-ground); box-shadow: none }
.s4, .badge.potential { color: var(--warn); background: var(--warn-ground); box-shadow: none }
.s5, .badge.unexpected { color: var(--bad); background: var(--bad-ground); box-shadow: none }
.badge.fault, .badge.unknown, tbody.failure .s2 { color: var(--odd); background: var(--odd-ground); box-shadow: none }
.badge.claim { font-family: var(--mono); font-size: 0.6875rem; margin: 0 0.25rem 0.125rem 0 }

/* Start */
#start { background: var(--panel); border: 1px solid var(--line); border-radius: 8px }
#start > summary { padding: 0.25rem 1rem; display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline }
#start h2 { display: inline; font-size: 0.875rem; color: var(--text) }
#start > summary::before { content: "▸"; color: var(--muted) }
#start[open] > summary::before { content: "▾" }
.start { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.5rem 2rem; padding: 0.25rem 1rem 0.875rem }
.start .facts { align-content: start; row-gap: 0.3rem }
.start .facts dd { overflow-wrap: anywhere }
.start :is(.hint, figure + figure) { grid-column: 2 }
.command figcaption { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; color: var(--text) }
.start pre { background: var(--inset) }
summary { font-size: 0.8125rem; color: var(--muted); cursor: pointer }

/* Exchanges */
#exchanges { position: relative }
.clear-exchanges { position: absolute; top: 0.5rem; right: 1rem }
.fields.filters { border-top: 0; padding-top: 0; align-items: end }
#exchanges:has([data-latest]):not(:has(tbody, [data-unmatched])) :is(.filters, .clear-exchanges) { display: none }
.filters .field.text { grid-template-columns: max-content minmax(0, 1fr); align-items: center; column-gap: 0.75rem }
.filters .check { align-self: end; padding-block: 0.35rem; white-space: nowrap }
.pages { display: flex; flex-wrap: wrap; justify-content: flex-end; gap: 0.5rem; padding: 0.5rem 1rem; border-top: 1px solid var(--line) }
.pages:not(:has(form:not([hidden]))) { display: none }
#exchange-pages { display: flex; flex-wrap: wrap; flex: 1; align-items: center; justify-content: space-between; gap: 0.5rem 1rem }
button:disabled { cursor: default; color: var(--muted); border-color: var(--line); background: none }
.split { display: grid; grid-template-columns: minmax(0, 1fr); border-top: 1px solid var(--line) }
.list { min-width: 0 }
.exchanges { table-layout: fixed }
.exchanges th:nth-child(1) { width: 3.5rem }
.exchanges th:nth-child(2) { width: 5.25rem }
.exchanges th:nth-child(3) { width: 10.5rem }
.exchanges th:nth-child(4) { width: 6.5rem }
.exchanges th:nth-child(5) { width: 4rem }
.exchanges th:nth-child(6) { width: 3.25rem }
.exchanges th:nth-child(8) { width: 8.5rem }
.exchanges :is(th, td) { padding-block: 0.2rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.exchanges :is(.time, .request, .who, .millis) { font-family: var(--mono); font-size: 0.75rem }
.exchanges :is(.time, .millis) { color: var(--muted) }
.exchanges :is(th:nth-child(6), .millis) { text-align: right }
.exchanges tbody.match .why { color: var(--warn) }
.exchanges tbody { cursor: pointer }
.exchanges tbody:hover { background: var(--inset) }
.exchanges tbody.failure td.number { box-shadow: inset 3px 0 0 var(--odd) }
.exchanges tbody.failure:has(.s4) td.number { box-shadow: inset 3px 0 0 var(--warn) }
.exchanges tbody.failure:has(.s5) td.number { box-shadow: inset 3px 0 0 var(--bad) }
.exchanges tbody:has([aria-current]) { background: var(--info-ground) }
.exchanges .badge + .badge:not(.claim) { margin-left: 0.25rem }
.exchanges:has(tbody) + .empty { display: none }
.exchanges:not(:has(tbody)) thead { display: none }
button.open { min-height: 1.25rem; padding: 0 0.4rem; border-color: transparent; background: none; font-variant-numeric: tabular-nums; margin-left: -0.4rem }
#detail:empty { display: none }
#detail { border-left: 1px solid var(--line); background: var(--inset); min-width: 0 }
.split:has(#detail > *) { grid-template-columns: minmax(0, 1fr) minmax(0, 30rem) }
.split:has(#detail > *) .exchanges :is(th, td):is(:nth-child(6), :nth-child(8)) { display: none }
@keyframes arrive { from { background: var(--info-ground) } }
tbody.new tr:first-child { animation: arrive 1.6s ease-out }

/* Detail */
.exchange { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.625rem; padding: 0.625rem 1rem 1rem }
#detail > .exchange { position: sticky; top: 4.5rem; max-height: calc(100vh - 5rem); overflow: auto }
.exchange > .close { display: none }
#detail .close { display: initial; position: absolute; top: 0.5rem; right: 1rem }
.reason { padding-right: 4rem; font-weight: 500; overflow-wrap: anywhere }
.like { display: flex; flex-wrap: wrap; gap: 0.375rem; align-items: center; min-width: 0 }
.like select { min-height: 1.5rem; padding-block: 0; font-size: 0.8125rem }

.wire { min-width: 0; display: grid; align-content: start; gap: 0.2rem }
.wire figcaption { font-size: 0.75rem; color: var(--muted) }
.wire pre {
  max-height: 24rem; overflow: auto; padding: 0.5rem 0.75rem; font-size: 0.75rem; line-height: 1.5; white-space: pre-wrap;
  overflow-wrap: anywhere; tab-size: 2; background: var(--panel); border: 1px solid var(--line); border-radius: 5px;
}
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 1rem; font-size: 0.8125rem }
.facts dt { color: var(--muted) }

/* Forms */
.fields { display: flex; flex-wrap: wrap; align-items: start; gap: 0.5rem 0.75rem; padding: 0.75rem 1rem; border-top: 1px solid var(--line) }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.2rem; min-width: 0 }
.field label { font-size: 0.8125rem; color: var(--muted) }
.field.text, .field.name { flex: 1 1 14rem }
.field.what { flex: 1 1 100% }
.of-option { display: contents }
.group { display: flex; flex-wrap: wrap; align-items: start; gap: 0.5rem 0.75rem; min-width: 0 }
.group.what { flex: 1 1 100% }
.of-option .field { flex: 1 1 9rem }
.own-request .field { flex: 1 1 100% }
.fields.own-request > button { margin-top: 0 !important }
form.examples { display: grid; gap: 0.375rem; padding: 0 1rem 0.75rem }
.fields:not(.filters) > button { margin-top: 1.4rem }

/* Profile */
.profile th label { display: block; font-weight: 500 }
.profile td:nth-child(3) { width: 54% }
.profile select { width: 100%; min-height: 1.625rem; padding-block: 0 }
.profile tr.changed th { box-shadow: inset 3px 0 0 var(--accent) }
.profile tr.changed select { border-color: var(--accent); font-weight: 500 }
.profile th, .profile td { vertical-align: middle }
.apply { padding: 0.75rem 1rem; border-top: 1px solid var(--line) }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; padding: 0.625rem 1rem; border-top: 1px solid var(--line); font-size: 0.8125rem; color: var(--muted) }
.legend div { display: flex; gap: 0.375rem }

.test-persons th { white-space: nowrap }

/* Send */
.result .exchange { padding: 0 }
.result { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; padding: 0.75rem 1rem 1rem; border-top: 1px solid var(--line) }

/* Error pages */
.error-page { max-width: 42rem; padding-top: 2.5rem }
.error-page form { display: grid; gap: 0.75rem; justify-items: start }

@media (max-width: 62rem) {
  .start { grid-template-columns: minmax(0, 1fr) }
  .start > * { grid-column: 1 !important }
  .split:has(#detail > *) { grid-template-columns: minmax(0, 1fr); padding-bottom: 55vh }
  html:has(#detail > *) { scroll-padding-bottom: 57vh }
  #detail { border-left: 0; position: fixed; inset: auto 0 0; z-index: 2; border-top: 2px solid var(--accent) }
  #detail > .exchange { position: relative; top: 0; max-height: 55vh }
}

@media (max-width: 44rem) {
  html { scroll-padding-top: 1rem }
  .bar, nav { position: static; padding-inline: 0.75rem }
  .bar { column-gap: 0.625rem }
  .bar #clock { order: 2; flex: 1 1 100% }
  .brand { font-size: 0 }
  .brand::before { font-size: 1rem; margin: 0 }
  .switch { min-width: 0 }
  .switch label { position: absolute; clip-path: inset(50%) }
  .switch select { min-width: 0 }
  .now .real { display: none }
  #clock :is(time, .small) { font-size: 0.75rem }
  #clock .small { padding: 0 0.2rem }
  #clock .buttons { gap: 0.25rem }
  main { padding: 0.75rem }
  #exchanges > header { padding-right: 5rem }
  :is(.exchanges, .faults, .profile), :is(.exchanges, .faults, .profile) tbody { display: block }
  :is(.exchanges, .faults, .profile) thead { display: none }
  .exchanges tbody { border-top: 1px solid var(--line); padding: 0.25rem 0 }
  .exchanges tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.625rem; padding: 0 0.75rem }
  .exchanges tr td { padding: 0; border: 0; display: block !important }
  .exchanges .request { flex: 1 }
  .exchanges .millis { display: none !important }
  .exchanges .why { flex: 1 1 12rem; order: 1; white-space: normal }
  .exchanges .faults { order: 2 }
  .exchanges .faults:empty { display: none !important }
  .exchanges tbody.failure td.number { box-shadow: none !important }
  button.open { margin-left: 0; padding-left: 0.2rem }
  .start .facts { gap: 0.2rem 0.75rem }
  #start:not([open]) .mono { display: none }
  .faults tr { display: grid; grid-template-columns: max-content minmax(0, 1fr) max-content; gap: 0.125rem 0.75rem; align-items: baseline; padding: 0.5rem 1rem; border-top: 1px solid var(--line) }
  .faults tr :is(th, td) { padding: 0; border: 0 }
  .faults .action { grid-area: 1 / 3; width: auto }
  .faults :is(.what, .when, .count) { grid-column: 1 / -1 }
  .profile tr { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: 0.25rem 0.5rem; padding: 0.5rem 1rem; border-top: 1px solid var(--line) }
  .profile tr :is(th, td) { padding: 0; border: 0; width: auto !important }
  .profile tr td:last-child { grid-column: 1 / -1 }
}

@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation: none !important; transition: none !important }
}

${formStyle}
`
