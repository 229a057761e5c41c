/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The exchanges of a place: a row for each, which opens to what went over. */
import type * as Journal from "../../Journal.ts"
import { Badge, Form, Panel, Status, Wire } from "./components.tsx"
import type { State } from "./pageModel.ts"
import * as WireText from "./wireText.ts"

/** Of more, the page gets slow; the journal has them. Unexpected ones there are as many as a journal keeps. */
export const maxRows = 200
export const maxUnexpected = 1000

/** The rows of the page, the newest first: the last ones, and those before them that are unexpected. */
export const rowsOf = (
  entries: ReadonlyArray<Journal.Entry>
): ReadonlyArray<{ readonly entry: Journal.Entry; readonly isOlder: boolean }> =>
  entries
    .map((entry, index) => ({ entry, isOlder: index < entries.length - maxRows }))
    .filter(({ entry, isOlder }) => entry.unexpected || !isOlder)
    .toReversed()

export const pathOfExchange = (path: string, id: number): string => `${path}/exchanges/${id}`

const columns = ["No.", "Time", "Request", "Status", "Rule", "Why", "Faults"]

const Faults = ({ entry }: { readonly entry: Journal.Entry }) => (
  <>{entry.faults.map(({ id, kind }) => <Badge kind="fault" key={id}>{id}: {kind}</Badge>)}</>
)

const requestOf = ({ operation, request: { method, target } }: Journal.Entry) =>
  operation === "other" ? `${method} ${target}` : operation

const isFailure = ({ faults, response: { status } }: Journal.Entry): boolean => status >= 400 || faults.length > 0

/** - `isNew`: it came while somebody was looking. `isOlder`: it is shown among unexpected ones only. */
export const Row = (
  { entry, isNew = false, isOlder, path }: {
    readonly path: string
    readonly entry: Journal.Entry
    readonly isNew?: boolean
    readonly isOlder: boolean
  }
) => {
  const { at, id, response, rule, unexpected, why } = entry
  const url = pathOfExchange(path, id)
  const kinds = [isFailure(entry) && "failure", unexpected && "unexpected", isNew && "new", isOlder && "older"]
  return (
    <tbody id={`exchange-${id}`} class={kinds.filter((kind) => kind !== false).join(" ")}>
      <tr>
        <td class="number">
          <button
            type="button"
            class="open needs-script"
            aria-expanded="false"
            aria-controls={`exchange-${id}-detail`}
            aria-label={`Exchange ${id}`}
            hx-get={url}
            hx-trigger="click once"
            hx-target={`#exchange-${id}-wire`}
          >
            {id}
          </button>
          <noscript>
            <a href={url}>{id}</a>
          </noscript>
        </td>
        <td class="time">
          <time dateTime={at} title={at}>{at.slice(11, 23)}</time>
        </td>
        <td class="request">{requestOf(entry)}</td>
        <td class="outcome">
          <Status status={response.status} />
          {response.delivery === "scripted" && <Badge kind="fault">broken</Badge>}
        </td>
        <td class="rule">{rule}</td>
        <td class="why">{unexpected && <Badge kind="unexpected">unexpected</Badge>} {why}</td>
        <td class="faults">
          <Faults entry={entry} />
        </td>
      </tr>
      <tr id={`exchange-${id}-detail`} class="detail" hidden>
        <td colSpan={columns.length} id={`exchange-${id}-wire`}>One moment…</td>
      </tr>
    </tbody>
  )
}

const Facts = ({ entry, path }: { readonly path: string; readonly entry: Journal.Entry }) => {
  const { at, claims, id, millis, response: { delivery }, rule, unexpected, why } = entry
  return (
    <dl class="facts">
      <dt>Why</dt>
      <dd>{why}</dd>
      <dt>Rule</dt>
      <dd class="mono">{rule}</dd>
      <dt>Claims</dt>
      <dd>
        {claims.length === 0 ? "none" : claims.map((claim) => <Badge kind="claim" key={claim}>{claim}</Badge>)}
      </dd>
      <dt>Request</dt>
      <dd>{unexpected ? "one that the API document does not have" : "as the API document has it"}</dd>
      <dt>Delivery</dt>
      <dd>
        {delivery === "whole" ? "whole" : "broken by a fault: not all of this arrived, or not so"}, after{" "}
        {Math.round(millis)} ms
      </dd>
      <dt>Time</dt>
      <dd>
        <span class="mono">{at}</span>, <a href={pathOfExchange(path, id)}>link to exchange {id}</a>
      </dd>
    </dl>
  )
}

/** What a row opens to. */
export const Exchange = ({ entry, path }: { readonly path: string; readonly entry: Journal.Entry }) => (
  <div class="exchange">
    <Wire label={`Request ${entry.id}`} text={WireText.request(entry.request)} />
    <div>
      <Wire label={`Answer ${entry.id}`} text={WireText.response(entry.response)} />
      <Facts entry={entry} path={path} />
    </div>
  </div>
)

export const Count = ({ entries, total }: Pick<State, "entries" | "total">) => {
  const unexpected = entries.filter(({ unexpected }) => unexpected).length
  return (
    <span id="exchange-count" class="muted">
      {total === 1 ? "1 so far" : `${total} so far`}
      {total > maxRows && `, the last ${maxRows} here`}
      {unexpected > 0 && `, ${unexpected} unexpected`}
    </span>
  )
}

export const ExchangesPanel = ({ entries, place: { path }, total }: State) => (
  <Panel id="exchanges" title="Exchanges" note={<Count entries={entries} total={total} />}>
    <div class="toolbar">
      <label class="check">
        <input type="checkbox" id="only-unexpected" /> Unexpected only
      </label>
      <Form action={`${path}/exchanges/clear`} panel="exchanges">
        <button type="submit">Clear</button>
      </Form>
    </div>
    <table class="exchanges" id="exchange-table">
      <caption class="hidden">The newest first. The number opens what went over.</caption>
      <thead id="exchange-head">
        <tr>{columns.map((column) => <th scope="col" key={column}>{column}</th>)}</tr>
      </thead>
      {rowsOf(entries).map(({ entry, isOlder }) => <Row path={path} entry={entry} isOlder={isOlder} key={entry.id} />)}
    </table>
    <p class="empty">Nothing yet. What comes appears here by itself.</p>
  </Panel>
)
