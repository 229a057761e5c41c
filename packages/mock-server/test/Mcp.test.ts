/** `idv-mock mcp` with the client of the official SDK. */
import { MockServer, Session } from "@effect-idv/mock-server"
import { Command, FetchHttpClient, type HttpClient } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Context, Effect, Layer } from "effect"
import { build } from "esbuild"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { main } from "../src/internal/command/main.ts"
import * as Plain from "./support/plain.ts"
import * as Program from "./support/program.ts"

/** Starts the command, and returns a function that calls a tool. */
const connect = (...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const program = yield* Program.idvMock
    const client = new Client({ name: "test", version: "1.0.0" })
    const transport = new StdioClientTransport({ command: process.execPath, args: [program, "mcp", ...args] })
    yield* Effect.acquireRelease(
      Effect.promise(() => client.connect(transport)),
      () => Effect.promise(() => client.close())
    )
    const call = (name: string, input: Record<string, unknown> = {}) =>
      Effect.map(Effect.promise(() => client.callTool({ name, arguments: input })), ({ content, isError }) => ({
        isError,
        text: Array.isArray(content) ? String(content[0]?.text) : ""
      }))
    const ok = (name: string, input?: Record<string, unknown>) =>
      Effect.map(call(name, input), ({ isError, text }) => {
        strictEqual(isError, false, text)
        return text
      })
    return { client, call, ok }
  })

/** Sends requests to a server at an address. */
const at = <A, E>(url: string, effect: Effect.Effect<A, E, MockServer.MockServer | HttpClient.HttpClient>) =>
  Effect.provide(
    effect,
    Layer.merge(
      FetchHttpClient.layer,
      Layer.succeed(MockServer.MockServer, {
        url,
        options: { authUrl: url, baseUrl: url, ...Session.testCustomer("test-agent") }
      })
    )
  )

