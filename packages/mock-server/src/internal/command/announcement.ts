/** What `serve` prints when the server listens: a JSON line for programs, or a text for people on a terminal. */
import * as Text from "@effect-idv/cli/textField"
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Redacted from "effect/Redacted"
import type * as MockServer from "../../MockServer.ts"
import * as Session from "../../Session.ts"
import type { Settings } from "./settings.ts"
import type { Tls } from "./tlsFiles.ts"

export const portOf = ({ url }: MockServer.Service): number =>
  Number(new URL(url).port || (url.startsWith("https:") ? 443 : 80))

/** The JSON line that tells other programs that the server is ready. */
export const jsonLine = (server: MockServer.Service, { host = "127.0.0.1", seed }: Settings, { ca }: Tls): string => {
  const { authUrl, baseUrl, customerId } = server.options
  return JSON.stringify({
    event: "listening",
    host,
    port: portOf(server),
    authUrl,
    baseUrl,
    customerId,
    controlUrl: `${server.url}/_mock`,
    ...(seed !== undefined && { seed }),
    ...(ca !== undefined && { ca: ca.path })
  })
}

/** A path as one word of a shell. */
const quoted = (path: string) => `'${Text.printable(path).replaceAll("'", "'\\''")}'`

/** The addresses, the key, the page, and a command to copy. It does not repeat a key or a token that the user set. */
export const text = ({ url }: MockServer.Service, { controlToken, customers = [] }: Settings, { ca }: Tls): string => {
  const { customerId, customerKey } = Session.demoCustomer
  const hasDemoKey = customers.every((customer) => customer.customerId !== customerId)
  const key = Redacted.value(customerKey)
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["token endpoint", `POST ${url}${IdvApi.token.path}`],
    ["AML check", `POST ${url}${IdvApi.aml.path}`],
    ["customer", `${customerId}, with ${hasDemoKey ? `the key ${key}` : "the key that you set"}`],
    ["page", `${url}/_mock/ui${controlToken ? ", with the control token as the password of any user" : ""}`],
    ...(ca === undefined ? [] : [["CA", `set NODE_EXTRA_CA_CERTS to ${Text.printable(ca.path)}`] as const])
  ]
  // Without a key, curl asks for it.
  const curl = `curl${ca === undefined ? "" : ` --cacert ${quoted(ca.path)}`} -u ${customerId}${
    hasDemoKey ? `:${key}` : ""
  } -d grant_type=client_credentials ${url}${IdvApi.token.path}`
  return [
    `The mock server listens on ${url}. Ctrl-C stops it.`,
    "",
    ...rows.map(([name, value]) => `  ${name.padEnd(16)}${value}`),
    "",
    "This command gets a token:",
    "",
    `  ${curl}`,
    ""
  ].join("\n")
}
