/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** A form that runs a check, and what came of it. */
import * as Option from "effect/Option"
import * as TestPerson from "../../TestPerson.ts"
import type { Check, Step } from "./checkRun.ts"
import { Badge, errorAttributes, FieldError, Form, Panel, typed, Wire } from "./components.tsx"
import type { Refusal } from "./forms.ts"
import { nameOf } from "./testPersonsPanel.tsx"

/** - `check`: what came of it. `refusal`: what was wrong with it. `fields`: what was typed. */
export interface CheckForm {
  readonly fields?: Readonly<Record<string, string>>
  readonly check?: Check
  readonly refusal?: Refusal
}

const StepResult = ({ step: { end, entry, request, response, title } }: { readonly step: Step }) => (
  <section class="step">
    <h4>{title}</h4>
    {Option.isSome(entry) && (
      <p>
        <span class="mono">{entry.value.rule}</span> <span class="muted">{entry.value.why}</span>
      </p>
    )}
    <Wire label={`${title}: request`} text={request} />
    {response !== "" && <Wire label={`${title}: answer`} text={response} />}
    {Option.isSome(end) && <p class="end">{end.value}.</p>}
  </section>
)

const headings = { potential: "Potential match", clear: "No match", none: "No result" }

const Result = ({ check: { steps, verdict } }: { readonly check: Check }) => (
  <>
    <div class={`verdict ${verdict.outcome}`}>
      <h3>{headings[verdict.outcome]}</h3>
      <p>
        {verdict.outcome === "none" ? verdict.text : (
          <>
            match_found is <Badge kind={verdict.outcome}>{verdict.text}</Badge>
          </>
        )}
        {Option.isSome(verdict.profile) && (
          <>
            {" "}
            <a href={verdict.profile.value} target="_blank" rel="noopener">Open the AML profile</a>
          </>
        )}
      </p>
    </div>
    {steps.map((step) => <StepResult step={step} key={step.title} />)}
  </>
)

export const CheckPanel = (
  { customerId, form: { check, fields, refusal }, path }: {
    readonly path: string
    readonly customerId: string
    readonly form: CheckForm
  }
) => {
  const { dateOfBirth = "1990-02-01", name = "Ada Testclear" } = fields ?? typed(refusal)
  return (
    <Panel id="check" title="Check" note={<span class="muted">a real one, as {customerId}</span>}>
      <Form action={`${path}/check`} panel="check" class="fields" label="Run a check">
        <div class="field name">
          <label for="check-name">Full name</label>
          <input
            id="check-name"
            name="name"
            list="subject-names"
            autocomplete="off"
            spellcheck={false}
            value={name}
            {...errorAttributes("check-name", "name", refusal)}
          />
          <datalist id="subject-names">
            {TestPerson.reserved.map((subject) => <option value={nameOf(subject)} key={subject.lastWord} />)}
          </datalist>
          <FieldError id="check-name" field="name" refusal={refusal} />
        </div>
        <div class="field born">
          <label for="check-born">Date of birth, yyyy-mm-dd</label>
          <input
            id="check-born"
            name="dateOfBirth"
            class="mono"
            autocomplete="off"
            value={dateOfBirth}
            {...errorAttributes("check-born", "dateOfBirth", refusal)}
          />
          <FieldError id="check-born" field="dateOfBirth" refusal={refusal} />
        </div>
        <button type="submit" class="primary">Run the check</button>
      </Form>
      {check !== undefined && (
        <div id="check-result">
          <Result check={check} />
        </div>
      )}
    </Panel>
  )
}
