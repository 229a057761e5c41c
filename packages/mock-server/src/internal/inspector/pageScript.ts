/**
 * The page's own script: what htmx has no attribute for. It is text, so that nothing has to be
 * copied or bundled for it to be served.
 */
import { maxRows, maxUnexpected } from "./exchangesPanel.tsx"

export const script = `"use strict"
document.documentElement.classList.add("scripted")

// htmx 4.0.1 passes options to this function, which Chromium 143 refuses. Without it htmx uses DOMParser.
try {
  Document.parseHTMLUnsafe?.("", {})
} catch {
  Document.parseHTMLUnsafe = undefined
}

const say = (text) => {
  document.getElementById("said").textContent = text
}

const toggle = (button) => {
  const detail = document.getElementById(button.getAttribute("aria-controls"))
  detail.hidden = !detail.hidden
  button.setAttribute("aria-expanded", String(!detail.hidden))
}

const copy = (text) =>
  (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(
    () => say("Copied: " + text),
    () => say("Not copied: this browser lets a page copy on localhost and by HTTPS only")
  )

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button") : null
  if (button === null) return
  if (button.hasAttribute("aria-controls")) toggle(button)
  if (button.dataset.copy !== undefined) copy(button.dataset.copy)
})

// Where the button that was pressed is gone with its row, the panel has the focus.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.request?.method === "POST" && document.activeElement === document.body) {
    document.getElementById(ctx.target?.id)?.querySelector("h2")?.focus()
  }
})

// What was typed stays in a field also when the server has nothing in it any more.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const form = ctx.sourceElement
  if (ctx.request?.method === "POST" && form.dataset.resets !== undefined) form.reset()
})

// A row may come twice, by an event and with a panel. Old ones make room, unless they are unexpected.
document.addEventListener("htmx:after:swap", () => {
  const seen = new Set()
  for (const row of document.querySelectorAll("#exchange-table > tbody")) {
    const isOlder = seen.size >= ${maxRows}
    const isKept = !isOlder || row.classList.contains("unexpected") && seen.size < ${maxUnexpected}
    if (seen.has(row.id) || !isKept) row.remove()
    else {
      seen.add(row.id)
      row.classList.toggle("older", isOlder)
    }
  }
})

const showLive = (state, text) => {
  const shown = document.getElementById("live-state")
  shown.className = state
  if (shown.textContent !== text) shown.textContent = text
}
document.addEventListener("htmx:sse:after:connection", () => showLive("on", "live"))
document.addEventListener("htmx:sse:before:connection", ({ detail }) => {
  if (detail.connection.attempt > 0) showLive("off", "connecting again")
})
document.addEventListener("gone", () => {
  showLive("off", "over")
  say("This session is over: it was removed")
})

// The time runs on from where the server told it.
let told
let toldAt
const tick = () => {
  const shown = document.getElementById("now")
  if (shown === null) return
  const key = shown.dataset.now + shown.dataset.frozen
  if (told !== key) {
    told = key
    toldAt = performance.now()
  }
  const passed = shown.dataset.frozen ? 0 : performance.now() - toldAt
  const now = new Date(Number(shown.dataset.now) + passed)
  if (!Number.isNaN(now.getTime())) shown.textContent = now.toISOString().slice(0, 19).replace("T", " ")
}
tick()
setInterval(tick, 250)
`
