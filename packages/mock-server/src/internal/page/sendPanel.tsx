/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that sends a request of the user, and the exchange that it caused. */
import type * as Journal from "../../Journal.ts"
import { errorAttributes, FieldError, Form, Panel, typed } from "./components.tsx"
import { Exchange } from "./exchangeRow.tsx"
import type { Fields, InvalidForm } from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"
import type { Page } from "./pageModel.ts"

/** The state of the form: what the user typed, and either the exchange or the problems. */
export interface SendForm {
  readonly fields?: Fields
  readonly entry?: Journal.Entry
  readonly invalid?: InvalidForm
}

export const SendPanel = (
  { form: { entry, fields, invalid }, page }: { readonly page: Page; readonly form: SendForm }
) => {
  const { request = OwnRequest.first.text } = fields ?? typed(invalid)
  return (
    <Panel
      id="send"
      title="Send"
      note={<span class="muted">the server receives the request as it is here</span>}
    >
      <Form
        action={`${page.path}/send/example`}
        panel="send"
        class="examples"
        label="Examples of requests"
        resets="send-form"
      >
        <p class="hint">Start from an example, and change what you like.</p>
        <div class="buttons">
          {OwnRequest.examples.map(({ name }) => (
            <button type="submit" class="small" name="example" value={name} key={name}>{name}</button>
          ))}
        </div>
      </Form>
      <Form action={`${page.path}/send`} panel="send" class="fields own-request" id="send-form" label="Send a request">
        <div class="field">
          <label for="own-request">Request</label>
          <textarea
            id="own-request"
            name="request"
            class="mono"
            rows={8}
            autocomplete="off"
            spellcheck={false}
            {...errorAttributes("own-request", "request", invalid)}
          >
            {request}
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
      {entry !== undefined && (
        <div id="sent" class="result">
          <Exchange entry={entry} page={page} />
        </div>
      )}
    </Panel>
  )
}
