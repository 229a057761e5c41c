/**
 * What a response reveals: 10,000 simulated sign-ups of people who match or meet an outage, in virtual time, and how
 * often an observer who sees the bytes and the time of each response is right about the reason.
 */
import { type AmlCheck, AmlClient, AmlError, Person, WebError } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Either, Layer, Random } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { Decisions, decisionsInMemory, signUp } from "../src/recipes/screening.ts"

const signUps = 10_000
const person = { name: "Zoë Testpep", dateOfBirth: "1957-03-14" }

const checked = (result: AmlCheck.Result) =>
  Effect.gen(function*() {
    const { check } = yield* AmlClient.AmlClient
    return yield* check(yield* Person.make(person))
  }).pipe(Effect.provide(AmlClient.layerTest(result)), Effect.runPromise)
const match = await checked("Potential match")
const no = await checked("No")

/** Each applicant has a clock of their own, whose time passes only while they wait. */
const clockOf = () => {
  let now = 0
  const clock: Clock.Clock = {
    ...Clock.make(),
    unsafeCurrentTimeMillis: () => now,
    currentTimeMillis: Effect.sync(() => now),
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1e6)),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
    sleep: (duration) =>
      Effect.sync(() => {
        now += Duration.toMillis(duration)
      })
  }
  return clock
}

/**
 * A match takes as long as any result. An outage is a refused connection or the deadline, half of each, and is over at
 * the second attempt for nine in ten.
 */
const clientOf = (isMatch: boolean) => {
  let attempts = 0
  const check = () =>
    Effect.gen(function*() {
      const isOver = attempts++ > 0 && (yield* Random.next) < 0.9
      if (isMatch || isOver) {
        yield* Effect.sleep(yield* Random.nextIntBetween(80, 400))
        return isMatch ? match : no
      }
      if (yield* Random.nextBoolean) {
        yield* Effect.sleep(yield* Random.nextIntBetween(5, 30))
        return yield* new AmlError.AmlUnavailable({ reason: "unreachable", host: "a:1", sent: "no" })
      }
      yield* Effect.sleep(3000)
      return yield* new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(3) })
    })
  return Layer.succeed(AmlClient.AmlClient, { check })
}

/** What an applicant sees of one attempt: the response, and its time in steps of 20 ms. */
const seen = <R>(respond: Effect.Effect<string, never, R>) =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const response = yield* respond
    return `${response} after ${Math.round(((yield* Clock.currentTimeMillis) - startedAt) / 20)}`
  })

const withWebError = (options?: WebError.OnlyClearOptions) =>
  Effect.gen(function*() {
    const { check } = yield* AmlClient.AmlClient
    return yield* check(yield* Person.make(person))
  }).pipe(
    WebError.onlyClear(options),
    Effect.match({ onFailure: (error) => JSON.stringify(error), onSuccess: () => "201" })
  )

/** As in the recipes of Fastify, Express and Next.js: the response "received" comes after 3.5 s. */
const withSignUp = (key: string) =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const result = yield* signUp({ key, ...person })
    if (Either.isRight(result) && result.right.outcome === "clear") return "201"
    yield* Effect.sleep(3500 - ((yield* Clock.currentTimeMillis) - startedAt))
    return "202"
  })

/** A table that does not find open reviews. */
const withoutReviews = () =>
  Layer.map(
    decisionsInMemory(),
    (context) =>
      Context.make(Decisions, { ...Context.get(context, Decisions), isInReview: () => Effect.succeed(false) })
  )

const fixed = { respondAfter: "3500 millis" } as const
const form = randomUUID()

type Attempt = Effect.Effect<string, never, AmlClient.AmlClient | Decisions>

/** What an applicant tries, and how often the observer is right. One half is a guess. */
const cases: Readonly<
  Record<
    string,
    readonly [
      attempts: ReadonlyArray<Attempt>,
      percent: number,
      table?: () => Layer.Layer<Decisions>
    ]
  >
> = {
  "one attempt, `WebError.onlyClear()`": [[withWebError()], 100],
  "one attempt, `WebError.onlyClear({ respondAfter })`": [[withWebError(fixed)], 50],
  "a second attempt, `WebError.onlyClear({ respondAfter })`": [[withWebError(fixed), withWebError(fixed)], 95],
  "one attempt, recipes with `signUp`": [[withSignUp(form)], 50],
  "the same form again, recipes with `signUp`": [[withSignUp(form), withSignUp(form)], 50],
  "a second form, if your `Decisions` does not find the person's open review": [
    [withSignUp(form), withSignUp(randomUUID())],
    95,
    withoutReviews
  ],
  "a second form, recipes with `signUp`": [[withSignUp(form), withSignUp(randomUUID())], 50]
}

const page = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8")

describe("An observer of the responses", () => {
  it.effect.each(Object.entries(cases))(
    "tells a match from an outage: %s",
    ([name, [attempts, percent, table = decisionsInMemory]]) =>
      Effect.gen(function*() {
        const observed = yield* Effect.forEach(
          Array.from({ length: signUps }, (_, i) => i % 2 === 0),
          (isMatch) =>
            Effect.forEach(attempts, seen).pipe(
              Effect.map((responses) => ({ isMatch, responses: responses.join(", then ") })),
              Effect.provide(Layer.merge(clientOf(isMatch), table())),
              Effect.withClock(clockOf()),
              // Vitest stops the run if a worker does not respond for a minute.
              Effect.zipLeft(Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void))))
            )
        ).pipe(Effect.withRandom(Random.make("tipping off")))
        // The better guess for each observation, learned from one half of the sign-ups, for the other half.
        const half = signUps / 2
        const balance = new Map<string, number>()
        for (const { isMatch, responses } of observed.slice(0, half)) {
          balance.set(responses, (balance.get(responses) ?? 0) + (isMatch ? 1 : -1))
        }
        const right = observed.slice(half).filter(({ isMatch, responses }) =>
          ((balance.get(responses) ?? 0) > 0) === isMatch
        )
        const found = Math.round(right.length / half * 100)
        assert.isAtMost(Math.abs(found - percent), 1, `right about ${found} %`)
        assert.include(page, `| ${name} | ${percent} % |`)
      })
  )
})
