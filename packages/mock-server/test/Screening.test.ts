import { AmlClient, Idv, Person, Screening } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** The in-process mock, with a fault at every fiftieth request to the API, of five kinds in turn. */
const layer = Layer.unwrapEffect(Effect.gen(function*() {
  const { options } = yield* MockServer.MockServer
  const client = yield* HttpClient.HttpClient
  let requests = 0
  const faulty = HttpClient.make((request) => {
    const number = request.url.endsWith("/api/aml") ? ++requests : 1
    if (number % 50 !== 0) return client.execute(request)
    const answer = (body: string | null, init: ResponseInit) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(body, init)))
    switch ((number / 50) % 5) {
      case 0:
        return answer("<html>Bad gateway</html>", { status: 502 })
      case 1:
        return answer(null, { status: 503, headers: { "retry-after": "0" } })
      case 2:
        return answer("{\"match_found\":\"No\"}", { status: 200 })
      case 3:
        return new HttpClientError.RequestError({ request, reason: "Transport", cause: { code: "ECONNRESET" } })
      default:
        return answer(null, { status: 429, headers: { "retry-after": "0" } })
    }
  })
  return Layer.provide(Idv.layer(options), Layer.succeed(HttpClient.HttpClient, faulty))
})).pipe(Layer.provide(MockServer.layerHttpClient))

const names = ["Testclear", "Testpep", "Öztürk", "Иванова"]

const people = (count: number) =>
  Stream.map(Stream.range(1, count), (key): Screening.Entry<number> => ({
    key,
    person: Person.make({ name: `Ada ${names[key % 4]}`, dateOfBirth: `19${50 + key % 50}-03-14` })
  }))

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const heapInUse = Effect.sync(() => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
})

describe("Screening 100,000 people", () => {
  it.live("with 2 % faults, 64 at once: everyone is accounted for, and memory is flat", () =>
    Effect.gen(function*() {
      const heap: Record<number, number> = {}
      const seen = new Uint8Array(100_001)
      let outcomes = 0
      const summary = yield* Screening.summary(people(100_000), {
        concurrency: 64,
        onOutcome: ({ key }) =>
          Effect.suspend(() => {
            seen[key] = (seen[key] ?? 0) + 1
            outcomes++
            return outcomes === 10_000 || outcomes === 90_000
              ? Effect.map(heapInUse, (used) => void (heap[outcomes] = used))
              : Effect.void
          })
      })
      const { noMatch, notScreened, potentialMatch, total, unknown } = summary
      strictEqual(total, 100_000)
      strictEqual(noMatch + potentialMatch + notScreened + unknown, 100_000)
      assert(seen.subarray(1).every((times) => times === 1))
      const grown = (heap[90_000] ?? NaN) - (heap[10_000] ?? NaN)
      assert(grown < 20, `${grown} MiB`)
      // Of 2,000 faults or so 429 and 503 are tried again, and the others come out.
      assert(unknown > 350 && unknown < 450, `${unknown}`)
      assert(notScreened > 700 && notScreened < 900, `${notScreened}`)
      assert(potentialMatch > 24_000 && potentialMatch < 25_000, `${potentialMatch}`)
      console.log(summary, heap)
    }).pipe(Effect.provide(layer)), 120_000)
})
void AmlClient
void deepStrictEqual
