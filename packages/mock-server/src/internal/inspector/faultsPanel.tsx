/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The faults of a session: those that are set, and two ways to set another. */
import * as Schema from "effect/Schema"
import * as Fault from "../../Fault.ts"
import type { Armed } from "../session/faultBoard.ts"
import { errorAttributes, FieldError, Form, Panel, typed } from "./components.tsx"
import { type Refusal, whens } from "./forms.ts"

const encode = Schema.encodeSync(Fault.Fault)

/** Its parameters, without its kind. */
const parameters = (part: { readonly kind: string }): string =>
  Object.entries(part).filter(([name]) => name !== "kind").map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ")

const SetFault = ({ armed: { fault, fired, id, seen }, path }: { readonly path: string; readonly armed: Armed }) => {
  const { on, ttl, what, when } = encode(fault)
  const condition = when ?? { kind: "always" }
  return (
    <tr>
      <th scope="row" class="mono">{id}</th>
      <td>{on}</td>
      <td>
        <span class="mono">{what.kind}</span> <span class="muted">{parameters(what)}</span>
      </td>
      <td class="when">
        {condition.kind} <span class="muted">{parameters(condition)}</span>
        {ttl !== undefined && <span class="muted">for {ttl} ms</span>}
      </td>
      <td class="count">{fired} of {seen}</td>
      <td class="action">
        <Form action={`${path}/faults/remove`} panel="faults">
          <input type="hidden" name="id" value={id} />
          <button type="submit" class="small" aria-label={`Remove the fault ${id}`}>Remove</button>
        </Form>
      </td>
    </tr>
  )
}

/** Live: it changes with every request that a fault watches. */
export const FaultList = ({ faults, path }: { readonly path: string; readonly faults: ReadonlyArray<Armed> }) => (
  <div id="fault-list">
    {faults.length === 0 ? <p class="empty">None is set: every answer is as it should be.</p> : (
      <table>
        <caption class="hidden">The faults that are set</caption>
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

const conditions: Record<typeof whens[number], string> = {
  always: "always",
  nth: "at request n",
  first: "at the first n",
  every: "at every nth"
}

const Choice = (
  { field, label, options, refusal, value }: {
    readonly field: string
    readonly label: string
    readonly value: string
    readonly options: ReadonlyArray<readonly [value: string, text: string]>
    readonly refusal: Refusal | undefined
  }
) => {
  const id = `fault-${field}`
  return (
    <div class={`field ${field}`}>
      <label for={id}>{label}</label>
      <select id={id} name={field} {...errorAttributes(id, field, refusal)}>
        {options.map(([option, text]) => <option value={option} selected={option === value} key={option}>{text}
        </option>)}
      </select>
      <FieldError id={id} field={field} refusal={refusal} />
    </div>
  )
}

const FaultForm = ({ path, refusal }: { readonly path: string; readonly refusal: Refusal | undefined }) => {
  const { n = "1", on = "aml", what = "status", when = "always" } = typed(refusal)
  return (
    <Form action={`${path}/faults`} panel="faults" class="fields" label="Set a fault" resets>
      <Choice
        field="what"
        label="What"
        value={what}
        options={Fault.kinds.map(({ description, kind }) => [kind, `${kind}: ${description}`])}
        refusal={refusal}
      />
      <Choice
        field="on"
        label="On"
        value={on}
        options={["aml", "token", "both"].map((on) => [on, on])}
        refusal={refusal}
      />
      <Choice
        field="when"
        label="When"
        value={when}
        options={whens.map((when) => [when, conditions[when]])}
        refusal={refusal}
      />
      <div class="field n">
        <label for="fault-n">n</label>
        <input
          id="fault-n"
          name="n"
          inputMode="numeric"
          autocomplete="off"
          value={n}
          {...errorAttributes("fault-n", "n", refusal)}
        />
        <FieldError id="fault-n" field="n" refusal={refusal} />
      </div>
      <button type="submit" class="primary">Set the fault</button>
    </Form>
  )
}

const FaultText = ({ path, refusal }: { readonly path: string; readonly refusal: Refusal | undefined }) => {
  const id = "fault-text"
  const violations = refusal?.violations ?? []
  return (
    <Form action={`${path}/faults/text`} panel="faults" class="fields" label="Set a fault by text" resets>
      <div class="field text">
        <label for={id}>Or as text, with every parameter</label>
        <input
          id={id}
          name="text"
          class="mono"
          autocomplete="off"
          spellcheck={false}
          placeholder="aml:latency=2 seconds:every=3"
          value={typed(refusal)["text"] ?? ""}
          aria-invalid={violations.length > 0 ? true : undefined}
          aria-describedby={violations.length > 0 ? `${id}-error ${id}-hint` : `${id}-hint`}
        />
        {violations.length > 0 && (
          <ul class="error" id={`${id}-error`}>
            {violations.map((violation) => <li key={violation.path}>{String(violation)}</li>)}
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

/** - `refusal`, `textRefusal`: of either form, after it was sent. */
export interface FaultForms {
  readonly refusal?: Refusal
  readonly textRefusal?: Refusal
}

export const FaultsPanel = (
  { faults, forms: { refusal, textRefusal }, path }: {
    readonly path: string
    readonly faults: ReadonlyArray<Armed>
    readonly forms: FaultForms
  }
) => (
  <Panel id="faults" title="Faults" note={<span class="muted">fired, of the requests that were watched</span>}>
    <FaultList path={path} faults={faults} />
    <FaultForm path={path} refusal={refusal} />
    <FaultText path={path} refusal={textRefusal} />
  </Panel>
)
