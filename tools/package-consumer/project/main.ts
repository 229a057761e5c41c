/** A program of a user: it screens two people, stores the checks, and reads them again. */
import { AmlCheck, AmlClient, Idv, Person } from "@effect-idv/core"
import * as Violation from "@effect-idv/core/Violation"
import { MockServer } from "@effect-idv/mock-server"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"

const Stored = Schema.parseJson(AmlCheck.AmlCheck)

const screen = Effect.fn("screen")(function*(name: string, dateOfBirth: string) {
  const aml = yield* AmlClient.AmlClient
  const person = yield* Person.make({ name, dateOfBirth })
  const stored = yield* Schema.encode(Stored)(yield* aml.check(person))
  const check = yield* Violation.decodeUnknown(Stored)(stored)
  yield* AmlCheck.verify(check)
  return check.result
})

const layer = MockServer.MockServer.pipe(
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest),
  Layer.provide(NodeHttpClient.layerUndici)
)

Effect.all([screen("Ada Testclear", "1990-02-01"), screen("Zoë Testpep", "1957-03-14")]).pipe(
  Effect.flatMap(([ada, zoe]) => Console.log(`${process.version} Ada: ${ada}, Zoë: ${zoe}`)),
  Effect.provide(layer),
  NodeRuntime.runMain
)
