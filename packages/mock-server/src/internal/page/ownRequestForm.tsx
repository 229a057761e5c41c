/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that sends a request as the user wrote it. */
import { errorAttributes, FieldError, Form } from "./components.tsx"
import type { InvalidForm } from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"

export const OwnRequestForm = (
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
