import { Control, MockServer } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Either, Layer, Predicate, Redacted } from "effect"
import * as Doors from "./support/doors.ts"

/** Runs the command in this process. Its error is added as a line of stderr. */
const run = (words: ReadonlyArray<string>, variables: ReadonlyArray<readonly [string, string]> = []) =>
  Effect.map(Doors.runCommand(words, variables), ({ stderr, stdout, value }) => ({
    stdout,
    stderr: stderr.concat(Either.match(value, { onLeft: (error) => [messageOf(error)], onRight: () => [] }))
  }))

const messageOf = (error: unknown) => error instanceof Error ? error.message : "no error"

/** A server, and the command with the address of the server. */
const serving = (options: MockServer.Options = {}) =>
  Effect.gen(function*() {
    const services = yield* Layer.build(MockServer.layer({ port: 0, seed: 7, ...options }))
    const { url } = Context.get(services, MockServer.MockServer)
    return {
      url,
      control: Context.get(services, Control.Control),
      idvMock: (...words: ReadonlyArray<string>) => run([...words, "--url", url])
    }
  })

const ask = (url: string, customer: string) =>
  Effect.promise(() =>
    fetch(`${url}/oauth/service`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(customer)}`, "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials"
    }).then(({ status }) => status)
  )

const notAnAddress =
  "--url is invalid: expected an address such as http://127.0.0.1:4010, without a user, password, query or fragment"

const noFaults = { stdout: [], stderr: ["The session has no faults: idv-mock fault set adds one"] }

const silent = { stdout: [], stderr: [] }

describe("idv-mock journal", () => {
  it.scopedLive("shows one line with the reason for each exchange, and filters them", () =>
    Effect.gen(function*() {
      const { idvMock, url } = yield* serving()
      strictEqual(yield* ask(url, "demo-customer:demo-key"), 200)
      strictEqual(yield* ask(url, "demo-customer:canary"), 401)
      strictEqual(yield* ask(url, "nobody:canary"), 401)

      const { stderr, stdout } = yield* idvMock("journal")
      deepStrictEqual([stdout.length, stderr], [2, []])
      strictEqual(
        /^#1 \d{4}-\S+Z demo-customer POST \/oauth\/service 200, \d+ ms: .+/.test(stdout[0] ?? ""),
        true,
        stdout[0]
      )
      assertInclude(stdout[1] ?? "", " 401, ")
      strictEqual(stdout.join("").includes("canary"), false)

      strictEqual((yield* idvMock("journal", "--status", "401")).stdout.length, 1)
      strictEqual((yield* idvMock("journal", "--operation", "aml")).stdout.length, 0)
      const [unmatched = ""] = (yield* idvMock("journal", "--unmatched")).stdout
      assertInclude(unmatched, " - POST /oauth/service 401")

      const [first = ""] = (yield* idvMock("journal", "--json")).stdout
      deepStrictEqual(JSON.parse(first).response.status, 200)

      deepStrictEqual(yield* idvMock("journal", "--clear"), silent)
      deepStrictEqual(yield* idvMock("journal"), {
        stdout: [],
        stderr: ["No exchange matches: send a request, or use other flags"]
      })
    }))

  it.live.each<[string, string]>([
    ["--url canary", notAnAddress],
    ["--url ftp://canary", notAnAddress],
    ["--url http://u:canary@127.0.0.1", notAnAddress],
    ["--url http://canary@127.0.0.1", notAnAddress],
    ["--url http://:canary@127.0.0.1", notAnAddress],
    ["--url http://127.0.0.1?token=canary", notAnAddress],
    ["--url http://127.0.0.1?", notAnAddress],
    ["--url http://127.0.0.1#canary", notAnAddress],
    ["--url http://127.0.0.1#", notAnAddress]
  ])("%s is a usage error in one line", ([words, line]) =>
    Effect.gen(function*() {
      deepStrictEqual(yield* run(["journal", ...words.split(" ")]), { stdout: [], stderr: [line] })
    }))
})

describe("idv-mock fault", () => {
  it.scopedLive("sets a fault, lists how often it fired, and removes it", () =>
    Effect.gen(function*() {
      const { idvMock, url } = yield* serving()
      const { stdout: [set = ""] } = yield* idvMock("fault", "set", "token:status=503:nth=1")
      const [id = ""] = set.split(":")
      strictEqual(yield* ask(url, "demo-customer:demo-key"), 503)
      const { stdout } = yield* idvMock("fault", "list")
      strictEqual(stdout.length, 1)
      assertInclude(stdout[0] ?? "", `${id}: fired at 1 of 1 requests: {`)
      assertInclude(stdout[0] ?? "", "\"status\":503")

      deepStrictEqual(yield* idvMock("fault", "remove", id), silent)
      deepStrictEqual(yield* idvMock("fault", "list"), noFaults)
      deepStrictEqual((yield* idvMock("fault", "remove", id)).stderr, [
        `There is no fault ${id} in this session: list its faults for their ids`
      ])

      yield* idvMock("fault", "set", "{\"on\":\"aml\",\"what\":{\"kind\":\"hang\"}}")
      deepStrictEqual(yield* idvMock("fault", "clear"), silent)
      deepStrictEqual(yield* idvMock("fault", "list"), noFaults)
    }))

  it.scopedLive("sets several faults, or none if one is invalid", () =>
    Effect.gen(function*() {
      const { idvMock } = yield* serving()
      const json = "{\"id\":\"mine\",\"on\":\"token\",\"what\":{\"kind\":\"empty\"}}"
      const { stderr, stdout } = yield* idvMock("fault", "set", "aml:hang", "both:latency=2 seconds:every=3", json)
      deepStrictEqual([stdout.map((line) => line.split(":")[0]), stderr], [["f1", "f2", "mine"], []])
      strictEqual((yield* idvMock("fault", "list")).stdout.length, 3)

      deepStrictEqual(yield* idvMock("fault", "set", "aml:empty", "aml:html", "canary:hang"), {
        stdout: [],
        stderr: ["2.on is invalid: expected one of token, aml, both"]
      })
      strictEqual((yield* idvMock("fault", "list")).stdout.length, 3)
    }))
})

describe("idv-mock clock", () => {
  it.scopedLive("shows, sets, stops and moves the clock of one customer only", () =>
    Effect.gen(function*() {
      const { control, idvMock } = yield* serving()
      yield* control.create({ customerId: "test-clock" })
      const clock = (...words: ReadonlyArray<string>) =>
        Effect.map(idvMock("clock", ...words, "--customer", "test-clock"), ({ stdout }) => stdout)
      const time = "2030-01-31T12:00:00Z"
      yield* clock("freeze")
      deepStrictEqual(yield* clock("set", time), ["2030-01-31T12:00:00.000Z, frozen"])
      deepStrictEqual(yield* clock("advance", "61", "minutes"), ["2030-01-31T13:01:00.000Z, frozen"])
      deepStrictEqual(yield* clock("advance", "1500"), ["2030-01-31T13:01:01.500Z, frozen"])
      for (const [index, duration] of ["1h", "PT1H", "3600 s", "60 min"].entries()) {
        deepStrictEqual(yield* clock("advance", duration), [`2030-01-31T${14 + index}:01:01.500Z, frozen`])
      }
      deepStrictEqual(yield* clock("show"), ["2030-01-31T17:01:01.500Z, frozen"])
      strictEqual((yield* clock("resume"))[0]?.startsWith("2030-01-31T17:01:0"), true)
      strictEqual((yield* idvMock("clock", "show")).stdout[0]?.startsWith("2030"), false)
    }))
})

describe("idv-mock sessions and reset", () => {
  it.scopedLive("show what a session has, and take it back", () =>
    Effect.gen(function*() {
      const { control, idvMock, url } = yield* serving()
      yield* control.session("demo-customer").freeze
      yield* control.session("demo-customer").setTime("2030-01-31T12:00:00Z")
      yield* ask(url, "demo-customer:demo-key")
      deepStrictEqual(yield* idvMock("sessions"), {
        stdout: ["demo-customer: 2030-01-31T12:00:00.000Z (frozen), seed 7, faults: 0, exchanges: 1"],
        stderr: []
      })
      const { stdout: [after = ""] } = yield* idvMock("reset")
      strictEqual(/^demo-customer: (?!2030)\S+Z, seed 7, faults: 0, exchanges: 0$/.test(after), true, after)
    }))
})

describe("A command that talks to a running server", () => {
  it.scopedLive("takes the control token from a flag or the variable, and says so if the token is wrong", () =>
    Effect.gen(function*() {
      const { url } = yield* serving({ controlToken: Redacted.make("s3cret") })
      const words = ["clock", "show", "--url", url]
      strictEqual((yield* run([...words, "--control-token", "s3cret"])).stdout.length, 1)
      strictEqual((yield* run(words, [["IDV_MOCK_CONTROL_TOKEN", "s3cret"]])).stdout.length, 1)
      deepStrictEqual(
        yield* run(words, [["IDV_MOCK_CONTROL_TOKEN", "canary"]]),
        {
          stdout: [],
          stderr: [
            `The control API at ${url} rejects the control token: set IDV_MOCK_CONTROL_TOKEN, or the option token, to the server's token`
          ]
        }
      )
      deepStrictEqual(
        (yield* run(words, [["IDV_MOCK_CONTROL_TOKEN", "can ary"]])).stderr,
        ["IDV_MOCK_CONTROL_TOKEN is invalid: expected 1 to 256 visible characters of ASCII"]
      )
    }))

  it.scopedLive("accepts the address of the control API too", () =>
    Effect.gen(function*() {
      const { url } = yield* serving()
      strictEqual((yield* run(["clock", "show", "--url", `${url}/_mock`])).stdout.length, 1)
      strictEqual((yield* run(["clock", "show", "--url", `${url}/`])).stdout.length, 1)
    }))

  it.live("reports in one line that it cannot reach a server", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(serving())
      deepStrictEqual(yield* run(["sessions", "--url", url]), {
        stdout: [],
        stderr: [`The control API at ${url} cannot be reached: check that the mock server runs there`]
      })
      const secure = url.replace("http:", "https:")
      deepStrictEqual((yield* run(["sessions", "--url", secure])).stderr, [
        `The control API at ${secure} cannot be reached: check that the mock server runs there, and set NODE_EXTRA_CA_CERTS to the file of its CA`
      ])
    }))

  it.scopedLive("exits with 2 if the server refuses an argument, with the sentence of the control API", () =>
    Effect.gen(function*() {
      const { url } = yield* serving()
      for (
        const [words, sentence] of [
          [["clock", "advance", "never"], "advance is invalid: expected a number of milliseconds from 0"],
          [["fault", "set", "aml:nonsense"], "what.kind is invalid: expected one of latency, status"],
          [["session", "set", "--clock-skew", "never"], "clockSkew is invalid: expected a number of milliseconds"]
        ] as const
      ) {
        const { value } = yield* Doors.runCommand([...words, "--url", url])
        const error = Either.flip(value).pipe(Either.getOrThrow)
        assertInclude(messageOf(error), sentence)
        strictEqual(Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : 1, 2)
      }
    }))

  it.live("prints the version", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* run(["--version"]), { stdout: ["1.2.3"], stderr: [] })
    }))
})
