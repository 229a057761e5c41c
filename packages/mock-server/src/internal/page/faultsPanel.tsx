/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The faults of a session, and two forms that set another. */
import * as Fault from "../../Fault.ts"
import type { FaultState } from "../session/sessionFaults.ts"
import { Form, Panel, typed } from "./components.tsx"
import { FaultForm } from "./faultForm.tsx"
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
      <p class="empty">No faults set. Choose one below; it applies to the requests of this session.</p> :
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

const FaultText = ({ invalid, path }: { readonly path: string; readonly invalid: InvalidForm | undefined }) => {
  const id = "fault-text"
  const problems = invalid?.problems ?? []
  return (
    <Form
      action={`${path}/faults/text`}
      panel="faults"
      class="fields"
      label="Set a fault by text"
      id="fault-text-form"
      resets="fault-text-form"
    >
      <div class="field text">
        <label for={id}>Or as text, with all parameters</label>
        <input
          id={id}
          name="text"
          class="mono"
          autocomplete="off"
          spellcheck={false}
          placeholder="aml:latency=2 seconds:every=3"
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
          <code>on:what[=value][:when[=value]]</code>, or JSON such as{" "}
          <code>{"{\"on\":\"aml\",\"what\":{\"kind\":\"drip\",\"every\":50}}"}</code>
        </p>
      </div>
      <button type="submit">Set</button>
    </Form>
  )
}

export interface FaultForms {
  /** The form with fields, if it was invalid. */
  readonly invalid?: InvalidForm
  /** The form with a text, if it was invalid. */
  readonly invalidText?: InvalidForm
}

export const FaultsPanel = (
  { faults, forms: { invalid, invalidText }, path }: {
    readonly path: string
    readonly faults: ReadonlyArray<FaultState>
    readonly forms: FaultForms
  }
) => (
  <Panel id="faults" title="Faults">
    <FaultList path={path} faults={faults} />
    <FaultForm path={path} invalid={invalid} />
    <FaultText path={path} invalid={invalidText} />
  </Panel>
)
