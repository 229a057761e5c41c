/** Causes the messages that docs/troubleshooting.md quotes. */
import { Conformance, Contract } from "@effect-idv/contract"
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Control, MockServer } from "@effect-idv/mock-server"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Cause, Context, Effect, Layer, Redacted, TestClock, TestServices } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"

const page = readFileSync(new URL("../../../docs/troubleshooting.md", import.meta.url), "utf8")

const idv = (url: string) =>
  Idv.layer({ authUrl: url, baseUrl: url, customerId: "demo-customer", customerKey: Redacted.make("demo-key") })

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }))
})

/** Asserts that the page quotes the first line of the message. Ports and sizes differ in each run. */
const assertQuotes = (message: string) => {
  const [line = ""] = message.split("\n")
  assert.include(page, line.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:4010").replace(/\d+ bytes/, "403 bytes"))
}

const assertQuoted = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.sandbox(Effect.flip(Effect.sandbox(effect))), (cause) => assertQuotes(Cause.pretty(cause)))

/** A port at which nothing listens. */
const closedPort = Effect.async<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address ? address.port : 0)))
  })
})

it.live("quotes a refused connection", () =>
  Effect.flatMap(closedPort, (port) =>
    assertQuoted(
      check.pipe(Effect.provide(idv(`http://127.0.0.1:${port}`)), Effect.provide(NodeHttpClient.layerUndici))
    )))

it.live("quotes an address without TLS", () =>
  assertQuoted(
    check.pipe(Effect.provide(idv("http://sandbox.example.com")), Effect.provide(NodeHttpClient.layerUndici))
  ))

it.effect("quotes a person born after the time of the TestClock", () =>
  assertQuoted(check.pipe(Effect.provide(AmlClient.layerTest("No")))))

it.scoped("quotes a response that is far from the time of the TestClock", () =>
  Effect.gen(function*() {
    const context = yield* TestServices.provideLive(Layer.build(MockServer.layerTest))
    const { url } = Context.get(context, MockServer.MockServer)
    yield* assertQuoted(
      TestClock.setTime(Date.UTC(2020, 0, 1)).pipe(
        Effect.zipRight(check),
        Effect.provide(idv(url)),
        Effect.provide(NodeHttpClient.layerUndici)
      )
    )
  }))

it.live("quotes the failure of a promise", () =>
  Effect.flatMap(closedPort, (port) =>
    Effect.promise(() =>
      Effect.runPromise(
        check.pipe(Effect.provide(idv(`http://127.0.0.1:${port}`)), Effect.provide(NodeHttpClient.layerUndici))
      ).then(() => assert.fail("The check succeeded"), (error) => {
        assertQuotes(String(error))
        assert.notProperty(error, "_tag")
      })
    )))

const sandbox = (url: string): Conformance.Target => ({
  kind: "sandbox",
  authUrl: url,
  baseUrl: `${url}/`,
  customerId: "demo-customer",
  customerKey: Redacted.make("demo-key"),
  spacing: 0
})

/** The cases about the first token request and the first check. */
const cases = Conformance.cases.filter(({ id }) => /^(token|aml)\.(granted|answered|status)$/.test(id))

/** Asserts that the page quotes the last line of the suite's report about a service with this fault. */
const assertSuiteQuoted = (fault: string) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const { session } = yield* Control.Control
    yield* session("demo-customer").fault(fault)
    const report = yield* Conformance.verify(sandbox(url), yield* Contract.load(), { cases })
    assertQuotes(Conformance.verdict(report, sandbox(url)))
  }).pipe(Effect.provide([MockServer.layerTest, NodeHttpClient.layerUndici, NodeContext.layer]))

it.live("quotes the suite about a sandbox that knows only its own persons", () => assertSuiteQuoted("aml:status=404"))

it.live("quotes the suite about a firewall", () => assertSuiteQuoted("token:status=403"))

it.effect("quotes the suite about its budget", () =>
  Effect.gen(function*() {
    const target = sandbox("https://api.example.com")
    const plan = Conformance.planText(Conformance.plan(target), target, yield* Contract.load())
    const line = plan.split("\n").find((line) => line.includes(" requests is spent; "))
    // The numbers change with each new case of the suite.
    const [quoted, printed = ""] = [page, line?.trim()].map((text) => text?.replaceAll(/\d+/g, "1"))
    assert.include(quoted, printed)
    assert.include(printed, "requests are enough")
  }).pipe(Effect.provide(NodeContext.layer)))
