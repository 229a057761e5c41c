/** A population, and a service that records the people it screens. */
import { AmlClient, Person } from "@effect-idv/core"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { EncryptionKeys, People, type Population } from "../../src/index.ts"
import * as Databases from "./databases.ts"

export const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString("base64")}`

export const layerPeople = (keys = key("k1", 1)) =>
  Layer.unwrapEffect(Effect.map(EncryptionKeys.make(Redacted.make(keys)), People.layerEncrypted))

/** A fictional name, whose last word selects the response of the stubs and the mock server. */
export const entry = (key: string, name = `Canary${key} Testclear`): Population.Entry => ({
  key,
  person: Person.make({ name, dateOfBirth: "1990-02-01" })
})

export const many = (count: number, name?: (index: number) => string) =>
  Stream.map(Stream.range(1, count), (index) => entry(`K${index}`, name?.(index)))

/**
 * A service without a socket, the names in the order in which it was asked, and how many checks were in flight. It responds
 * after `latency` in milliseconds, or after an event.
 */
export const service = (
  answer: (name: string, count: number) => AmlClient.Canned = () => "No",
  latency: number | Effect.Effect<unknown> = 0
) => {
  const wait = typeof latency === "number" ? Effect.sleep(latency) : latency
  const names: Array<string> = []
  const inFlight = { now: 0, most: 0 }
  const layer = Layer.effect(
    AmlClient.AmlClient,
    Effect.gen(function*() {
      const canned = Context.get(
        yield* Layer.build(AmlClient.layerTest(({ name }) => {
          const text = Redacted.value(name)
          return answer(text, names.filter((other) => other === text).length)
        })),
        AmlClient.AmlClient
      )
      const check: AmlClient.Service["check"] = (person) =>
        Effect.gen(function*() {
          names.push(Redacted.value(person.name))
          inFlight.most = Math.max(inFlight.most, ++inFlight.now)
          if (latency !== 0) yield* wait
          return yield* canned.check(person)
        }).pipe(Effect.ensuring(Effect.sync(() => inFlight.now--)))
      return AmlClient.AmlClient.of({ check })
    }).pipe(Effect.scoped)
  )
  return { names, inFlight, layer }
}

export const ledger = Databases.ledger
