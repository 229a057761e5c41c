import { Conformance, Contract } from "@effect-idv/contract"
import { Control, MockServer, Profile } from "@effect-idv/mock-server"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Context, Deferred, Effect, Either, Layer, Predicate, Redacted, Schema, Stream } from "effect"
import { XMLValidator } from "fast-xml-parser"
import { createServer, type RequestListener } from "node:http"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/command/main.ts"
import { captured } from "./support/captured.ts"
import * as Program from "./support/program.ts"

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const start = (words: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  Effect.flatMap(Program.idvMock, (path) => Command.start(Command.env(Command.make("node", path, ...words), variables)))

/** The address of a mock server in this process. */
const serving = (options: MockServer.Options = {}) =>
  Effect.map(
    Layer.build(MockServer.layer({ port: 0, seed: 7, ...options })),
    (services) => Context.get(services, MockServer.MockServer).url
  )

const playing = (patch: Profile.Patch) => serving({ profile: Profile.apply(Profile.defaultProfile, patch) })

/** Matches data of the mock server's customer, and of the responses of test servers. */
const canaries = /demo-key|s3cret|canary|at file:|at .*\.[mt]?[jt]s:/i

const harmless = (...texts: ReadonlyArray<string>) => {
  for (const text of texts) strictEqual(canaries.exec(text)?.[0], undefined)
}

interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly last: string
}

/** The command in a process of its own. What it prints has nothing in it that is secret. */
const verify = (words: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const process = yield* start(["verify", ...words], variables)
    const { exitCode, stderr, stdout } = yield* Effect.all(
      { stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode },
      { concurrency: "unbounded" }
    )
    harmless(stdout, stderr)
    const outcome: Outcome = { stdout, stderr, exitCode, last: stdout.trimEnd().split("\n").at(-1) ?? "" }
    return outcome
  }))

/** The same in this process, which is faster. */
const verifyHere = (words: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  captured(Effect.either(main(["verify", ...words], { stdout: new PassThrough(), version: "0" }))).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.map(({ stderr, stdout: printed, value }) => {
      const stdout = printed.map((text) => `${text}\n`).join("")
      const lines = Either.match(value, { onLeft: messageOf, onRight: () => "" })
      harmless(stdout, lines)
      const outcome: Outcome = {
        stdout,
        stderr: stderr.concat(lines).join(""),
        exitCode: Either.isLeft(value) ? exitCodeOf(value.left) : 0,
        last: stdout.trimEnd().split("\n").at(-1) ?? ""
      }
      return outcome
    })
  )

const exitCodeOf = (error: unknown) => Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : 1

const messageOf = (error: unknown) => error instanceof Error ? error.message : "no error"

const refused = (outcome: Outcome, line: string) => {
  strictEqual(outcome.last, line)
  // Before it, a sandbox has its plan.
  const error = outcome.stderr.trimEnd().split("\n").at(-1)
  deepStrictEqual([outcome.exitCode, error], [2, "idv-mock verify: the target was not tested"])
}

/** A server other than the mock server. */
const foreign = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))

const page: RequestListener = (request, response) => {
  request.resume()
  response.setHeader("content-type", "text/html").end("<!doctype html><title>canary</title>")
}

