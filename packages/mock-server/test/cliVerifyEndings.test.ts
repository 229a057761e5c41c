/** How `idv-mock verify` ends: one true sentence, and an exit code. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Either, Predicate } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/command/main.ts"
import { captured } from "./support/captured.ts"
import * as CorrectService from "./support/correctService.ts"

const exitCodeOf = (error: unknown) => Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : 1

/** The exit code and the last line of the report. */
const verify = (url: string, words: ReadonlyArray<string> = [], key = CorrectService.customer.IDV_CUSTOMER_KEY) =>
  captured(Effect.either(
    main(["verify", "--target", "sandbox", "--spacing", "0", "--auth-url", url, ...words], {
      stdout: new PassThrough(),
      version: "0"
    })
  )).pipe(
    Effect.withConfigProvider(
      ConfigProvider.fromMap(new Map(Object.entries({ ...CorrectService.customer, IDV_CUSTOMER_KEY: key })))
    ),
    Effect.map(({ stderr, stdout, value }) => ({
      exitCode: Either.isLeft(value) ? exitCodeOf(value.left) : 0,
      error: Either.isLeft(value) && value.left instanceof Error ? value.left.message : "",
      notes: stderr.join("\n"),
      report: stdout.join("\n"),
      last: stdout.join("\n").trimEnd().split("\n").at(-1) ?? ""
    }))
  )

const service = (options: CorrectService.Options = {}) =>
  Effect.map(CorrectService.serving(CorrectService.handler(options)), (host) => `http://${host}`)

const startsWith = (text: string, start: string) => deepStrictEqual(text.slice(0, start.length), start)

describe("idv-mock verify ends", () => {
  it.scopedLive("with 0 on a correct service, and says what a small budget left out", () =>
    Effect.gen(function*() {
      const { exitCode, last } = yield* verify(yield* service(), ["--budget", "20"])
      deepStrictEqual(exitCode, 0)
      startsWith(last, "Nothing contradicts the contract: ")
      assertInclude(last, " 0 violated, ")
      assertInclude(last, " need a larger budget (--budget)")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each<[number, string]>([
    [429, "rate limited: 3 responses in a row were 429, so no more requests are sent"],
    [403, "the token endpoint also refuses the documented request, with 403"]
  ])(
    "with 1 and the reason if the service responds with %d from the middle on",
    ([status, reason]) =>
      Effect.gen(function*() {
        const { error, exitCode, last } = yield* verify(yield* service({ ends: { after: 35, status } }))
        deepStrictEqual(exitCode, 1)
        assert(/^idv-mock verify: the run did not test \d+ documented claims$/.test(error), error)
        startsWith(last, `Nothing contradicts the contract, but the run ended early (${reason}`)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("with 2 if the key is wrong", () =>
    Effect.gen(function*() {
      const { exitCode, last } = yield* verify(yield* service(), [], "wrong")
      const line =
        "Nothing can be verified: the customer is refused with 401: check its id and its key. If they are right, this machine or the customer may be blocked for a while, as after wrong keys or bad tokens of an earlier run"
      deepStrictEqual([exitCode, last], [2, line])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 2 if the target does not speak TLS", () =>
    Effect.gen(function*() {
      const url = (yield* service()).replace("http:", "https:")
      const { exitCode, last } = yield* verify(url)
      deepStrictEqual([exitCode, last], [
        2,
        `Nothing can be verified: the TLS handshake with ${url} fails: check the scheme and the port of the address`
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 2 if the connection is refused, or closed without a response", () =>
    Effect.gen(function*() {
      const url = yield* Effect.scoped(service())
      const refused = yield* verify(url)
      deepStrictEqual([refused.exitCode, refused.last], [
        2,
        `Nothing can be verified: no server responds at ${url}: check the address, and start the server`
      ])
      const closing = `http://${yield* CorrectService.serving(({ socket }) => socket.destroy())}`
      const closed = yield* verify(closing)
      deepStrictEqual([closed.exitCode, closed.last], [
        2,
        `Nothing can be verified: ${closing} closes the connection without a response: check the address`
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 2 if the target does not speak HTTP", () =>
    Effect.gen(function*() {
      const url = `http://${yield* CorrectService.serving(({ socket }) => socket.end("SSH-2.0-server\r\n"))}`
      const { exitCode, last } = yield* verify(url)
      deepStrictEqual([exitCode, last], [
        2,
        `Nothing can be verified: ${url} does not speak HTTP: check the address`
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 2 and the reason if no requested case ran", () =>
    Effect.gen(function*() {
      const { exitCode, last } = yield* verify(yield* service(), ["--case", "aml.status"], "wrong")
      deepStrictEqual(exitCode, 2)
      startsWith(last, "No case ran (the customer received no token): 0 of 1 case passed, ")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 0 after --case, --fail-on, --strict and --wait-for-expiry on a correct service", () =>
    Effect.gen(function*() {
      const words = ["--case", "token.status", "--fail-on", "lenient", "--strict", "--wait-for-expiry"]
      const { exitCode, last } = yield* verify(yield* service(), words)
      deepStrictEqual([exitCode, last], [
        0,
        "It conforms: 1 of 1 case passed, 0 violated, 0 lenient, 0 drifted, 0 not tested"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 2 if the API redirects to a login", () =>
    Effect.gen(function*() {
      const login = yield* CorrectService.serving((request, response) => {
        request.resume()
        response.writeHead(302, { location: "/login" }).end()
      })
      const token = yield* verify(`http://${login}`)
      deepStrictEqual([token.exitCode, token.last], [
        2,
        "Nothing can be verified: the token endpoint redirects with 302, which is not followed: check the address"
      ])
      const api = yield* verify(yield* service(), ["--base-url", `http://${login}`])
      deepStrictEqual([api.exitCode, api.last], [
        2,
        "The AML check cannot be verified: the API redirects with 302, which is not followed: check the base URL"
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with 1 if the service has changed since its observations were stored", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const seen = `${yield* fs.makeTempDirectoryScoped()}/seen.yaml`
      const first = yield* verify(yield* service(), ["--observations", seen])
      deepStrictEqual(first.exitCode, 0)
      const [, requests, checks] = /\nsent +(\d+) requests of a budget of 60, (\d+) checks that may be billed/.exec(
        first.report
      ) ?? []
      assert(Number(requests) <= 60 && Number(checks) <= 12, `${requests} requests, ${checks} checks`)
      const again = yield* verify(yield* service(), ["--claims", seen])
      deepStrictEqual(again.exitCode, 0)
      const status = yield* verify(yield* service({ status: 202 }), ["--claims", seen])
      deepStrictEqual(status.exitCode, 1)
      startsWith(status.last, "It does not conform, ")
      assertInclude(status.report, "the service has changed: observed before: 200, observed 202\n")
      const violating = `${yield* fs.makeTempDirectoryScoped()}/violating.yaml`
      const broken = yield* verify(yield* service({ searchedOn: "2026-01-01" }), ["--observations", violating])
      assertInclude(broken.notes, "the target violates the contract, and the observations show that")
      const frozen = yield* verify(yield* service({ searchedOn: "2026-01-01 10:00:00" }), ["--claims", seen])
      deepStrictEqual(frozen.exitCode, 1)
      assertInclude(frozen.report, "the service has changed: observed before: utc, observed another time (HTTP 200)")
    }).pipe(Effect.provide(NodeContext.layer)))
})
