/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** One exchange: a row of the list, which opens to its request, its response and the reason. */
import type * as Journal from "../../Journal.ts"
import * as Summary from "../journal/summary.ts"
import { Badge, Status, Wire } from "./components.tsx"
import * as WireText from "./wireText.ts"

export const pathOfExchange = (path: string, id: number): string => `${path}/exchanges/${id}`

export const columns = ["No.", "Time", "Request", "Status", "What happened, and why", "Rule", "Faults"]

const Faults = ({ entry }: { readonly entry: Journal.Entry }) => (
  <>{entry.faults.map(({ id, kind }) => <Badge kind="fault" key={id}>{id}: {kind}</Badge>)}</>
)

const requestOf = ({ operation, request: { method, target } }: Journal.Entry) =>
  operation === "other" ? `${method} ${target}` : operation

const isFailure = ({ faults, response: { status } }: Journal.Entry): boolean => status >= 400 || faults.length > 0

/** An update leaves the rows that exist as they are, because an exchange does not change and its row may be open. */
export const Row = (
  { entry, isNew = false, path }: {
    readonly path: string
    readonly entry: Journal.Entry
    /** Whether it arrived while the page was open. */
    readonly isNew?: boolean
  }
) => {
  const { at, id, response, rule, unexpected } = entry
  const url = pathOfExchange(path, id)
  const kinds = [isFailure(entry) && "failure", isNew && "new"].filter((kind) => kind !== false)
  return (
    <tbody id={`exchange-${id}`} class={kinds.join(" ")} hx-morph-skip="">
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
        <td class="why">{unexpected && <Badge kind="unexpected">unexpected</Badge>} {Summary.summaryOf(entry)}</td>
        <td class="rule">{rule}</td>
        <td class="faults">
          <Faults entry={entry} />
        </td>
      </tr>
      <tr id={`exchange-${id}-detail`} class="detail" hidden>
        <td colSpan={columns.length} id={`exchange-${id}-wire`}>Loading…</td>
      </tr>
    </tbody>
  )
}

const Facts = ({ entry, path }: { readonly path: string; readonly entry: Journal.Entry }) => {
  const { at, claims, faults, id, millis, response: { delivery }, rule, unexpected } = entry
  return (
    <dl class="facts">
      <dt>Why</dt>
      <dd>{Summary.summaryOf(entry)}</dd>
      {faults.length > 0 && (
        <>
          <dt>Decision</dt>
          <dd>{Summary.decisionOf(entry)}</dd>
        </>
      )}
      <dt>Rule</dt>
      <dd class="mono">{rule}</dd>
      <dt>Claims</dt>
      <dd>
        {claims.length === 0 ? "none" : claims.map((claim) => <Badge kind="claim" key={claim}>{claim}</Badge>)}
      </dd>
      <dt>Request</dt>
      <dd>{unexpected ? "not allowed by the service document" : "allowed by the service document"}</dd>
      <dt>Delivery</dt>
      <dd>
        {delivery === "whole" ? "complete" : "broken by a fault: the client received only a part of it, or other bytes"}
        , after {Math.round(millis)} ms
      </dd>
      <dt>Time</dt>
      <dd>
        <span class="mono">{at}</span>, <a href={pathOfExchange(path, id)}>link to exchange {id}</a>
      </dd>
    </dl>
  )
}

/** The request and the response of a row, and why the server sent it. */
export const Exchange = ({ entry, path }: { readonly path: string; readonly entry: Journal.Entry }) => (
  <div class="exchange">
    <Wire label={`Request ${entry.id}`} text={WireText.request(entry.request)} />
    <div>
      <Wire label={`Response ${entry.id}`} text={WireText.response(entry.response)} />
      <Facts entry={entry} path={path} />
    </div>
  </div>
)
