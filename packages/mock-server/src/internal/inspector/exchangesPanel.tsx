/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The exchanges of a page: one row each, which opens to its request and response. */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import { Badge, Copy, Form, Panel, Status, Wire } from "./components.tsx"
import type { State } from "./pageModel.ts"
import * as WireText from "./wireText.ts"

/** More rows would make the page slow. Unexpected requests are shown as far back as the journal keeps them. */
export const maxRows = 200
export const maxUnexpected = 1000

/** The rows of the page, the newest first: the latest exchanges, and all older ones that are unexpected. */
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

export const Row = (
  { entry, isNew = false, isOlder, path }: {
    readonly path: string
    readonly entry: Journal.Entry
    /** Whether it arrived while the page was open. */
    readonly isNew?: boolean
    /** Whether it is shown only among unexpected requests. */
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
        <td colSpan={columns.length} id={`exchange-${id}-wire`}>Loading…</td>
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

export const Count = ({ entries, total }: Pick<State, "entries" | "total">) => {
  const unexpected = entries.filter(({ unexpected }) => unexpected).length
  return (
    <span id="exchange-count" class="muted">
      {total === 1 ? "1 exchange" : `${total} exchanges`}
      {total > maxRows && `, the latest ${maxRows} shown`}
      {unexpected > 0 && `, ${unexpected} unexpected`}
    </span>
  )
}

const publicKeys = [Session.demoCustomer.customerKey, Session.testKey].map(Redacted.value)

const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** A command that sends a token request. It has the key only if that is a well-known one. */
const curl = (origin: string, { customerId, customerKey }: Session.Customer): string => {
  const key = Redacted.value(customerKey)
  const user = `${customerId}:${publicKeys.includes(key) ? key : "<customer key>"}`
  return `curl -u ${shellQuoted(user)} -d grant_type=client_credentials ${origin}${IdvApi.token.path}`
}

const Empty = ({ page: { origin, session } }: Pick<State, "page">) => {
  if (Option.isNone(session)) {
    return <p class="empty">No requests yet. A request with an unknown customer id or token appears here.</p>
  }
  const command = curl(origin, session.value)
  return (
    <p class="empty">
      No requests yet. Send one: <code>{command}</code> <Copy text={command} />
    </p>
  )
}

export const ExchangesPanel = ({ entries, page, total }: State) => (
  <Panel id="exchanges" title="Exchanges" note={<Count entries={entries} total={total} />}>
    <div class="toolbar">
      <label class="check">
        <input type="checkbox" id="only-unexpected" /> Unexpected only
      </label>
      <Form action={`${page.path}/exchanges/clear`} panel="exchanges">
        <button type="submit">Clear</button>
      </Form>
    </div>
    <table class="exchanges" id="exchange-table">
      <caption class="hidden">Newest first. The number opens the request and the response.</caption>
      <thead id="exchange-head">
        <tr>{columns.map((column) => <th scope="col" key={column}>{column}</th>)}</tr>
      </thead>
      {rowsOf(entries).map(({ entry, isOlder }) => (
        <Row path={page.path} entry={entry} isOlder={isOlder} key={entry.id} />
      ))}
    </table>
    <Empty page={page} />
  </Panel>
)
