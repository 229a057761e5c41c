/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The faults of a session, and two forms that set another. */
import * as Fault from "../../Fault.ts"
import type { FaultState } from "../session/sessionFaults.ts"
import { Form, Panel, Table, TextField } from "./components.tsx"
import { FaultForm } from "./faultForm.tsx"
import type { SentForm } from "./forms.ts"
import type { State } from "./pageModel.ts"

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
export const FaultList = ({ faults, page: { path } }: State) => (
  <div id="fault-list">
    {faults.length === 0 ?
      <p class="empty">No faults set. Choose one below; it applies to the requests of this session.</p> :
      (
        <Table
          kind="faults"
          caption="The faults of the session"
          isCaptionHidden
          columns={["Id", "On", "What", "When", "Fired", "Action"]}
        >
          {faults.map((armed) => <SetFault path={path} armed={armed} key={armed.id} />)}
        </Table>
      )}
  </div>
)

const FaultText = ({ path, sent }: { readonly path: string; readonly sent: SentForm | undefined }) => (
  <Form
    action={`${path}/faults/text`}
    panel="faults"
    class="fields"
    label="Set a fault by text"
    id="fault-text-form"
    resets="fault-text-form"
  >
    <TextField
      id="fault-text"
      name="text"
      label="Or as text, with all parameters"
      kind="text"
      mono
      placeholder="aml:latency=2 seconds:every=3"
      value=""
      sent={sent}
      hint={
        <>
          <code>on:what[=value][:when[=value]]</code>, or JSON such as{" "}
          <code>{"{\"on\":\"aml\",\"what\":{\"kind\":\"drip\",\"every\":50}}"}</code>
        </>
      }
    />
    <button type="submit">Set</button>
  </Form>
)

export const FaultsPanel = ({ sent, ...state }: State & { readonly sent?: SentForm | undefined }) => (
  <Panel id="faults" title="Faults">
    <FaultList {...state} />
    <FaultForm path={state.page.path} sent={sent} />
    <FaultText path={state.page.path} sent={sent} />
  </Panel>
)
