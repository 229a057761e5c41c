/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that runs a check, the form that sends a request of the user, and the result of the last one. */
import * as Option from "effect/Option"
import * as TestPerson from "../../TestPerson.ts"
import { Badge, errorAttributes, FieldError, Form, Panel, Status, typed, Wire } from "./components.tsx"
import type { Fields, InvalidForm } from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"
import type { Step } from "./recordedExchange.ts"
import type { Check } from "./runCheck.ts"
import { nameOf } from "./testPersonsPanel.tsx"

const OwnRequestForm = (
  { invalid, path, text }: {
    readonly path: string
    /** The contents of the field. */
    readonly text: string
    readonly invalid: InvalidForm | undefined
  }
) => (
  <>
    <Form
      action={`${path}/check/example`}
      panel="check"
      class="examples"
      label="Examples of requests"
      resets="own-request-form"
    >
      <h3>Send a request of your own</h3>
      <p class="hint">
        Start from an example, and change what you like. The server receives the request as it is here.
      </p>
      <div class="buttons">
        {OwnRequest.examples.map(({ name }) => (
          <button type="submit" class="small" name="example" value={name} key={name}>{name}</button>
        ))}
      </div>
    </Form>
    <Form
      action={`${path}/check/request`}
      panel="check"
      class="fields own-request"
      id="own-request-form"
      label="Send a request of your own"
    >
      <div class="field">
        <label for="own-request">Request</label>
        <textarea
          id="own-request"
          name="request"
          class="mono"
          rows={7}
          autocomplete="off"
          spellcheck={false}
          {...errorAttributes("own-request", "request", invalid)}
        >
          {text}
        </textarea>
        <FieldError id="own-request" field="request" invalid={invalid} />
        <p class="hint">
          The server replaces {OwnRequest.placeholderNames.map((name, index) => (
            <>
              {index === 0 ? "" : ", "}
              <code>{name}</code>
            </>
          ))} in headers.
        </p>
      </div>
      <button type="submit" class="primary">Send</button>
    </Form>
  </>
)

/** The state of the forms: what the user typed, and either a result or the problems. */
export interface CheckForm {
  readonly fields?: Fields
  readonly check?: Check
  readonly invalid?: InvalidForm
  /** The result of the user's own request. */
  readonly ownRequest?: Step
}

const StepResult = ({ step: { end, entry, request, response, title } }: { readonly step: Step }) => (
  <section class="step">
    <h4>{title}</h4>
    {Option.isSome(entry) && (
      <p>
        <Status status={entry.value.response.status} /> {entry.value.why}{" "}
        <span class="mono muted">{entry.value.rule}</span>
      </p>
    )}
    <Wire label={`${title}: request`} text={request} />
    {response !== "" && <Wire label={`${title}: response`} text={response} />}
    {Option.isSome(end) && <p class="end">{end.value}.</p>}
  </section>
)

const headings = { potential: "Potential match", doubtful: "Doubtful no match", clear: "No match", none: "No result" }

const Result = ({ check: { steps, verdict } }: { readonly check: Check }) => (
  <>
    <div class={`verdict ${verdict.outcome}`}>
      <h3>{headings[verdict.outcome]}</h3>
      <p>
        {verdict.outcome === "none" ? verdict.text : (
          <>
            The result is <Badge kind={verdict.outcome}>{verdict.text}</Badge>
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
  { customerId, form: { check, fields, invalid, ownRequest }, path }: {
    readonly path: string
    readonly customerId: string
    readonly form: CheckForm
  }
) => {
  const { dateOfBirth = "1990-02-01", name = "Ada Testclear", request = OwnRequest.first.text } = fields ??
    typed(invalid)
  return (
    <Panel id="check" title="Check" note={<span class="muted">the client checks a person as {customerId}</span>}>
      <Form action={`${path}/check`} panel="check" class="fields" label="Run a check">
        <div class="field name">
          <label for="check-name">Full name</label>
          <input
            id="check-name"
            name="name"
            list="test-person-names"
            autocomplete="off"
            spellcheck={false}
            value={name}
            {...errorAttributes("check-name", "name", invalid)}
          />
          <datalist id="test-person-names">
            {TestPerson.reserved.map((person) => <option value={nameOf(person)} key={person.lastWord} />)}
          </datalist>
          <FieldError id="check-name" field="name" invalid={invalid} />
        </div>
        <div class="field born">
          <label for="check-born">Date of birth, yyyy-mm-dd</label>
          <input
            id="check-born"
            name="dateOfBirth"
            class="mono"
            autocomplete="off"
            value={dateOfBirth}
            {...errorAttributes("check-born", "dateOfBirth", invalid)}
          />
          <FieldError id="check-born" field="dateOfBirth" invalid={invalid} />
        </div>
        <button type="submit" class="primary">Run the check</button>
      </Form>
      {check !== undefined && (
        <div id="check-result" class="result">
          <Result check={check} />
        </div>
      )}
      <OwnRequestForm path={path} text={request} invalid={invalid} />
      {ownRequest !== undefined && (
        <div id="request-result" class="result">
          <StepResult step={ownRequest} />
        </div>
      )}
    </Panel>
  )
}
