/** `idv-mock serve`: runs a server until it is interrupted. */
import type { ParsedArguments } from "@effect-idv/cli/parsedArguments"
import * as Text from "@effect-idv/cli/textField"
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Writable } from "node:stream"
import * as MockServer from "../../MockServer.ts"
import * as Session from "../../Session.ts"
import * as EntryLine from "./entryLine.ts"
import * as Output from "./output.ts"
import * as PortFile from "./portFile.ts"
import * as Settings from "./settings.ts"
import * as TlsFiles from "./tlsFiles.ts"

const portOf = ({ url }: MockServer.Service): number =>
  Number(new URL(url).port || (url.startsWith("https:") ? 443 : 80))

/** The JSON line that tells other programs that the server is ready. */
const jsonLine = (
  server: MockServer.Service,
  { host = "127.0.0.1", seed }: Settings.Settings,
  { ca }: TlsFiles.Tls
): string => {
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
const announcement = (
  { url }: MockServer.Service,
  { controlToken, customers = [] }: Settings.Settings,
  { ca }: TlsFiles.Tls
): string => {
  const { customerId, customerKey } = Session.demoCustomer
  const hasDemoKey = customers.every((customer) => customer.customerId !== customerId)
  const key = Redacted.value(customerKey)
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["token endpoint", `POST ${url}${AccessToken.path}`],
    ["AML check", `POST ${url}${AmlCredential.path}`],
    ["customer", `${customerId}, with ${hasDemoKey ? `the key ${key}` : "the key that you set"}`],
    ["page", `${url}/_mock/ui${controlToken ? ", with the control token as the password of any user" : ""}`],
    ...(ca === undefined ? [] : [["CA", `set NODE_EXTRA_CA_CERTS to ${Text.printable(ca.path)}`] as const])
  ]
  // Without a key, curl asks for it.
  const curl = `curl${ca === undefined ? "" : ` --cacert ${quoted(ca.path)}`} -u ${customerId}${
    hasDemoKey ? `:${key}` : ""
  } -d grant_type=client_credentials ${url}${AccessToken.path}`
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

const isColorAllowed = Config.nonEmptyString("NO_COLOR").pipe(
  Config.option,
  Effect.orElseSucceed(Option.none),
  Effect.map(Option.isNone)
)

export interface Stdout extends Writable {
  readonly isTTY?: boolean
}

export const serve = (args: ParsedArguments, stdout: Stdout) =>
  Effect.gen(function*() {
    const settings = yield* Settings.read(args)
    const { log = "none", portFile } = settings
    const tls = yield* TlsFiles.keyPair(settings)
    if (portFile !== undefined) yield* PortFile.remove(portFile)
    const line = log === "json" ? EntryLine.json : EntryLine.pretty(stdout.isTTY === true && (yield* isColorAllowed))
    const output = yield* Output.make(stdout)
    const announce = Effect.flatMap(MockServer.MockServer, (server) =>
      Effect.gen(function*() {
        yield* TlsFiles.writeCa(tls)
        if (portFile !== undefined) yield* PortFile.write(portFile, portOf(server))
        output.begin(
          stdout.isTTY === true && log !== "json"
            ? announcement(server, settings, tls)
            : jsonLine(server, settings, tls)
        )
      }))
    yield* Layer.scopedDiscard(announce).pipe(
      Layer.provide(MockServer.layer({
        ...Settings.options(settings),
        ...(tls.keyPair && { tls: tls.keyPair }),
        ...(log !== "none" && { onExchange: (entry) => Effect.sync(() => output.print(line(entry))) })
      })),
      Layer.launch
    )
  }).pipe(Effect.scoped)
