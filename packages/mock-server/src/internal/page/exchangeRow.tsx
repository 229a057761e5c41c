/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** One exchange: a row of the list, and the detail beside it. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Journal from "../../Journal.ts"
import * as Kinds from "../faults/kinds.ts"
import * as Commands from "./commands.ts"
import { Badge, Copy, Form, Status, Wire } from "./components.tsx"
import type * as JournalView from "./journalView.ts"
import type { Page } from "./pageModel.ts"
import * as WireText from "./wireText.ts"

export const pathOfExchange = (path: string, id: number): string => `${path}/exchanges/${id}`

export const columns = ["No.", "Time", "Request", "Who", "Status", "ms", "What happened", "Fault"]

const decodeName = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ name: Schema.String })))

/** The last word of the name, as far as the journal shows it. */
const whoOf = ({ operation, request: { body } }: Journal.Entry): string =>
  operation === "aml"
    ? Option.match(decodeName(body), { onNone: () => "", onSome: ({ name }) => name.trim().split(/\s+/).at(-1) ?? "" })
    : ""

/** What stands out in the list. A fault hides the result of a check. */
const kindOf = ({ facts, faults, response: { status } }: Journal.Entry): string =>
  status >= 400 || faults.length > 0
    ? "failure"
    : facts.kind === "checked" && facts.result === "Potential match"
    ? "match"
    : ""

/** An update leaves the rows that exist as they are, because an exchange does not change. */
export const Row = (
  { isNew = false, path, row: { entry, number } }: {
    readonly path: string
    readonly row: JournalView.Row
    /** Whether it arrived while the page was open. */
    readonly isNew?: boolean
  }
) => {
  const { at, faults, id, millis, request: { method, target }, response, unexpected, why } = entry
  const url = pathOfExchange(path, id)
  return (
    <tbody id={`exchange-${id}`} class={`${kindOf(entry)}${isNew ? " new" : ""}`} hx-morph-skip="">
      <tr>
        <td class="number">
          <button
            type="button"
            class="open needs-script"
            tabIndex={-1}
            aria-label={`Request ${number}: ${response.status}, ${why}`}
            hx-get={url}
            hx-target="#detail"
            hx-sync="#detail:replace"
          >
            {number}
          </button>
          <noscript>
            <a href={url}>{number}</a>
          </noscript>
        </td>
        <td class="time">
          <time dateTime={at} title={at}>{at.slice(11, 19)}</time>
        </td>
        <td class="request" title={target}>{method} {target}</td>
        <td class="who">{whoOf(entry)}</td>
        <td class="outcome">
          <Status status={response.status} />
        </td>
        <td class="millis">{Math.round(millis)}</td>
        <td class="why" title={why}>{unexpected && <Badge kind="unexpected">unexpected</Badge>} {why}</td>
        <td class="faults">
          {faults.map(({ id, kind }) => <Badge kind="fault" key={id}>{kind}</Badge>)}
        </td>
      </tr>
    </tbody>
  )
}

const Facts = ({ entry, path }: { readonly path: string; readonly entry: Journal.Entry }) => {
  const { at, claims, id, millis, response: { delivery }, rule, unexpected } = entry
  return (
    <dl class="facts">
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
        <span class="mono">{at}</span>, <a href={pathOfExchange(path, id)}>link to this exchange</a>
      </dd>
    </dl>
  )
}

/** What a test person can have as a response, by the names of the form. */
const responses = ["Potential match", "No", ...Kinds.responseKindNames]

/** Forms that change what happens to the next request, or to the next check of the same person. */
const Actions = ({ entry, page: { origin, path } }: { readonly page: Page; readonly entry: Journal.Entry }) => {
  const { faults: [fault], id, operation } = entry
  const like = fault?.kind ?? (entry.facts.kind === "checked" ? entry.facts.result : "status")
  return (
    <div class="buttons">
      {operation !== "other" && (
        <Form action={`${path}/faults`} panel="faults">
          <input type="hidden" name="text" value={`${operation}:status=503:nth=1`} />
          <button type="submit" class="small">Fail the next one</button>
        </Form>
      )}
      <Copy text={Commands.again(origin, entry)} name="the request with curl" label="Copy as curl" />
      {operation === "aml" && (
        <Form action={`${path}/test-persons/like`} panel="test-persons" class="like">
          <input type="hidden" name="id" value={id} />
          <button type="submit" class="small">Answer this person with</button>
          <select name="response" aria-label="The response to this person">
            {responses.map((response) => (
              <option value={response} selected={response === like} key={response}>{response}</option>
            ))}
          </select>
        </Form>
      )}
    </div>
  )
}

/** The reason, the request and the response of an exchange. */
export const Exchange = ({ entry, page }: { readonly page: Page; readonly entry: Journal.Entry }) => (
  <div class="exchange">
    <p class="reason">
      <Status status={entry.response.status} /> {entry.why}
    </p>
    <Actions entry={entry} page={page} />
    <button type="button" class="close small needs-script" aria-label="Close the detail">Close</button>
    <Wire label="Request" text={WireText.request(WireText.indented(entry.request))} />
    <Wire label="Response" text={WireText.response(WireText.indented(entry.response))} />
    <Facts entry={entry} path={page.path} />
  </div>
)