describe("idv-mock verify", () => {
  it.scopedLive("names each drift of a mock server with another profile, and the flags of that profile", () =>
    Effect.gen(function*() {
      const cases = ["token.parameters", "aml.content-type.request"].flatMap((id) => ["--case", id])
      const outcome = yield* verify(["--base-url", yield* playing({ preset: "strict" }), ...cases])
      deepStrictEqual([outcome.exitCode, outcome.stderr], [1, "idv-mock verify: 2 alarms\n"])
      assertInclude(outcome.stdout, "\n  ~ token.parameters: ")
      assertInclude(outcome.stdout, ": the contract's default is json, observed exact (HTTP 415)\n")
      assertInclude(
        outcome.stdout,
        "\n  idv-mock serve --profile tokenParameters=refused --profile amlRequestType=exact\n"
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("skips cases without the token of a guarded control API", () =>
    Effect.gen(function*() {
      const url = yield* serving({ controlToken: Redacted.make("s3cret") })
      const { exitCode, stdout } = yield* verifyHere([
        "--auth-url",
        url,
        "--case",
        "token.status",
        "--case",
        "token.expired"
      ])
      strictEqual(exitCode, 1)
      assertInclude(stdout, ": the control API of the mock server responds with 401\n")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes its report as JSON or JUnit, and its observations as claims, with a guarded control API", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const profile = Profile.apply(Profile.defaultProfile, { tokenStatus: "201" })
      const url = yield* serving({ profile, controlToken: Redacted.make("s3cret") })
      const files = [
        "--output",
        `${folder}/report`,
        "--observations",
        `${folder}/seen.yaml`,
        "--har",
        `${folder}/run.har`
      ]
      const words = ["--auth-url", url, "--customer-id", "demo-customer"]
      const key = { IDV_CUSTOMER_KEY: "demo-key", IDV_MOCK_CONTROL_TOKEN: "s3cret" }
      const cases = ["token.status", "aml.answered", "aml.dob.iso"].flatMap((id) => ["--case", id])
      const json = yield* verifyHere([...words, ...cases, "--format", "json", ...files], key)
      deepStrictEqual([json.exitCode, json.stdout.trimEnd()], [1, json.last])
      assert(
        /^It does not conform, 1 alarm: \d+ of \d+ cases passed, 0 violated, 0 lenient, 1 drifted, /.test(json.last),
        json.last
      )
      const report = yield* fs.readFileString(`${folder}/report`)
      const file = yield* Schema.decode(Schema.parseJson(Conformance.ReportFile))(report)
      deepStrictEqual([file.alarms, file.verdict], [["token.status"], json.last])
      const seen = yield* fs.readFileString(`${folder}/seen.yaml`)
      const { claims } = yield* Contract.fromYaml(seen)
      deepStrictEqual(claims.find(({ id }) => id === "token.success.status")?.observed, [201])
      // For people: each claim after the first one follows a blank line.
      strictEqual(seen.match(/\n\n +- id: /g)?.length, claims.length - 1)

      const again = ["--case", "token.status"].concat(
        ["--claims", `${folder}/seen.yaml`, "--format", "junit", "--output", `${folder}/junit.xml`]
      )
      strictEqual((yield* verifyHere([...words, ...again], key)).exitCode, 0)
      const xml = yield* fs.readFileString(`${folder}/junit.xml`)
      strictEqual(XMLValidator.validate(xml), true)
      assertInclude(xml, `<testsuites name="Conformance of a mock server" tests="1"`)
      const har = yield* fs.readFileString(`${folder}/run.har`)
      assertInclude(har, "\"version\": \"1.2\"")
      harmless(report, seen, xml, har)
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock verify --target sandbox", () => {
  it.scopedLive("keeps its budget and its spacing, and says which cases were skipped and why", () =>
    Effect.gen(function*() {
      const url = yield* serving()
      const { session } = yield* Control.make({ url })
      const fs = yield* FileSystem.FileSystem
      const seen = `${yield* fs.makeTempDirectoryScoped()}/seen.yaml`
      const variables = {
        IDV_AUTH_URL: url,
        IDV_BASE_URL: url,
        IDV_CUSTOMER_ID: "demo-customer",
        IDV_CUSTOMER_KEY: "demo-key"
      }
      const few = ["--target", "sandbox", "--budget", "8", "--spacing", "100", "--observations", seen]
      const { exitCode, last, stdout } = yield* verifyHere(few, variables)
      // The budget was too small for all that is documented, which says nothing about the service.
      strictEqual(exitCode, 0)
      assertInclude(last, "Nothing contradicts the contract: ")
      assertInclude(last, " documented claims tested, ")
      assertInclude(stdout, " cases: the budget of 8 requests is spent; ")
      assertInclude(stdout, " cases: the clock of a service cannot be moved (--wait-for-expiry)\n")
      const [, sent] =
        /\nsent +(\d) requests of a budget of 8, \d checks? that may be billed, only about/.exec(stdout) ?? []
      // Some of it is kept, to see at the end whether the service still answers.
      assert(Number(sent) > 4 && Number(sent) <= 8, stdout)
      const unmatched = yield* Effect.flatMap(Control.make({ url }), ({ unmatchedRequests }) => unmatchedRequests({}))
      const { entries } = yield* session("demo-customer").journal({})
      const times = [...entries, ...unmatched.entries].map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b)
      strictEqual(times.length, Number(sent))
      for (const [i, time] of times.slice(1).entries()) assert(time - (times[i] ?? 0) >= 95, `${times}`)
      harmless(yield* fs.readFileString(seen))

      const all = yield* verifyHere(["--target", "sandbox", "--spacing", "0"], variables)
      strictEqual(all.exitCode, 0)
      assert(all.stderr.startsWith("Plan: at most 60 requests, "), all.stderr)
      assert(/\nsent +\d\d requests of a budget of 60, /.test(all.stdout))
    }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici])))
})

describe("idv-mock verify of an unusable target", () => {
  it.scopedLive("says in one line that no server responds", () =>
    Effect.gen(function*() {
      const url = yield* Effect.scoped(foreign(page))
      const line = `Nothing can be verified: no server responds at ${url}: check the address, and start the server`
      refused(yield* verifyHere(["--auth-url", url]), line)
      const token = yield* serving()
      refused(
        yield* verifyHere(["--auth-url", token, "--base-url", url]),
        `The AML check cannot be verified: no server responds at ${url}: check the base URL, and start the server`
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says in one line that the credentials are wrong", () =>
    Effect.gen(function*() {
      const url = yield* serving()
      const line =
        "Nothing can be verified: the customer is refused with 401: check its id and its key. If they are right, this machine or the customer may be blocked for a while, as after wrong keys or bad tokens of an earlier run"
      const words = ["--auth-url", url, "--customer-id", "demo-customer"]
      refused(yield* verify(words, { IDV_CUSTOMER_KEY: "canary" }), line)
      refused(yield* verifyHere([...words, "--target", "sandbox"], { IDV_CUSTOMER_KEY: "canary" }), line)
    }).pipe(Effect.provide(NodeContext.layer)))

  const customer = { IDV_CUSTOMER_ID: "demo-customer", IDV_CUSTOMER_KEY: "demo-key" }

  it.scopedLive("says in one line that the responses are HTML pages", () =>
    Effect.gen(function*() {
      const html = yield* foreign(page)
      const why = "with an HTML page (200): check the"
      refused(
        yield* verifyHere(["--target", "sandbox", "--auth-url", html], customer),
        `Nothing can be verified: the token endpoint responds ${why} address`
      )
      refused(
        yield* verifyHere(
          ["--target", "sandbox", "--auth-url", yield* serving(), "--base-url", html, "--spacing", "0"],
          customer
        ),
        `The AML check cannot be verified: the API responds ${why} base URL`
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says in one line that no response comes", () =>
    Effect.gen(function*() {
      const url = yield* foreign(() => {})
      const words = ["--target", "sandbox", "--auth-url", url, "--deadline", "1 second"]
      refused(
        yield* verifyHere(words, customer),
        `Nothing can be verified: ${url} accepts the request to the token endpoint but does not respond in time`
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("ends on a signal with one line and a failure code", () =>
    Effect.gen(function*() {
      for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
        const received = yield* Deferred.make<void>()
        const url = yield* foreign(() => Deferred.unsafeDone(received, Effect.void))
        const process = yield* start(["verify", "--target", "sandbox", "--auth-url", url], customer)
        const [stderr, exitCode] = yield* Effect.all([
          text(process.stderr),
          process.exitCode,
          Effect.zipRight(Deferred.await(received), process.kill(signal))
        ], { concurrency: "unbounded" })
        deepStrictEqual([stderr.trimEnd().split("\n").at(-1), Number(exitCode)], [
          "idv-mock verify: interrupted after 1 request; nothing was written",
          code
        ])
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes no observations if there are none, and overwrites no file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/seen.yaml`
      const url = yield* Effect.scoped(foreign(page))
      const words = ["--target", "sandbox", "--auth-url", url, "--observations", path]
      const { stderr } = yield* verifyHere(words, customer)
      assertInclude(stderr, `idv-mock verify: nothing was observed, so ${path} is not written`)
      strictEqual(yield* fs.exists(path), false)
      yield* fs.writeFileString(path, "mine")
      const again = yield* verifyHere(words, customer)
      deepStrictEqual(
        [again.stdout, again.stderr],
        ["", `--observations ${path} cannot be written: it exists, and is not overwritten`]
      )
      strictEqual(yield* fs.readFileString(path), "mine")
      const har = yield* verifyHere(["--target", "sandbox", "--auth-url", url, "--har", path], customer)
      deepStrictEqual([har.stdout, har.stderr], [
        "",
        `--har ${path} cannot be written: it exists, and is not overwritten`
      ])
      strictEqual(yield* fs.readFileString(path), "mine")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock verify of a service without --target sandbox", () => {
  it.scopedLive("sends one request without credentials, and says what to do", () =>
    Effect.gen(function*() {
      const received: Array<string> = []
      const url = yield* foreign((request, response) => {
        received.push(`${request.method} ${request.url} ${request.headers.authorization ?? "-"}`)
        request.resume()
        response.end("{}")
      })
      const variables = {
        IDV_AUTH_URL: url,
        IDV_BASE_URL: url,
        IDV_CUSTOMER_ID: "canary",
        IDV_CUSTOMER_KEY: "canary",
        IDV_MOCK_CONTROL_TOKEN: "canary"
      }
      for (const words of [["--auth-url", url], []]) {
        const { exitCode, stderr, stdout } = yield* verifyHere(words, variables)
        deepStrictEqual({ exitCode, stderr, stdout }, {
          exitCode: 2,
          stderr: `${url} is not an idv-mock server: use --target sandbox`,
          stdout: ""
        })
      }
      deepStrictEqual(received, ["GET /_mock/live -", "GET /_mock/live -"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("does not send the credentials of a shell to a mock server whose address is a flag", () =>
    Effect.gen(function*() {
      const url = yield* serving()
      const variables = { IDV_CUSTOMER_ID: "ours", IDV_CUSTOMER_KEY: "s3cret" }
      strictEqual((yield* verifyHere(["--auth-url", url, "--case", "token.status"], variables)).exitCode, 0)
      refused(
        yield* verifyHere([], { IDV_AUTH_URL: url, ...variables }),
        "Nothing can be verified: the customer is refused with 401: check its id and its key. If they are right, this machine or the customer may be blocked for a while, as after wrong keys or bad tokens of an earlier run"
      )
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("The flags of idv-mock verify", () => {
  const closed = "http://127.0.0.1:1"
  const address = "expected an address such as http://127.0.0.1:4010, without a user, password, query or fragment"
  const clear = "is invalid: expected an https: address. Plain http: needs a loopback address, or --allow-insecure"
  it.live.each<[string, string, Record<string, string>]>([
    ["--target canary", "--target is invalid: expected one of mock, sandbox", {}],
    ["--format canary", "--format is invalid: expected one of table, json, junit, github", {}],
    ["--auth-url http://u:canary@127.0.0.1", `--auth-url is invalid: ${address}`, {}],
    ["--base-url http://127.0.0.1?canary", `--base-url is invalid: ${address}`, {}],
    ["--control-url canary", `--control-url is invalid: ${address}`, {}],
    ["--auth-url http://canary.example", `--auth-url ${clear}`, {}],
    [`--auth-url ${closed} --base-url http://127.0.0.1.canary.example`, `--base-url ${clear}`, {}],
    ["--control-url http://canary.example", `--control-url ${clear}`, {}],
    ["--target sandbox", "--auth-url is missing: expected it, or IDV_AUTH_URL", {}],
    ["--target sandbox", `IDV_BASE_URL is invalid: ${address}`, { IDV_BASE_URL: "canary" }],
    ["--target sandbox", `IDV_AUTH_URL ${clear}`, { IDV_AUTH_URL: "http://canary.example" }],
    [
      `--target sandbox --auth-url ${closed}`,
      "--customer-id and --customer-key are missing: expected them, or IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY",
      { IDV_BASE_URL: "http://canary.example" }
    ],
    ["--customer-id canary", "--customer-key is missing: expected it, or IDV_CUSTOMER_KEY", { IDV_CUSTOMER_KEY: "" }],
    [
      "--customer-id can:ary",
      "--customer-id is invalid: expected 1 to 256 characters, none of them a colon or a control",
      {}
    ],
    [
      "--customer-id a",
      "IDV_CUSTOMER_KEY is invalid: expected 1 to 256 characters, without control characters",
      { IDV_CUSTOMER_KEY: "can\nary" }
    ],
    ["--customer-key canary", "--customer-id is missing: expected it, or IDV_CUSTOMER_ID", {}],
    ["--budget 3", "--budget requires --target sandbox: requests to a mock server are not limited", {}],
    ["--target mock --spacing 3", "--spacing requires --target sandbox: requests to a mock server are not limited", {}],
    ["--wait-for-expiry", "--wait-for-expiry requires --target sandbox: the run moves the clock of a mock server", {}],
    ["--dry-run", "--dry-run requires --target sandbox: requests to a mock server cost nothing", {}],
    [
      "--target sandbox --auth-url http://127.0.0.1:1 --budget 4",
      "--budget 4 allows no check: the smallest useful budget is 5, because a fifth of the requests may be checks",
      { IDV_CUSTOMER_ID: "a", IDV_CUSTOMER_KEY: "b" }
    ],
    ["--wrong-keys", "--wrong-keys requires --target sandbox: a mock server always receives wrong keys", {}],
    ["--fail-on canary", "--fail-on is invalid: expected one of violated, lenient, drift", {}],
    ["--case token.nothing", "--case token.nothing: there is no such case; idv-mock contract prints them", {}],
    ["--budget 0", "--budget is invalid: expected a whole number from 1 to 10000", {}],
    [
      "--spacing canary",
      "--spacing is invalid: expected a number of milliseconds from 0 to 2147483647 (24.8 days), or a text such as \"2 seconds\"",
      {}
    ],
    [
      "--deadline 0",
      "--deadline is invalid: expected a number of milliseconds from 1 to 2147483647 (24.8 days), or a text such as \"2 seconds\"",
      {}
    ],
    ["--claims /nowhere/claims", "--claims /nowhere/claims: there is no such file", {}],
    ["--output /nowhere/report", "--output /nowhere/report cannot be written: the directory does not exist", {}],
    ["--observations /", "--observations / cannot be written: it is a directory", {}]
  ])("%s is refused in one line", ([words, line, variables]) =>
    Effect.gen(function*() {
      const { stderr, stdout } = yield* verifyHere(words.split(" "), variables)
      deepStrictEqual({ stderr, stdout }, { stderr: line, stdout: "" })
    }))

  it.live("accept loopback addresses by name, and others with --allow-insecure", () =>
    Effect.gen(function*() {
      for (
        const words of ["--auth-url http://localhost:1", "--auth-url http://[::1]:1", `--base-url ${closed}`]
      ) {
        assertInclude((yield* verifyHere([...words.split(" "), "--format", "junit"])).stderr, "idv-mock verify: ")
      }
      const others = ["--auth-url", "http://0.0.0.0:1", "--allow-insecure", "--deadline", "500"]
      assertInclude((yield* verifyHere(others)).last, "Nothing can be verified: ")
    }))
})
