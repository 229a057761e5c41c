/**
 * Tests each foreign client with `idv-mock test-client`, and prints its bugs beside the findings:
 * `pnpm foreign-clients [ID ...]`. A person judges whether a finding describes a bug.
 */
import { Command, FileSystem, HttpClient } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { fileURLToPath } from "node:url"
import { freePort } from "../test-services/freePort.ts"

const home = fileURLToPath(new URL(".", import.meta.url))

const Common = {
  id: Schema.String,
  language: Schema.String,
  start: Schema.Tuple([Schema.String], Schema.String),
  clear: Schema.String,
  review: Schema.String,
  bugs: Schema.Array(Schema.String)
}
const Process = Schema.Struct({ ...Common, kind: Schema.Literal("command") })
const Backend = Schema.Struct({
  ...Common,
  kind: Schema.Literal("backend"),
  ready_url: Schema.String,
  url: Schema.String,
  body: Schema.Unknown
})
const Clients = Schema.parseJson(Schema.Struct({ clients: Schema.Array(Schema.Union(Process, Backend)) }))

const Report = Schema.parseJson(Schema.Struct({
  findings: Schema.Array(
    Schema.Struct({ verdict: Schema.String, text: Schema.String, days: Schema.Array(Schema.String) })
  )
}))

const textOf = <E, R>(stream: Stream.Stream<Uint8Array, E, R>) => Stream.mkString(Stream.decodeText(stream))

/** The exit code of `idv-mock test-client`, and the report, or why there is none. */
const testClient = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const idvMock = ["--import", "tsx/esm", "packages/mock-server/src/bin.ts", "test-client", "--format", "json"]
    const process = yield* Command.start(
      Command.workingDirectory(
        Command.make("node", ...idvMock, ...args),
        fileURLToPath(new URL("../..", import.meta.url))
      )
    )
    const [report, failure] = yield* Effect.all([textOf(process.stdout), textOf(process.stderr)], { concurrency: 2 })
    return { exitCode: yield* process.exitCode, report, failure }
  })

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

const testProcess = ({ clear, review, start }: typeof Process.Type) =>
  testClient(
    ...["--env", "IDV_API_KEY={customer_key}", "--clear", clear, "--review", review],
    ...["--command", ["sh", "-c", `cd ${home} && exec "$@"`, "sh", ...start].map(quoted).join(" ")]
  )

/** The recorded patterns are for the status, a blank and the body; those of `--url` are for the body. */
const ofBody = (pattern: string) => pattern.replace(/^\^\d+ /, "^")

const testBackend = (
  { body, clear, ready_url: readyUrl, review, start: [program, ...words], url }: typeof Backend.Type
) =>
  Effect.gen(function*() {
    const [port, mockPort] = [yield* freePort, yield* freePort]
    const at = (address: string) => address.replace("{port}", String(port))
    yield* Command.make(program, ...words).pipe(
      Command.workingDirectory(home),
      Command.env({
        PORT: String(port),
        IDV_BASE_URL: `http://127.0.0.1:${mockPort}`,
        IDV_CUSTOMER_ID: "demo-customer",
        IDV_API_KEY: "demo-key"
      }),
      Command.start
    )
    yield* Effect.retry(HttpClient.get(at(readyUrl)), Schedule.spaced("100 millis"))
    return yield* testClient(
      ...["--url", at(url), "--port", String(mockPort), "--customer", "demo-customer:demo-key"],
      ...["--body", JSON.stringify(body), "--clear", ofBody(clear), "--review", ofBody(review)]
    )
  })

const test = (client: typeof Process.Type | typeof Backend.Type) =>
  Effect.gen(function*() {
    const [duration, { exitCode, failure, report }] = yield* Effect.timed(
      client.kind === "command" ? testProcess(client) : testBackend(client)
    )
    const { bugs, id, language } = client
    const findings = yield* Effect.match(Schema.decode(Report)(report), {
      onFailure: () => [report + failure],
      onSuccess: ({ findings }) =>
        findings.map(({ days, text, verdict }) => `${verdict.padEnd(7)}  ${text} (${days.join(", ")})`)
    })
    yield* Console.log([
      `\n== ${id} (${language}), ${Duration.toSeconds(duration).toFixed(0)} s, exit code ${exitCode}`,
      ...bugs.map((bug) => `bug      ${bug}`),
      ...bugs.length === 0 ? ["no bugs"] : [],
      ...findings
    ].join("\n"))
  }).pipe(Effect.scoped)

const main = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const { clients } = yield* Effect.flatMap(files.readFileString(`${home}clients.json`), Schema.decode(Clients))
  const wanted = process.argv.slice(2)
  yield* Effect.forEach(clients.filter(({ id }) => wanted.length === 0 || wanted.includes(id)), test)
})

NodeRuntime.runMain(Effect.provide(main, Layer.merge(NodeContext.layer, NodeHttpClient.layerUndici)))
