/**
 * Screens people: `screening.ts screening|loop|undici <url>` is a workload, and `screening.ts heap <url>
 * <people> <concurrency>` makes one run and prints its heap.
 */
import { AmlClient, Idv, Person, Screening } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Agent, request } from "undici"
import type { HeapRun } from "../screening.ts"
import * as Workload from "../support/Workload.ts"

const [, , alternative = "", url = "", people = "0", concurrency = "1"] = process.argv

const layer = Layer.provide(
  Idv.layer({
    authUrl: url,
    baseUrl: url,
    customerId: "demo-customer",
    customerKey: Redacted.make("demo-key"),
    // The loop makes as many checks at once as Screening.
    concurrency: 1000
  }),
  NodeHttpClient.layerUndici
)

const names = ["Testclear", "Testpep", "Öztürk", "Иванова"]
const nameOf = (index: number) => `Ada ${names[index % names.length]}`
const yearOf = (index: number) => 1950 + index % 50
const personOf = (index: number) => Person.make({ name: nameOf(index), dateOfBirth: `${yearOf(index)}-03-14` })

const entries = (count: number) =>
  Stream.map(Stream.range(1, count), (index) => {
    const key = { startedAt: 0 }
    const person = Effect.suspend(() => {
      key.startedAt = performance.now()
      return personOf(index)
    })
    return { key, person }
  })

/** Screens people, and requires the outcome `NoMatch` for each, because the stub responds "No". */
const screen = (
  people: ReturnType<typeof entries>,
  concurrency: number,
  onOutcome: (startedAt: number) => void
) =>
  Screening.summary(people, {
    concurrency,
    onOutcome: ({ key }) => Effect.sync(() => onOutcome(key.startedAt))
  }).pipe(
    Effect.filterOrDie(
      ({ noMatch, total }) => noMatch === total,
      (summary) => new Error(JSON.stringify(summary))
    )
  )

const screening = Effect.map(
  Layer.build(layer),
  (context) => (run: Workload.Run) => {
    const next = Workload.limit(run)
    return Workload.measure(run.calls, (record) =>
      screen(
        Stream.takeWhile(entries(run.calls), next),
        run.concurrency,
        (startedAt) => record(performance.now() - startedAt)
      ).pipe(Effect.provide(context)))
  }
)

/** Makes the same checks in as many fibers, each in sequence. */
const loop = Effect.gen(function*() {
  const context = yield* Layer.build(layer)
  const aml = yield* Effect.provide(AmlClient.AmlClient, context)
  let index = 0
  const check = Effect.suspend(() => Effect.flatMap(personOf(index++), aml.check))
  return Workload.concurrently(Workload.fromEffect(
    Effect.map(check, ({ credential }) => credential.credentials.attributes.matchFound),
    "No"
  ))
})

interface Credential {
  readonly credentials: { readonly attributes: { readonly match_found: unknown } }
}

const undici = Effect.sync(() => {
  const dispatcher = new Agent()
  const headers = { "authorization": "Bearer token", "content-type": "application/json" }
  let index = 0
  return Workload.concurrently(Workload.fromPromise(() => {
    const body = JSON.stringify({ entity_type: "person", name: nameOf(index), dob: `14-03-${yearOf(index)}` })
    index++
    return request(`${url}/api/aml`, { dispatcher, method: "POST", headers, body })
      .then(({ body }) => body.text())
      .then((text) => (JSON.parse(text) as Credential).credentials.attributes.match_found)
  }, "No"))
})

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const usedHeap = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const heap = Effect.suspend(() => {
  const count = Number(people)
  const used: Array<number> = []
  let outcomes = 0
  return screen(entries(count), Number(concurrency), () => {
    outcomes++
    if (outcomes === Math.floor(count * 0.1) || outcomes === Math.floor(count * 0.9)) used.push(usedHeap())
  }).pipe(
    Effect.map((): HeapRun => {
      const [early = NaN, late = NaN] = used
      return { early, late, resident: process.memoryUsage().rss / 2 ** 20 }
    })
  )
}).pipe(
  Effect.provide(layer),
  Effect.flatMap((result) => Console.log(JSON.stringify(result)))
)

const alternatives = { screening, loop, undici }

if (alternative === "heap") NodeRuntime.runMain(heap)
else {
  Workload.mainWith(
    alternative in alternatives
      ? alternatives[alternative as keyof typeof alternatives]
      : Effect.die(`unknown alternative: ${alternative}`)
  )
}
