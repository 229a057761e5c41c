/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The faults of a session, and a form that sets another. */
import * as Fault from "../../Fault.ts"
import type { FaultState } from "../session/sessionFaults.ts"
import { Form, Panel, typed } from "./components.tsx"
import type { InvalidForm } from "./forms.ts"

/** The parameters of a condition or an action, without its kind. */
const parameters = (part: { readonly kind: string }): string =>
  Object.entries(part).filter(([name]) => name !== "kind").map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ")

const SetFault = (
  { armed: { fault, fired, id, seen }, path }: { readonly path: string; readonly armed: FaultState }
) => {
  const { on, ttl, what, when } = Fault.encode(fault)
  const condition = when ?? { kind: "always" }
  return (
    <tr>
      <th scope="row" class="mono">{id}</th>
      <td>{on}</td>
      <td class="what">
        <span class="mono">{what.kind}</span> <span class="muted">{parameters(what)}</span>
      </td>
      <td class="when">
        {condition.kind} <span class="muted">{parameters(condition)}</span>
        {ttl !== undefined && <span class="muted">for {ttl} ms</span>}
      </td>
      <td class="count">{fired} of {seen} requests</td>
      <td class="action">
        <Form action={`${path}/faults/remove`} panel="faults">
          <input type="hidden" name="id" value={id} />
          <button type="submit" class="small" aria-label={`Remove the fault ${id}`}>Remove</button>
        </Form>
      </td>
    </tr>
  )
}

/** Updated live, because each request that a fault applies to changes its counts. */
export const FaultList = ({ faults, path }: { readonly path: string; readonly faults: ReadonlyArray<FaultState> }) => (
  <div id="fault-list">
    {faults.length === 0 ?
      <p class="empty">No faults set. Set one below; it applies to the requests of this session.</p> :
      (
        <table class="faults">
          <caption class="hidden">The faults of the session</caption>
          <thead>
            <tr>
              <th scope="col">Id</th>
              <th scope="col">On</th>
              <th scope="col">What</th>
              <th scope="col">When</th>
              <th scope="col">Fired</th>
              <th scope="col">
                <span class="hidden">Action</span>
              </th>
            </tr>
          </thead>
          <tbody>{faults.map((armed) => <SetFault path={path} armed={armed} key={armed.id} />)}</tbody>
        </table>
      )}
  </div>
)

const SetFaultForm = ({ invalid, path }: { readonly path: string; readonly invalid: InvalidForm | undefined }) => {
  const id = "fault-text"
  const problems = invalid?.problems ?? []
  return (
    <Form
      action={`${path}/faults`}
      panel="faults"
      class="fields"
      label="Set a fault"
      id="fault-form"
      resets="fault-form"
    >
      <div class="field text">
        <label for={id}>Set a fault</label>
        <input
          id={id}
          name="text"
          class="mono"
          autocomplete="off"
          spellcheck={false}
          placeholder="aml:status=503:nth=2"
          value={typed(invalid)["text"] ?? ""}
          aria-invalid={problems.length > 0 ? true : undefined}
          aria-describedby={problems.length > 0 ? `${id}-error ${id}-hint` : `${id}-hint`}
        />
        {problems.length > 0 && (
          <ul class="error" id={`${id}-error`}>
            {problems.map(({ path, text }) => <li key={path}>{text}</li>)}
          </ul>
        )}
        <p class="hint" id={`${id}-hint`}>
          <code>on:what[=value][:when[=value]]</code>: on is token, aml or both; when is nth=2, first=2, every=2,
          probability=0.1 or window=1 minute. Other fields need JSON, such as{" "}
          <code>{"{\"on\":\"aml\",\"what\":{\"kind\":\"drip\",\"bytes\":50},\"ttl\":\"1 minute\"}"}</code>
        </p>
      </div>
      <button type="submit" class="primary">Set</button>
    </Form>
  )
}

/** The kinds of faults. The script writes the example of a pressed button into the form. */
const Examples = () => (
  <table class="examples">
    <caption>Kinds of faults, each with an example</caption>
    <tbody>
      {Fault.kinds.map(({ description, example, kind }) => (
        <tr key={kind}>
          <th scope="row">
            <button type="button" class="small mono" data-fill="fault-text">{example}</button>
          </th>
          <td>{description}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

export const FaultsPanel = (
  { faults, invalid, path }: {
    readonly path: string
    readonly faults: ReadonlyArray<FaultState>
    readonly invalid: InvalidForm | undefined
  }
) => (
  <Panel id="faults" title="Faults">
    <FaultList path={path} faults={faults} />
    <SetFaultForm path={path} invalid={invalid} />
    <Examples />
  </Panel>
)
