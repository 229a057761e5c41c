/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** How to use the server: its addresses, the credentials of the session, and commands to copy. */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Commands from "./commands.ts"
import { Copy } from "./components.tsx"
import type { State } from "./pageModel.ts"

const Command = ({ id, text, title }: { readonly id: string; readonly title: string; readonly text: string }) => (
  <figure class="wire command">
    <figcaption>
      {title} <Copy text={text} name={title} />
    </figcaption>
    <pre id={id} tabIndex={0} role="region" aria-label={title}>{text}</pre>
  </figure>
)

/** Open until the first request. Updated live, because the first command depends on the profile. */
export const StartPanel = (
  { options: { profile }, page: { origin, session: customer }, total }: State
) => (
  <details id="start" open={total === 0}>
    <summary>
      <h2 id="start-title">Use this server</h2> <span class="mono">{origin}{IdvApi.token.path}</span>{" "}
      <span class="mono">{origin}{IdvApi.aml.path}</span>
    </summary>
    <div class="start">
      <dl class="facts">
        <dt>Customer</dt>
        <dd class="mono">{customer.customerId}</dd>
        <dt>Key</dt>
        <dd>
          {Commands.publicKey(customer) === undefined
            ? "the key that you set. This page does not show it"
            : <span class="mono">{Commands.publicKey(customer)}</span>}
        </dd>
      </dl>
      <Command
        id="curl"
        title="Request a token and check a person"
        text={Commands.curl(origin, customer, profile)}
      />
      <Command
        id="environment"
        title="Environment of an app that uses Idv.layerEnv"
        text={Commands.environment(origin, customer)}
      />
      {origin.startsWith("https:") && (
        <p class="hint">
          If curl does not trust the certificate, add <code>--cacert</code> and the file of <code>--tls-ca</code>.
        </p>
      )}
    </div>
  </details>
)
