/** The client of this project, and the backends that use it, on the days of `idv-mock test-client`. */
import { AmlCheck, AmlClient, Idv, Person } from "@effect-idv/core"
import { ClientTest } from "@effect-idv/mock-server"
import { Command, FileSystem, HttpClient } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, Redacted, Schedule, Schema } from "effect"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as Express from "../src/recipes/express/app.ts"
import * as Fastify from "../src/recipes/fastify/app.ts"
import { decisionsInMemory } from "../src/recipes/screening.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"

const layerOf = (url: string, customerId: string, customerKey: string) =>
  Layer.provide(
    Idv.layer({ authUrl: url, baseUrl: url, customerId, customerKey: Redacted.make(customerKey) }),
    NodeHttpClient.layerUndici
  )

const makeClient: ClientTest.MakeClient = ({ baseUrl, customerId, customerKey }) => {
  const runtime = ManagedRuntime.make(layerOf(baseUrl, customerId, customerKey))
  return (input) =>
    Effect.gen(function*() {
      const { check } = yield* AmlClient.AmlClient
      return AmlCheck.match(yield* check(yield* Person.make(input)), {
        onNo: () => "clear" as const,
        onDoubtfulNo: () => "review" as const,
        onPotentialMatch: () => "review" as const
      })
    }).pipe(runtime.runPromise)
}

const Report = Schema.parseJson(Schema.Struct({
  findings: Schema.Array(Schema.Struct({ text: Schema.String, steps: Schema.Array(Schema.String) }))
}))

/** What `idv-mock test-client` finds in a backend that uses the mock server at `mockPort`. */
const findings = (mockPort: number, url: string, ...flags: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const bundle = yield* Program.idvMock
    const words = ["test-client", "--format", "json", "--url", url, "--port", String(mockPort), ...flags]
    const { stderr, stdout } = yield* ExampleProcess.run(Command.make("node", bundle, ...words))
    return (yield* Effect.mapError(Schema.decode(Report)(stdout), () => stderr)).findings
  })

/** A runtime of the recipes with the mock server at this port. */
const runtimeOf = (mockPort: number) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      ManagedRuntime.make(
        Layer.merge(layerOf(`http://127.0.0.1:${mockPort}`, "demo-customer", "demo-key"), decisionsInMemory())
      )
    ),
    ({ disposeEffect }) => disposeEffect
  )

const byStatus = ["--clear", "status=201", "--review", "status=202"]

/** Shorter than a check may take: the test does not compare times. */
const respondAfter = 0

describe("idv-mock test-client", () => {
  it("finds nothing in this client", () =>
    ClientTest.run(makeClient).then(({ findings }) => assert.deepStrictEqual(findings, [])))

  it.scopedLive("finds nothing in the recipe of Fastify", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const app = Fastify.makeApp({ runtime: yield* runtimeOf(port), respondAfter })
      const address = yield* Effect.promise(() => app.listen({ host: "127.0.0.1", port: 0 }))
      yield* Effect.addFinalizer(() => Effect.promise(() => app.close()))
      const body = JSON.stringify({ key: "{uuid}", name: "{name}", dateOfBirth: "{date_of_birth}" })
      assert.deepStrictEqual(yield* findings(port, `${address}/sign-up`, "--body", body, ...byStatus), [])
    }))

  it.scopedLive("finds nothing in the recipe of Express", () =>
    Effect.gen(function*() {
      const [port, appPort] = [yield* freePort, yield* freePort]
      const server = Express.makeApp({ runtime: yield* runtimeOf(port), respondAfter }).listen(appPort, "127.0.0.1")
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const body = "key={uuid}&name={name}&dateOfBirth={date_of_birth}"
      assert.deepStrictEqual(yield* findings(port, `http://127.0.0.1:${appPort}/`, "--body", body, ...byStatus), [])
    }))

  it.scopedLive("finds nothing in onboarding-api", () =>
    Effect.gen(function*() {
      const [port, appPort, operationsPort] = [yield* freePort, yield* freePort, yield* freePort]
      const files = yield* FileSystem.FileSystem
      const home = yield* files.makeTempDirectoryScoped()
      const command = yield* ExampleProcess.command(new URL("../src/onboarding-api/main.ts", import.meta.url), [], {
        ...ExampleProcess.mockVariables({ url: `http://127.0.0.1:${port}` }),
        DATABASE_URL: `file:${home}/onboarding.sqlite`,
        ANSWER_AFTER: "1 second",
        PORT: String(appPort),
        OPERATIONS_PORT: String(operationsPort)
      })
      yield* Command.start(command)
      const url = `http://127.0.0.1:${appPort}`
      yield* Effect.retry(HttpClient.get(`${url}/docs`), Schedule.spaced("100 millis"))
      const body = JSON.stringify({ name: "{name}", dateOfBirth: "{date_of_birth}" })
      const flags = [
        "--body",
        body,
        "--header",
        "Idempotency-Key: {uuid}",
        "--clear",
        "\"welcome\"",
        "--review",
        "\"received\""
      ]
      assert.deepStrictEqual(yield* findings(port, `${url}/sign-ups`, ...flags), [])
    }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici])))
})
