/**
 * Screens many people against the in-process mock with faults, as a process of its own, and prints
 * what became of them as JSON: `screenMany.ts <people> <concurrency>`. Heap is in MiB, once garbage
 * is collected, after 10 % and after 90 % of the outcomes.
 */
import { Idv, Person, Screening } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const [count = 0, concurrency = 1] = process.argv.slice(2).map(Number)

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

const seen = new Uint8Array(count + 1)
const heap: Array<number> = []
let outcomes = 0

const onOutcome = ({ key }: Screening.Outcome<number>) =>
  Effect.suspend(() => {
    seen[key] = (seen[key] ?? 0) + 1
    outcomes++
    return outcomes === count * 0.1 || outcomes === count * 0.9
      ? Effect.map(heapInUse, (used) => void heap.push(used))
      : Effect.void
  })

Screening.summary(people(count), { concurrency, onOutcome }).pipe(
  Effect.map((summary) => ({ ...summary, heap, once: seen.reduce((sum, times) => sum + (times === 1 ? 1 : 0), 0) })),
  Effect.flatMap((result) => Console.log(JSON.stringify(result))),
  Effect.provide(layer),
  NodeRuntime.runMain
)
