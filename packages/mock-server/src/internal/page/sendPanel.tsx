/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The form that sends a request of the user, and the exchange that it caused. */
import { Form, Panel, TextField } from "./components.tsx"
import { Exchange } from "./exchangeRow.tsx"
import type { SentForm } from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"
import type { State } from "./pageModel.ts"

export const SendPanel = (
  { page, sent }: Pick<State, "page"> & { readonly sent?: SentForm | undefined }
) => (
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
      <TextField
        id="own-request"
        name="request"
        label="Request"
        mono
        rows={8}
        value={OwnRequest.first.text}
        sent={sent}
        hint={
          <>
            The server replaces {OwnRequest.placeholderNames.map((name, index) => (
              <>
                {index === 0 ? "" : ", "}
                <code>{name}</code>
              </>
            ))} in headers.
          </>
        }
      />
      <button type="submit" class="primary">Send</button>
    </Form>
    {sent?.entry !== undefined && (
      <div id="sent" class="result">
        <Exchange entry={sent.entry} page={page} />
      </div>
    )}
  </Panel>
)
