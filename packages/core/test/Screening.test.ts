import { AmlClient, AmlError, Failure, Idv, Person, Screening, TokenError } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  Chunk,
  Clock,
  Context,
  Duration,
  Effect,
  Exit,
  Fiber,
  Layer,
  Stream,
  TestClock
} from "effect"
import * as Ada from "./support/ada.ts"
import * as Clocks from "./support/clocks.ts"
import * as Service from "./support/service.ts"
import { status } from "./support/tokens.ts"

const person = (key: number): Screening.Entry<number> => ({ key, person: Ada.person })
const status429: Service.Handler = () => Effect.sync(() => status(429, { "retry-after": "60" }))
const people = (count: number) => Stream.map(Stream.range(1, count), person)

/** A client whose n-th check ends as `behaviour` returns. */
const client = (behaviour: (n: number) => Effect.Effect<AmlClient.Canned>) => {
  const begun: Array<number> = []
  const layer = Layer.effect(
    AmlClient.AmlClient,
    Effect.gen(function*() {
      const checkAs = (canned: AmlClient.Canned, person: Person.Person) =>
        Effect.flatMap(AmlClient.AmlClient, (aml) => aml.check(person)).pipe(
          Effect.provide(AmlClient.layerTest(canned))
        )
      const check = (person: Person.Person) =>
        Effect.gen(function*() {
          begun.push(yield* Clock.currentTimeMillis)
          return yield* checkAs(yield* behaviour(begun.length), person)
        })
      return { check }
    })
  )
  return { begun, layer }
}

const clear = () => Effect.succeed("No" as const)
const slowly = (duration: Duration.DurationInput) => () => Effect.delay(clear(), duration)

const limited = (retryAfter?: Duration.DurationInput) =>
  new AmlError.AmlRateLimited(retryAfter === undefined ? {} : { retryAfter: Duration.decode(retryAfter) })

const tags = (outcomes: Iterable<Screening.Outcome<number>>) =>
  Arr.fromIterable(outcomes).map(({ _tag, key }) => `${key} ${_tag}`)

const collect = <E, R>(stream: Stream.Stream<Screening.Outcome<number>, E, R>) =>
  Effect.map(Stream.runCollect(stream), tags)

