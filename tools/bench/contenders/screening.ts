/**
 * People screened: `screening.ts screening|loop|undici <url>` is a subject, and `screening.ts heap
 * <url> <people> <concurrency>` prints what a long run took, and the heap on its way.
 */
import { AmlClient, Idv, Person, Screening } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Agent, request } from "undici"
import type { Long } from "../screening.ts"
import * as Subject from "../support/Subject.ts"

const [, , way = "", url = "", people = "0", concurrency = "1"] = process.argv

const layer = Layer.provide(
  Idv.layer({ authUrl: url, baseUrl: url, customerId: "demo-customer", customerKey: Redacted.make("demo-key") }),
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

/** Everybody has an outcome, and it is the one that the stub gives. */
const screen = (count: number, concurrency: number, onOutcome: (startedAt: number) => void) =>
  Screening.summary(entries(count), {
    concurrency,
    onOutcome: ({ key }) => Effect.sync(() => onOutcome(key.startedAt))
  }).pipe(
    Effect.filterOrDie(
      ({ noMatch, total }) => total === count && noMatch === count,
      (summary) => new Error(`Of ${count} people: ${JSON.stringify(summary)}`)
    )
  )

const screening = Effect.map(
  Layer.build(layer),
  (context) => ({ calls, concurrency }: Subject.Run) =>
    Subject.measure(
      calls,
      (took) => Effect.provide(screen(calls, concurrency, (startedAt) => took(performance.now() - startedAt)), context)
    )
)

/** The same checks in as many fibers, each one after the other. */
const loop = Effect.gen(function*() {
  const context = yield* Layer.build(layer)
  const aml = yield* Effect.provide(AmlClient.AmlClient, context)
  let index = 0
  const check = Effect.suspend(() => Effect.flatMap(personOf(index++), aml.checkWithEvidence))
  return Subject.lanes(Subject.ofEffect(
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
  return Subject.lanes(Subject.ofPromise(() => {
    const body = JSON.stringify({ entity_type: "person", name: nameOf(index), dob: `14-03-${yearOf(index)}` })
    index++
    return request(`${url}/api/aml`, { dispatcher, method: "POST", headers, body })
      .then(({ body }) => body.text())
      .then((text) => (JSON.parse(text) as Credential).credentials.attributes.match_found)
  }, "No"))
})

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const inUse = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const heap = Effect.suspend(() => {
  const count = Number(people)
  const used: Array<number> = []
  let outcomes = 0
  return Subject.measure(count, (took) =>
    screen(count, Number(concurrency), (startedAt) => {
      took(performance.now() - startedAt)
      outcomes++
      if (outcomes === Math.floor(count * 0.1) || outcomes === Math.floor(count * 0.9)) used.push(inUse())
    })).pipe(
      Effect.map(({ cpu, p50, p99, seconds }): Long => {
        const [early = NaN, late = NaN] = used
        return { seconds, cpu, p50, p99, early, late, resident: process.memoryUsage().rss / 2 ** 20 }
      })
    )
}).pipe(
  Effect.provide(layer),
  Effect.flatMap((long) => Console.log(JSON.stringify(long)))
)

const subjects = { screening, loop, undici }

if (way === "heap") NodeRuntime.runMain(heap)
else Subject.mainOf(way in subjects ? subjects[way as keyof typeof subjects] : Effect.die(`no such way: ${way}`))