describe("idv-mock mcp", () => {
  it.scopedLive(
    "starts a server, moves the clock, sets a fault, and explains why the last check failed",
    () =>
      Effect.gen(function*() {
        const { client, ok } = yield* connect()
        const { tools } = yield* Effect.promise(() => client.listTools())
        strictEqual(JSON.stringify(tools).length < 6000, true, `${JSON.stringify(tools).length} bytes`)
        for (const { annotations, name, outputSchema } of tools) {
          const hint = annotations?.readOnlyHint ?? annotations?.destructiveHint
          deepStrictEqual([name, typeof hint, outputSchema?.type], [name, "boolean", "object"])
        }
        const hinted = (hint: "readOnlyHint" | "destructiveHint") =>
          tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name)
        deepStrictEqual(hinted("readOnlyHint"), [
          "help",
          "explain_last_check",
          "sessions_list",
          "sessions_get",
          "faults_list",
          "test_persons_list",
          "journal_search",
          "journal_unmatched",
          "journal_verify"
        ])
        deepStrictEqual(hinted("destructiveHint"), [
          "sessions_reset",
          "sessions_remove",
          "faults_remove",
          "faults_clear"
        ])
        const customerId = "test-agent"
        yield* ok("sessions_create", { customerId })
        const { url } = JSON.parse(yield* ok("help"))
        const explained = ok("explain_last_check", { customerId })
        assertInclude(yield* explained, "test-agent has sent no check.")

        const token = yield* at(url, Plain.token(customerId))
        strictEqual(yield* at(url, Plain.checkStatus(token)), 200)
        assertInclude(yield* explained, "status 200, by the rule aml.answered")

        yield* ok("faults_set", { customerId, fault: { on: "aml", what: { kind: "status", status: 503 } } })
        strictEqual(yield* at(url, Plain.checkStatus(token)), 503)
        assertInclude(yield* explained, "Faults that fired: f1 (status).")
        assertInclude(yield* ok("faults_set", { customerId, fault: "token:hang=body:nth=2" }), "\"kind\":\"nth\"")
        yield* ok("faults_clear", { customerId })
        assertInclude(yield* ok("faults_list", { customerId }), "[]")

        const before = JSON.parse(yield* ok("clock_change", { customerId, frozen: true })).now
        const after = JSON.parse(yield* ok("clock_change", { customerId, advance: "61 minutes" })).now
        strictEqual(Date.parse(after) - Date.parse(before), 61 * 60_000)
        strictEqual(yield* at(url, Plain.checkStatus(token)), 401)
        assertInclude(yield* explained, "status 401, by the rule aml.token-expired. The token is expired")
      })
  )

  it.scopedLive(
    "uses a running server: profile, test persons, journal and verification, without a person",
    () =>
      Effect.gen(function*() {
        const services = yield* Layer.build(MockServer.layer({ port: 0 }))
        const { url } = Context.get(services, MockServer.MockServer)
        const { ok } = yield* connect("--url", url)
        const customerId = "test-running"
        strictEqual(JSON.parse(yield* ok("help")).url, url)
        const testPersons = [{ match: { nameLast: "Canary" }, response: "Potential match" }]
        const changed = yield* ok("sessions_change", { customerId, testPersons, profile: { amlStatus: "201" } })
        assertInclude(changed, "\"amlStatus\":\"201\"")
        const token = yield* at(url, Plain.token(customerId))
        const { status, text } = yield* at(url, Plain.check(token, "Zoë Canary"))
        deepStrictEqual([status, text.includes("Potential match")], [201, true])
        const pattern = { name: "Zoë Canary", dateOfBirth: "1940-02-01" }
        const shown = [
          yield* ok("journal_verify", { customerId, expectation: { kind: "exactly", n: 1, pattern } }),
          yield* ok("journal_search", { customerId, operation: "aml" }),
          yield* ok("test_persons_list", { customerId }),
          yield* ok("explain_last_check", { customerId })
        ].join("\n")
        assertInclude(shown, "testPersons[0], matched by nameLast")
        strictEqual(/canary|1940|02-01/i.test(shown), false, shown)
        strictEqual((yield* at(url, Plain.tokenRequest("nobody", "x"))).status, 401)
        assertInclude(yield* ok("explain_last_check"), "Requests that belong to no session: 1.")
        assertInclude(
          yield* ok("explain_last_check", { customerId: "nobody" }),
          "There is no session of nobody: create it, or"
        )
      })
  )

  it.scopedLive("answers wrong arguments of its own with one sentence that names the argument", () =>
    Effect.gen(function*() {
      const { call, ok } = yield* connect()
      const cases: ReadonlyArray<readonly [string, Record<string, unknown>, string]> = [
        [
          "faults_set",
          { customerId: "test-wrong", fualt: "canary" },
          "faults_set: fualt is unexpected: expected one of"
        ],
        [
          "faults_set",
          { fault: 7 },
          "faults_set: the value is invalid: expected a fault such as aml:hang, or an object"
        ],
        ["explain_last_check", { customerId: "can ary" }, "explain_last_check: customerId is invalid"],
        ["sessions_get", { customerId: "can ary" }, "sessions_get: customerId is invalid"],
        ["sessions_get", { canary: 1 }, "sessions_get: "],
        ["help", { topic: "canary" }, "help: topic is invalid: expected one of faults, profile"],
        ["canary", {}, "There is no such tool: expected one of help, explain_last_check"]
      ]
      for (const [name, input, expected] of cases) {
        const { isError, text } = yield* call(name, input)
        deepStrictEqual([isError, text.startsWith(expected), text.split("\n").length], [true, true, 1], text)
      }
      for (const topic of ["faults", "profile", "testPersons", "expectation"]) {
        strictEqual((yield* ok("help", { topic })).length > 200, true)
      }
    }))

  it.scopedLive("responds to arguments that are not an object with one sentence", () =>
    Effect.gen(function*() {
      const program = yield* Program.idvMock
      const request = (id: number, params: unknown) =>
        JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }) + "\n"
      const lines = yield* Command.make(process.execPath, program, "mcp").pipe(
        Command.feed([
          request(1, { name: "clock_change", arguments: "canary" }),
          request(2, { name: "clock_change", arguments: ["canary"] }),
          request(3, { name: 7, arguments: {} }),
          request(4, { name: "sessions_get" })
        ].join("")),
        Command.lines
      )
      const texts = lines.map((line) => JSON.parse(line).result.content[0].text).map(String)
      const expected = "clock_change: arguments is invalid: expected an object"
      deepStrictEqual(texts.slice(0, 2), [expected, expected])
      assertInclude(texts[2], "There is no such tool: expected one of help, explain_last_check")
      assertInclude(texts[3], "\"frozen\":false")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live("ends with one sentence if the server of --url cannot be reached", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(
        Effect.map(Layer.build(MockServer.layer({ port: 0 })), Context.get(MockServer.MockServer))
      )
      const error = yield* Effect.flip(
        main(["mcp", "--url", url], { stdout: new PassThrough(), version: "0" })
      )
      strictEqual(
        error instanceof Error ? error.message : "",
        `The control API at ${url} cannot be reached: check that the mock server runs there`
      )
    }))

  it.live("is not loaded by any other command", () =>
    Effect.gen(function*() {
      const entry = fileURLToPath(new URL("../src/bin.ts", import.meta.url))
      const serve = fileURLToPath(new URL("../src/internal/command/serve.ts", import.meta.url))
      const { metafile } = yield* Effect.promise(() =>
        build({
          entryPoints: [entry, serve],
          bundle: true,
          splitting: true,
          platform: "node",
          format: "esm",
          outdir: "out",
          write: false,
          metafile: true,
          logLevel: "error"
        })
      )
      const loaded = new Set<string>()
      const load = (output: string): void => {
        if (loaded.has(output)) return
        loaded.add(output)
        for (const { kind, path } of metafile.outputs[output]?.imports ?? []) {
          if (kind === "import-statement") load(path)
        }
      }
      for (const [output, { entryPoint = "" }] of Object.entries(metafile.outputs)) {
        if (/(bin|serve)\.ts$/.test(entryPoint)) load(output)
      }
      const inputs = [...loaded].flatMap((output) => Object.keys(metafile.outputs[output]?.inputs ?? {}))
      strictEqual(inputs.some((path) => path.endsWith("command/serve.ts")), true)
      deepStrictEqual(inputs.filter((path) => /modelcontextprotocol|selfsigned|\/zod\//.test(path)), [])
    }))
})