describe("Screening", () => {
  it.effect("emits one outcome for each person, by key", () => {
    const results: ReadonlyArray<AmlClient.Canned> = [
      "No",
      "Potential match",
      new AmlError.AmlUnavailable({ reason: "broken", sent: "unknown" }),
      new AmlError.AmlUnavailable({ reason: "status", status: 500, sent: "answered" }),
      new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(30) }),
      new TokenError.TokenTimeout({ deadline: Duration.seconds(30) }),
      new AmlError.AmlRequestRejected({ status: 422 })
    ]
    const { layer } = client((n) => Effect.succeed(results[n - 1] ?? "No"))
    return Effect.gen(function*() {
      const refused = { key: 8, person: Person.make({ name: "", dateOfBirth: "1957-03-14" }) }
      const outcomes = yield* collect(
        Screening.stream(Stream.concat(people(7), Stream.make(refused)), { concurrency: 1 })
      )
      deepStrictEqual(outcomes, [
        "1 NoMatch",
        "2 PotentialMatch",
        "3 Unknown",
        "4 NotScreened",
        "5 Unknown",
        "6 NotScreened",
        "7 NotScreened",
        "8 NotScreened"
      ])
    }).pipe(Effect.provide(layer))
  })

  it.effect("runs as many checks as concurrency allows, and starts the next as soon as one ends", () => {
    const { begun, layer } = client(slowly("1 second"))
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Screening.summary(people(10), { concurrency: 4 }))
      yield* TestClock.adjust("2500 millis")
      deepStrictEqual(begun, [0, 0, 0, 0, 1000, 1000, 1000, 1000, 2000, 2000])
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 10)
    }).pipe(Effect.provide(layer))
  })

  it.effect("starts at most rate checks per second, evenly, with any concurrency", () => {
    const { begun, layer } = client(slowly("10 seconds"))
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Screening.summary(people(9), { concurrency: 50, rate: 4 }))
      yield* TestClock.adjust("12 seconds")
      deepStrictEqual(begun, [0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000])
      strictEqual((yield* Fiber.join(fiber)).noMatch, 9)
    }).pipe(Effect.provide(layer))
  })

  it.effect("spaces the starts evenly also if the input is slow", () => {
    const { begun, layer } = client(clear)
    return Effect.gen(function*() {
      const input = Stream.concat(
        people(1),
        Stream.fromIterableEffect(Effect.delay(Effect.succeed([2, 3].map(person)), "10 seconds"))
      )
      const fiber = yield* Effect.fork(Screening.summary(input, { rate: 1 }))
      yield* TestClock.adjust("20 seconds")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 3)
      // A start that is more than 10 ms late delays the next one by the rest.
      deepStrictEqual(begun, [0, 11_000, 11_990])
    }).pipe(Effect.provide(layer))
  })

  it.effect("starts checks at a rate whose interval is not a number of milliseconds", () => {
    const { begun, layer } = client(clear)
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Screening.summary(people(6), { rate: 3 }))
      yield* TestClock.adjust("2 seconds")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 6)
      deepStrictEqual(begun, [0, 334, 667, 1000, 1334, 1667])
    }).pipe(Effect.provide(layer))
  })

  it.effect("starts checks at its rate, and ends a pause, also if the wall clock is changed", () => {
    const { begun, layer } = client((n) => Effect.succeed(n === 2 ? limited("5 seconds") : "No"))
    return Effect.gen(function*() {
      const { adjust, clock, moveWall } = yield* Clocks.make
      const fiber = yield* Effect.fork(Effect.withClock(Screening.summary(people(4), { rate: 1 }), clock))
      yield* adjust(0)
      yield* moveWall(-3_600_000)
      yield* adjust("1 second")
      strictEqual(begun.length, 2)
      yield* moveWall(7_200_000)
      yield* adjust("4999 millis")
      strictEqual(begun.length, 2)
      yield* adjust("1 minute")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("keeps the order of the input only with order: input", () => {
    const run = (order: "input" | "completion") => {
      const { layer } = client((n) => Effect.delay(clear(), ([3, 1, 2][n - 1] ?? 0) * 1000))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(collect(Screening.stream(people(3), { order, concurrency: 3 })))
        yield* TestClock.adjust("3 seconds")
        return yield* Fiber.join(fiber)
      }).pipe(Effect.provide(layer))
    }
    return Effect.gen(function*() {
      deepStrictEqual(yield* run("completion"), ["2 NoMatch", "3 NoMatch", "1 NoMatch"])
      deepStrictEqual(yield* run("input"), ["1 NoMatch", "2 NoMatch", "3 NoMatch"])
    })
  })

  describe("429", () => {
    it.effect("pauses all checks for as long as the service asks, and loses none", () => {
      const { begun, layer } = client((n) =>
        Effect.delay(Effect.succeed(n === 2 ? limited("5 seconds") : "No" as const), "100 millis")
      )
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(6), { concurrency: 2 }))
        yield* TestClock.adjust("5099 millis")
        deepStrictEqual(begun, [0, 0])
        yield* TestClock.adjust("1 second")
        const { noMatch, total } = yield* Fiber.join(fiber)
        deepStrictEqual([total, noMatch, begun.length], [6, 6, 7])
        assert(begun.slice(2).every((at) => at >= 5100))
      }).pipe(Effect.provide(layer))
    })

    it.effect("without Retry-After pauses for 1 second, doubled with each consecutive pause", () => {
      const { begun, layer } = client((n) => Effect.succeed(n < 5 ? limited() : "No"))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(2), { concurrency: 1 }))
        yield* TestClock.adjust("1 minute")
        strictEqual((yield* Fiber.join(fiber)).noMatch, 2)
        deepStrictEqual(begun, [0, 1000, 3000, 7000, 15_000, 15_000])
      }).pipe(Effect.provide(layer))
    })

    it.effect.each<readonly [string, string]>([
      ["0", "0"],
      ["a date in the past", "Thu, 01 Jan 1970 00:00:00 GMT"]
    ])("with Retry-After %s pauses for 1 second, so that the checks in flight count as one pause", ([, retryAfter]) => {
      const service = Service.make({
        aml: () =>
          Effect.map(
            Effect.delay(Clock.currentTimeMillis, "100 millis"),
            (now) => now < 5000 ? status(429, { "retry-after": retryAfter }) : Service.json(Service.credential())
          )
      })
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(20)))
        yield* TestClock.adjust("1 second")
        strictEqual(service.amlRequests.length, 10)
        yield* TestClock.adjust("1 minute")
        strictEqual((yield* Fiber.join(fiber)).noMatch, 20)
        strictEqual(service.amlRequests.length, 70)
      }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
    })

    it.effect("starts no check during a pause, also if the input is slow", () => {
      const { begun, layer } = client((n) =>
        Effect.delay(Effect.succeed(n === 1 ? limited("1 minute") : "No" as const), "1 second")
      )
      return Effect.gen(function*() {
        const input = Stream.concat(people(1), Stream.fromEffect(Effect.delay(Effect.succeed(person(2)), "5 seconds")))
        const fiber = yield* Effect.fork(Screening.summary(input))
        yield* TestClock.adjust("62 seconds")
        strictEqual((yield* Fiber.join(fiber)).noMatch, 2)
        deepStrictEqual(begun, [0, 61_000, 61_000])
      }).pipe(Effect.provide(layer))
    })

    it.effect("after an accepted check starts again with the first pause", () => {
      const { begun, layer } = client((n) => Effect.succeed(n % 2 === 1 ? limited() : "No"))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(12), { concurrency: 1 }))
        yield* TestClock.adjust("12 seconds")
        strictEqual((yield* Fiber.join(fiber)).noMatch, 12)
        deepStrictEqual(begun.filter((_, i) => i % 2 === 1), Arr.makeBy(12, (i) => 1000 * (i + 1)))
      }).pipe(Effect.provide(layer))
    })

    it.effect("after a response about one person starts again with the first pause", () => {
      const refused = new AmlError.AmlRequestRejected({ status: 422 })
      const { begun, layer } = client((n) => Effect.succeed(n % 2 === 1 ? limited() : refused))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(3), { concurrency: 1 }))
        yield* TestClock.adjust("3 seconds")
        strictEqual((yield* Fiber.join(fiber)).notScreened, 3)
        deepStrictEqual(begun, [0, 1000, 1000, 2000, 2000, 3000])
      }).pipe(Effect.provide(layer))
    })

    it.effect("does not end because of rejected people or an unreachable service", () => {
      const unreachable = new AmlError.AmlUnavailable({ reason: "unreachable", sent: "no" })
      const { begun, layer } = client((n) => Effect.succeed(n % 2 === 0 ? unreachable : limited()))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(1000), { concurrency: 2, stopAfter: Infinity }))
        yield* TestClock.adjust("5 minutes")
        assert(begun.length < 40, `${begun.length} checks`)
        yield* TestClock.adjust("24 hours")
        strictEqual((yield* Fiber.join(fiber)).notScreened, 1000)
      }).pipe(Effect.provide(layer))
    })

    it.effect("that never ends: after ten consecutive pauses each person is checked once and reported", () => {
      const { begun, layer } = client(() => Effect.succeed(limited("1 minute")))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(3), { concurrency: 1 }))
        yield* TestClock.adjust("1 hour")
        deepStrictEqual({ ...yield* Fiber.join(fiber) }, {
          total: 3,
          noMatch: 0,
          doubtfulNo: 0,
          potentialMatch: 0,
          notScreened: 3,
          unknown: 0,
          notBegun: 0
        })
        strictEqual(begun.length, 13)
      }).pipe(Effect.provide(layer))
    })
  })

  describe("a failure that concerns everyone ends the stream", () => {
    const stops: ReadonlyArray<readonly [string, Screening.Stopped]> = [
      ["a rejected key", new TokenError.TokenRejected({ status: 401 })],
      ["403", new AmlError.AmlForbidden({ status: 403 })],
      ["401 after a new token", new AmlError.AmlUnauthorized({ status: 401, renewal: "replayed" })],
      ["a provider that is closed", new TokenError.TokenProviderClosed()]
    ]
    it.effect.each(stops)(
      "%s: no new check starts, checks in progress have an outcome, and the stream fails with the error",
      ([, error]) => {
        const { begun, layer } = client((n) =>
          n === 10 ? Effect.succeed(error) : Effect.delay(clear(), n < 10 ? 0 : "1 second")
        )
        const outcomes: Array<Screening.Outcome<number>> = []
        return Effect.gen(function*() {
          const fiber = yield* Screening.stream(people(1000), { concurrency: 3 }).pipe(
            Stream.runForEach((outcome) => Effect.sync(() => outcomes.push(outcome))),
            Effect.flip,
            Effect.fork
          )
          yield* TestClock.adjust("1 second")
          strictEqual(yield* Fiber.join(fiber), error)
          assert(begun.length < 15, `${begun.length} checks`)
          strictEqual(outcomes.length, begun.length)
          deepStrictEqual(tags(outcomes).filter((tag) => !tag.endsWith("NoMatch")), ["10 NotScreened"])
        }).pipe(Effect.provide(layer))
      }
    )

    it.effect("also if the last check fails with it", () => {
      const error = new AmlError.AmlForbidden({ status: 403 })
      const { layer } = client((n) => Effect.succeed(n === 3 ? error : "No"))
      return Effect.gen(function*() {
        strictEqual(yield* Effect.flip(Screening.summary(people(3))), error)
      }).pipe(Effect.provide(layer))
    })
  })

  it.effect("an error of the input ends it, after the checks in progress", () => {
    const { begun, layer } = client(slowly("1 second"))
    const outcomes: Array<Screening.Outcome<number>> = []
    return Effect.gen(function*() {
      const fiber = yield* Screening.stream(Stream.concat(people(3), Stream.fail("the file is gone" as const))).pipe(
        Stream.runForEach((outcome) => Effect.sync(() => outcomes.push(outcome))),
        Effect.flip,
        Effect.fork
      )
      yield* TestClock.adjust("1 second")
      strictEqual(yield* Fiber.join(fiber), "the file is gone")
      deepStrictEqual([begun.length, outcomes.length], [3, 3])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a defect of the client is not an outcome", () => {
    const { layer } = client((n) => n === 2 ? Effect.die("a bug") : clear())
    return Effect.gen(function*() {
      const exit = yield* Effect.exit(Screening.summary(people(5)))
      assert(Exit.isFailure(exit))
      deepStrictEqual([...Cause.defects(exit.cause)], ["a bug"])
    }).pipe(Effect.provide(layer))
  })

  describe("an interruption", () => {
    const run = (
      gracePeriod: Duration.DurationInput,
      screened = people(1000),
      options: Screening.Options<number> = {}
    ) => {
      const outcomes: Array<Screening.Outcome<number>> = []
      const onOutcome = (outcome: Screening.Outcome<number>) => Effect.sync(() => void outcomes.push(outcome))
      return { outcomes, summary: Screening.summary(screened, { concurrency: 20, gracePeriod, onOutcome, ...options }) }
    }

    it.effect("in the middle of 1,000 people: no new check starts, and all checks in progress have an outcome", () => {
      const { begun, layer } = client((n) => Effect.delay(clear(), 500 + (n * 37) % 1000))
      const { outcomes, summary } = run("30 seconds")
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("20 seconds")
        const atInterruption = begun.length
        assert(atInterruption > 200 && atInterruption < 800, `${atInterruption}`)
        assert(outcomes.length < atInterruption)
        const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* TestClock.adjust("2 seconds")
        assert(Exit.isInterrupted(yield* Fiber.join(interruption)))
        strictEqual(begun.length, atInterruption)
        strictEqual(new Set(outcomes.map(({ key }) => key)).size, begun.length)
        deepStrictEqual(new Set(outcomes.map(({ _tag }) => _tag)), new Set(["NoMatch"]))
      }).pipe(Effect.provide(layer))
    })

    it.effect("a check that exceeds the grace period is unknown", () => {
      const { begun, layer } = client((n) => n <= 5 ? Effect.never : clear())
      const { outcomes, summary } = run("10 seconds", Stream.concat(people(20), Stream.never))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("1 second")
        const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* TestClock.adjust("9999 millis")
        strictEqual(outcomes.length, 15)
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(interruption)
        strictEqual(outcomes.length, begun.length)
        const texts = outcomes.map((outcome) =>
          outcome._tag === "Unknown" ? `${outcome.key} ${outcome.error._tag} ${outcome.error.sent}` : ""
        )
        deepStrictEqual(
          texts.filter((text) => text !== "").sort(),
          [1, 2, 3, 4, 5].map((key) => `${key} AmlTimeout unknown`)
        )
      }).pipe(Effect.provide(layer))
    })

    it.effect("all checks that exceed the grace period end at once, however long `onOutcome` takes", () => {
      const { layer } = client(() => Effect.never)
      const { summary } = run("10 seconds", people(20), { onOutcome: () => Effect.sleep("1 second") })
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("1 second")
        const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* TestClock.adjust("11 seconds")
        strictEqual((yield* Fiber.poll(interruption))._tag, "Some")
      }).pipe(Effect.provide(layer))
    })

    it.effect("starts no check without an outcome, also while it waits for its rate", () => {
      const { begun, layer } = client(clear)
      let taken = 0
      const counted = Stream.tap(people(100), () => Effect.sync(() => taken++))
      const { outcomes, summary } = run("30 seconds", Stream.rechunk(counted, 1), { rate: 1 })
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("10500 millis")
        yield* Fiber.interrupt(fiber)
        deepStrictEqual([taken, outcomes.length], [begun.length, begun.length])
      }).pipe(Effect.provide(layer))
    })

    it.effect.each<readonly [string, Parameters<typeof Service.make>[0], string]>([
      ["waits for a token: not screened", { token: () => Effect.never }, "NotScreened no"],
      ["waits for a response: unknown", { aml: () => Effect.never }, "Unknown unknown"]
    ])("at the end of the grace period, a check that %s", ([, handlers, expected]) => {
      const service = Service.make(handlers)
      const { outcomes, summary } = run("1 second", people(3))
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("1 second")
        const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(interruption)
        deepStrictEqual(
          outcomes.map((outcome) => `${outcome._tag} ${"error" in outcome && Failure.facts(outcome.error).sent}`),
          [expected, expected, expected]
        )
      }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
    })

    it.effect("during a pause after a 429: the rejected check is reported at once, and not after the pause", () => {
      const { layer } = client((n) => Effect.succeed(n === 3 ? limited("1 hour") : "No"))
      const { outcomes, summary } = run("30 seconds")
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(summary)
        yield* TestClock.adjust("1 minute")
        yield* Fiber.interrupt(fiber)
        strictEqual(outcomes.filter(Screening.Outcome.$is("NotScreened")).length, 1)
      }).pipe(Effect.provide(layer))
    })

    it.effect("a consumer that stops early counts as one", () => {
      const { begun, layer } = client((n) => Effect.delay(clear(), n * 1000))
      const stored: Array<number> = []
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(
          Screening.stream(people(1000), {
            concurrency: 4,
            onOutcome: ({ key }) => Effect.sync(() => void stored.push(key))
          }).pipe(Stream.take(2), collect)
        )
        yield* TestClock.adjust("20 seconds")
        deepStrictEqual(yield* Fiber.join(fiber), ["1 NoMatch", "2 NoMatch"])
        strictEqual(stored.length, begun.length)
      }).pipe(Effect.provide(layer))
    })
  })

  it.effect.each(["input", "completion"] as const)(
    "a slow consumer that is interrupted, in order of %s, ends at once",
    (order) => {
      const { begun, layer } = client(clear)
      const stored: Array<number> = []
      return Effect.gen(function*() {
        const fiber = yield* Screening.stream(people(1000), {
          order,
          concurrency: 3,
          onOutcome: ({ key }) => Effect.sync(() => void stored.push(key))
        }).pipe(Stream.runForEach(() => Effect.never), Effect.fork)
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(fiber)
        assert(begun.length < 20)
        strictEqual(stored.length, begun.length)
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("checks within onOutcome are not its own: they are retried as the policy says", () => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.sync(() =>
          count === 2
            ? status(429, { "retry-after": "1" })
            : Service.json(Service.credential())
        )
    })
    return Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      const again: Array<string> = []
      const fiber = yield* Effect.fork(Screening.summary(Stream.make({ key: 1, person: Ada.person }), {
        onOutcome: () =>
          Effect.map(Effect.exit(Effect.flatMap(Ada.person, aml.check)), (exit) => void again.push(exit._tag))
      }))
      yield* TestClock.adjust("5 seconds")
      strictEqual((yield* Fiber.join(fiber)).total, 1)
      deepStrictEqual(again, ["Success"])
      strictEqual(service.amlRequests.length, 3)
    }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
  })

  it.effect("an interruption starts no check that waits for its place in the order", () => {
    const { begun, layer } = client(slowly("1 second"))
    return Effect.gen(function*() {
      const fiber = yield* Screening.stream(people(1000), { order: "input", concurrency: 3 }).pipe(
        Stream.runForEach(() => Effect.never),
        Effect.fork
      )
      // The consumer holds the first outcome. The others wait until it takes the next.
      yield* TestClock.adjust("20 seconds")
      const before = begun.length
      const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(interruption)
      strictEqual(begun.length, before)
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends normally in an uninterruptible region", () => {
    const { layer } = client(slowly("1 second"))
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.uninterruptible(Screening.summary(people(5), { order: "input" })))
      const early = yield* Effect.fork(Effect.uninterruptible(
        Stream.runDrain(Stream.take(Screening.stream(Stream.concat(people(5), Stream.never)), 2))
      ))
      yield* TestClock.adjust("1 second")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 5)
      yield* Fiber.join(early)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a slow consumer slows it down", () => {
    const { begun, layer } = client(clear)
    return Effect.gen(function*() {
      const fiber = yield* Screening.stream(people(1000), { concurrency: 5 }).pipe(
        Stream.runForEach(() => Effect.sleep("1 second")),
        Effect.fork
      )
      yield* TestClock.adjust("3 seconds")
      assert(begun.length < 30, `${begun.length} checks`)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(layer))
  })

  it.effect("progress counts people and outcomes, until no check is in flight", () => {
    const { layer } = client((n) => Effect.delay(Effect.succeed(n % 2 === 0 ? "Potential match" : "No"), n * 100))
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Stream.runCollect(Screening.progress(people(4), { concurrency: 2 })))
      yield* TestClock.adjust("10 seconds")
      const counts = Chunk.toReadonlyArray(yield* Fiber.join(fiber))
      deepStrictEqual(
        counts.map(({ noMatch, potentialMatch }) => [noMatch, potentialMatch]),
        [[1, 0], [1, 1], [2, 1], [2, 2]]
      )
      assert(counts.every(({ underWay }) => underWay >= 0 && underWay <= 3))
      strictEqual(counts.at(-1)?.underWay, 0)
      strictEqual(counts.at(-1)?.total, 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a service of the user that wraps the client keeps the pause after a 429, and what was sent", () => {
    const service = Service.make({
      aml: (_, count) =>
        Effect.sync(() => count === 1 ? status(429, { "retry-after": "10" }) : Service.json(Service.credential()))
    })
    class Audited {
      readonly inner: AmlClient.Service
      readonly people: Array<Person.Person> = []
      constructor(inner: AmlClient.Service) {
        this.inner = inner
      }
      check(person: Person.Person) {
        this.people.push(person)
        return Effect.withSpan(this.inner.check(person), "audited")
      }
    }
    const wrapped = Layer.map(
      Layer.provide(Idv.layer(Service.options), service.layer),
      (context) => Context.make(AmlClient.AmlClient, new Audited(Context.get(context, AmlClient.AmlClient)))
    )
    return Effect.gen(function*() {
      const options = { concurrency: 2, gracePeriod: "1 second" } as const
      const outcomes: Array<Screening.Outcome<number>> = []
      const fiber = yield* Screening.stream(people(5), {
        ...options,
        onOutcome: (outcome) => Effect.sync(() => void outcomes.push(outcome))
      }).pipe(Stream.runDrain, Effect.fork)
      yield* TestClock.adjust("9 seconds")
      // The third person waits, because the 429 pauses the run.
      strictEqual(service.amlRequests.length, 2)
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      strictEqual(service.amlRequests.length, 6)
      deepStrictEqual(outcomes.map(({ _tag }) => _tag), ["NoMatch", "NoMatch", "NoMatch", "NoMatch", "NoMatch"])
    }).pipe(Effect.provide(wrapped))
  })

  it.effect("a check behind a wrapped client that waits for its token is interrupted as not sent", () => {
    const service = Service.make({ token: () => Effect.never })
    const wrapped = Layer.map(
      Layer.provide(Idv.layer(Service.options), service.layer),
      (context) => {
        const { check } = Context.get(context, AmlClient.AmlClient)
        return Context.make(AmlClient.AmlClient, { check: (person) => Effect.withSpan(check(person), "audited") })
      }
    )
    return Effect.gen(function*() {
      const outcomes: Array<Screening.Outcome<number>> = []
      const fiber = yield* Screening.stream(people(1), {
        gracePeriod: "1 second",
        onOutcome: (outcome) => Effect.sync(() => void outcomes.push(outcome))
      }).pipe(Stream.runDrain, Effect.fork)
      yield* TestClock.adjust("1 millis")
      const interruption = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(interruption)
      deepStrictEqual(
        outcomes.map((outcome) => [outcome._tag, "error" in outcome && Failure.facts(outcome.error).sent]),
        [["NotScreened", "no"]]
      )
    }).pipe(Effect.provide(wrapped))
  })

  it.effect.each<[string, (check: ReturnType<AmlClient.Service["check"]>) => ReturnType<AmlClient.Service["check"]>]>([
    ["after its deadline", (check) => AmlClient.withPolicy(check, { deadline: "1 second" })],
    [
      "after an interruption",
      (check) =>
        Effect.timeoutFail(check, {
          duration: "1 second",
          onTimeout: () => new AmlError.AmlTimeout({ sent: "no", deadline: Duration.seconds(1) })
        })
    ]
  ])(
    "a check that a wrapped client repeats %s is Unknown, if the first may have arrived",
    ([, limit]) =>
      Effect.gen(function*() {
        for (const second of [Service.failing({ code: "ECONNREFUSED", syscall: "connect" }), undefined]) {
          const service = Service.make({
            aml: (received, count, request) =>
              count === 1 ? Effect.never : (second ?? status429)(received, count, request)
          })
          const repeating = Layer.map(
            Layer.provide(Idv.layer({ ...Service.options, retry: "never" }), service.layer),
            (context) => {
              const { check } = Context.get(context, AmlClient.AmlClient)
              return Context.make(AmlClient.AmlClient, {
                check: (person: Person.Person) => Effect.orElse(limit(check(person)), () => check(person))
              })
            }
          )
          const outcomes: Array<Screening.Outcome<number>> = []
          const fiber = yield* Screening.stream(people(1), {
            gracePeriod: 0,
            onOutcome: (outcome) => Effect.sync(() => void outcomes.push(outcome))
          }).pipe(Stream.runDrain, Effect.provide(repeating), Effect.fork)
          yield* TestClock.adjust("2 seconds")
          yield* Fiber.interrupt(fiber)
          strictEqual(service.amlRequests.length, 2)
          deepStrictEqual(
            outcomes.map((outcome) => [outcome._tag, "error" in outcome && Failure.facts(outcome.error).sent]),
            [["Unknown", "unknown"]]
          )
        }
      })
  )

  it.effect("an empty input has no outcomes", () =>
    Effect.gen(function*() {
      const summary = yield* Screening.summary(Stream.empty)
      deepStrictEqual({ ...summary }, {
        total: 0,
        noMatch: 0,
        doubtfulNo: 0,
        potentialMatch: 0,
        notScreened: 0,
        unknown: 0,
        notBegun: 0
      })
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))

  it.effect("with retry: always, a 429 after a lost response pauses all checks too", () => {
    const service = Service.make({
      aml: (received, count, request) =>
        count % 2 === 1
          ? Service.failing({ code: "ECONNRESET" })(received, count, request)
          : Effect.sync(() => new Response(null, { status: 429, headers: { "retry-after": "60" } }))
    })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Screening.summary(people(20), { concurrency: 1 }))
      yield* TestClock.adjust("50 seconds")
      strictEqual(service.amlRequests.length, 2)
      yield* TestClock.adjust("24 hours")
      yield* Fiber.join(fiber)
    }).pipe(
      Effect.provide(Layer.provide(Idv.layer({ ...Service.options, retry: "always" }), service.layer))
    )
  })

  it.effect("a refused connection is retried within the check", () => {
    const service = Service.make({
      aml: (received, count, request) =>
        count === 1
          ? Service.failing({ code: "ECONNREFUSED" })(received, count, request)
          : Effect.sync(() => Service.json(Service.credential()))
    })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Screening.summary(people(1), { concurrency: 1 }))
      yield* TestClock.adjust("5 seconds")
      strictEqual((yield* Fiber.join(fiber)).noMatch, 1)
      strictEqual(service.amlRequests.length, 2)
    }).pipe(Effect.provide(Layer.provide(Idv.layer(Service.options), service.layer)))
  })

  it.effect("with retry: always, a failure that concerns everyone ends the run also after a lost response", () => {
    const service = Service.make({
      aml: (received, count, request) =>
        count === 1
          ? Service.failing({ code: "ECONNRESET" })(received, count, request)
          : Effect.sync(() => new Response(null, { status: 403 }))
    })
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Screening.summary(people(20), { concurrency: 1 })))
      yield* TestClock.adjust("5 seconds")
      strictEqual((yield* Fiber.join(fiber))._tag, "AmlForbidden")
      strictEqual(service.amlRequests.length, 2)
    }).pipe(
      Effect.provide(Layer.provide(Idv.layer({ ...Service.options, retry: "always" }), service.layer))
    )
  })

  describe("with retry: always, a lost response makes the outcome Unknown also if", () => {
    const lost = Service.failing({ code: "ECONNRESET" })
    const refused = Service.failing({ code: "ECONNREFUSED" })
    const limitsFor = (seconds: number): Service.Handler => () =>
      Effect.sync(() => status(429, { "retry-after": `${seconds}` }))
    const limits = limitsFor(1)
    const forbids: Service.Handler = () => Effect.sync(() => status(403))

    /** Screens one person, whose n-th request has the n-th handler, or the last, and interrupts the run at the end. */
    const outcomeOf = (...handlers: ReadonlyArray<Service.Handler>) => {
      const service = Service.make({
        aml: (received, count, request) => (handlers[count - 1] ?? handlers.at(-1) ?? lost)(received, count, request)
      })
      const outcomes: Array<Screening.Outcome<number>> = []
      return Effect.gen(function*() {
        const fiber = yield* Effect.fork(Screening.summary(people(1), {
          gracePeriod: 0,
          onOutcome: (outcome) => Effect.sync(() => void outcomes.push(outcome))
        }))
        yield* TestClock.adjust("30 minutes")
        yield* Fiber.interrupt(fiber)
        return outcomes.map((outcome) => "error" in outcome ? `${outcome._tag} ${outcome.error._tag}` : outcome._tag)
      }).pipe(
        Effect.provide(Layer.provide(Idv.layer({ ...Service.options, retry: "always" }), service.layer))
      )
    }

    it.effect.each<readonly [string, ReadonlyArray<Service.Handler>]>([
      ["a 429 and refused connections follow", [lost, limits, refused]],
      ["429s follow until the check is not retried", [lost, limits]],
      ["the run is interrupted during the pause after a 429", [lost, limitsFor(3600)]],
      ["a 403 follows", [lost, forbids]],
      ["three 429s and a 403 follow", [lost, limits, limits, limits, forbids]]
    ])("%s", ([, handlers]) =>
      Effect.gen(function*() {
        deepStrictEqual(yield* outcomeOf(...handlers), ["Unknown AmlUnavailable"])
      }))

    it.effect("but not after a result", () =>
      Effect.gen(function*() {
        const result: Service.Handler = () => Effect.sync(() => Service.json(Service.credential()))
        deepStrictEqual(yield* outcomeOf(lost, limits, result), ["NoMatch"])
      }))

    it.effect("and a 429 or a 403 alone does not", () =>
      Effect.gen(function*() {
        deepStrictEqual(yield* outcomeOf(limits), ["NotScreened AmlRateLimited"])
        deepStrictEqual(yield* outcomeOf(limits, refused), ["NotScreened AmlUnavailable"])
        deepStrictEqual(yield* outcomeOf(limits, forbids), ["NotScreened AmlForbidden"])
      }))
  })

  it.effect("an unknown option is reported", () =>
    Effect.gen(function*() {
      const options = { concurrency: 3, concurency: 3 }
      const error = yield* Effect.flip(Screening.summary(people(1), options))
      strictEqual(String(error), "(Invalid data at concurency: \"should be no such field\")")
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))

  it.effect("invalid options are all named at once, before the input is read", () => {
    const { begun, layer } = client(clear)
    return Effect.gen(function*() {
      const error = yield* Effect.flip(
        Screening.summary(people(3), { concurrency: 0, rate: -1, gracePeriod: "-5 seconds", stopAfter: 0 })
      )
      strictEqual(
        String(error),
        "(Invalid data at concurrency: \"should be an integer over 0\") and " +
          "(Invalid data at rate: \"should be a number over 0\") and " +
          "(Invalid data at gracePeriod: \"should be a duration of at most 2147483647 ms (24.8 days), such as \"30 seconds\"\") and " +
          "(Invalid data at stopAfter: \"should be an integer over 0, or Infinity\")"
      )
      strictEqual(begun.length, 0)
    }).pipe(Effect.provide(layer))
  })
})
