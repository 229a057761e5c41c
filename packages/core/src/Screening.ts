/**
 * Screens many people: takes a `Stream` of people and returns a `Stream` of outcomes, or a summary in which every
 * person is counted.
 *
 * - **One person's failure is an outcome** and never ends the stream. The stream ends early after a failure that
 *   concerns everyone, such as a rejected key, 403, or a wrong address, and after 50 consecutive failures that concern
 *   the service, such as 500.
 * - **429 pauses all checks** for as long as the service asks, and the rejected check is retried.
 * - **Memory use is constant**, whatever the number of people: `concurrency` limits the checks in flight.
 * - **An interruption** starts no new checks, and lets the checks in flight finish within a grace period.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import type * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import { constVoid } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AmlCheck from "./AmlCheck.ts"
import * as AmlClient from "./AmlClient.ts"
import * as AmlError from "./AmlError.ts"
import type * as Failure from "./Failure.ts"
import * as PacedCheck from "./internal/check/pacedCheck.ts"
import * as Drain from "./internal/screening/drain.ts"
import * as EndOfRun from "./internal/screening/endOfRun.ts"
import * as Pacer from "./internal/screening/pacer.ts"
import * as ScreeningSettings from "./internal/screening/screeningSettings.ts"
import type { Person } from "./Person.ts"

/**
 * A person to screen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry<out K> {
  /** Your identifier of the person. Do not use name and year of birth: in large lists some people share both. */
  readonly key: K
  /** A person, or the effect of `Person.make`. If that rejects the input, the outcome is `NotScreened`. */
  readonly person: Person | Effect.Effect<Person, AmlError.AmlInputRejected>
}

/**
 * The outcome for one person.
 *
 * - `NoMatch`, `DoubtfulNo`, `PotentialMatch`: the result, with its evidence.
 * - `NotScreened`: there is no result. The error says why.
 * - `Unknown`: the check was sent and no response arrived. The service may have performed and billed it.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome<K> = Data.TaggedEnum<{
  NoMatch: { readonly key: K; readonly check: AmlCheck.AmlCheck }
  DoubtfulNo: { readonly key: K; readonly check: AmlCheck.AmlCheck }
  PotentialMatch: { readonly key: K; readonly check: AmlCheck.AmlCheck }
  NotScreened: { readonly key: K; readonly error: Failure.Failure }
  Unknown: { readonly key: K; readonly error: AmlError.AmlUnavailable | AmlError.AmlTimeout }
}>

interface OutcomeDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Outcome<this["A"]>
}

/**
 * The constructors of the five outcomes, `$is`, and `$match`, which must handle all five.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Outcome = Data.taggedEnum<OutcomeDefinition>()

/**
 * Why a stream ended early: a failure that concerns everyone, or the last of too many consecutive failures that concern
 * the service. `Failure.facts` returns which.
 *
 * @category errors
 * @since 0.1.0
 */
export type Stopped = EndOfRun.Stopped

/**
 * The options of a screening.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<in K, out R = never> {
  /**
   * Number of checks in flight at once.
   *
   * @default 10
   */
  readonly concurrency?: number | undefined
  /**
   * Maximum number of checks to start per second, evenly spaced. Without it there is no limit.
   *
   * @default undefined
   */
  readonly rate?: number | undefined
  /**
   * The order of the outcomes: the order of the people (`input`), or the order in which the checks finish
   * (`completion`). Only `input` buffers outcomes.
   *
   * @default "completion"
   */
  readonly order?: "input" | "completion" | undefined
  /**
   * How long checks in flight may take to finish after an interruption. A check that has not finished by then ends as
   * `Unknown` if its request was sent, otherwise as `NotScreened`.
   *
   * @default "30 seconds"
   */
  readonly gracePeriod?: Duration.DurationInput | undefined
  /**
   * Runs for every outcome before the stream emits it. Store the outcomes here, because an interrupted stream does not
   * emit all of them. The stream waits for this effect, also after the grace period. A defect in this effect ends the
   * stream.
   *
   * @default () => Effect.void
   */
  readonly onOutcome?: ((outcome: Outcome<K>) => Effect.Effect<void, never, R>) | undefined
  /**
   * Number of consecutive failures that concern the service (`concerns: "service"` of `Failure.facts`) after which the
   * stream ends, because the service is down. `Infinity` means never. A result resets the count, and so does a failure
   * that concerns the person. Rejected input leaves the count unchanged.
   *
   * @default 50
   */
  readonly stopAfter?: number | undefined
}

/**
 * Screens the people and emits one outcome for each.
 *
 * If the input fails, or a failure stops the run ({@link Stopped}), the stream first emits the outcomes of the checks
 * in flight, and then fails with that error. It fails with a `ConfigError` that names every invalid option before it
 * reads the input.
 *
 * You may wrap the `AmlClient` of this library in a service of your own. If a client of yours does not use it, every
 * check that is interrupted after its start is `Unknown`.
 *
 * @example
 * import { Person, Screening } from "@effect-idv/core"
 * import { Console, Stream } from "effect"
 *
 * const people = Stream.make(
 *   { key: 4711, person: Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }) }
 * )
 * const program = Screening.stream(people, { concurrency: 20, rate: 50 }).pipe(
 *   Stream.runForEach(Screening.Outcome.$match({
 *     NoMatch: ({ key }) => Console.log(key, "clear"),
 *     DoubtfulNo: ({ check, key }) => Console.log(key, "review", ...check.warnings),
 *     PotentialMatch: ({ key }) => Console.log(key, "review"),
 *     NotScreened: ({ error, key }) => Console.log(key, "not screened", error.message),
 *     Unknown: ({ error, key }) => Console.log(key, "may have been billed", error.message)
 *   }))
 * )
 *
 * @category screening
 * @since 0.1.0
 */
export const stream = <K, E, R, R2 = never>(
  people: Stream.Stream<Entry<K>, E, R>,
  options?: Options<K, R2>
): Stream.Stream<Outcome<K>, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  screenAll(people, options, { onTaken: constVoid, onNotStarted: constVoid })

type CountingHooks = Pick<Drain.Options<never>, "onTaken" | "onNotStarted">

const screenAll = <K, E, R, R2>(
  people: Stream.Stream<Entry<K>, E, R>,
  { onOutcome = () => Effect.void, ...options }: Options<K, R2> = {},
  counters: CountingHooks
): Stream.Stream<Outcome<K>, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Either.match(ScreeningSettings.check(options), {
    onLeft: Stream.fail,
    onRight: (settings) => Stream.unwrap(run(people, { ...settings, ...counters, onOutcome }))
  })

/** The number of consecutive pauses after which a check that receives a 429 is not retried. */
const maxConsecutivePauses = 10

const run = <K, E, R, R2>(
  people: Stream.Stream<Entry<K>, E, R>,
  settings: ScreeningSettings.ScreeningSettings & CountingHooks & {
    readonly onOutcome: (outcome: Outcome<K>) => Effect.Effect<void, never, R2>
  }
) =>
  Effect.gen(function*() {
    const { gracePeriod, onOutcome, rate, stopAfter } = settings
    const aml = yield* AmlClient.AmlClient
    const pacer = Pacer.make(rate)
    const stop = yield* Deferred.make<never, Stopped>()
    const recordAndDecide = EndOfRun.make(stopAfter)

    const personOf = ({ person }: Entry<K>) => Effect.isEffect(person) ? person : Effect.succeed(person)

    /** Waits until the check may be sent again. Returns `false` if the run ends first. */
    const waitForRetrySlot = Effect.raceFirst(
      Effect.as(pacer.takeSlot, true),
      Effect.as(Effect.exit(Deferred.await(stop)), false)
    )

    const screen = (entry: Entry<K>): Effect.Effect<Outcome<K>, never, R2> =>
      Effect.suspend(() => {
        const sentStatus = new PacedCheck.SentStatus()
        const runCheck = Effect.exit(Effect.interruptible(Effect.flatMap(personOf(entry), (person) => {
          sentStatus.markStarted()
          return Effect.provideService(aml.check(person), PacedCheck.Current, sentStatus)
        })))

        const retry = Effect.fnUntraced(function*(firstExit: EndOfRun.CheckExit) {
          let exit = firstExit
          for (
            let rateLimitError = EndOfRun.rateLimitOf(exit);
            rateLimitError !== undefined;
            rateLimitError = EndOfRun.rateLimitOf(exit)
          ) {
            const pauses = yield* pacer.pause(rateLimitError.retryAfter)
            if (pauses > maxConsecutivePauses) break
            const slot = yield* Effect.exit(Effect.interruptible(waitForRetrySlot))
            if (!Exit.isSuccess(slot) || !slot.value) break
            exit = yield* runCheck
          }
          return exit
        })

        const conclude = (exit: EndOfRun.CheckExit): Effect.Effect<Outcome<K>, never, R2> => {
          if (EndOfRun.hasResponseOtherThan429(exit)) pacer.resetPauses()
          const failure = EndOfRun.failureOf(exit) ?? (EndOfRun.isInterrupted(exit)
            ? new AmlError.AmlTimeout({ sent: sentStatus.sent, deadline: gracePeriod })
            : undefined)
          const outcome = outcomeOf(
            entry.key,
            exit,
            failure === undefined ? failure : sentStatus.leastCertainOf(failure)
          )
          if (Either.isLeft(outcome)) return Effect.die(Cause.squash(outcome.left))
          const reason = recordAndDecide(failure)
          const recorded = Effect.as(onOutcome(outcome.right), outcome.right)
          return reason === undefined ? recorded : Effect.zipRight(Deferred.fail(stop, reason), recorded)
        }

        return Effect.flatMap(
          runCheck,
          (exit) => EndOfRun.rateLimitOf(exit) === undefined ? conclude(exit) : Effect.flatMap(retry(exit), conclude)
        )
      })

    return Drain.map(people, screen, { ...settings, stop, awaitSlot: pacer.awaitSlot, takeSlot: pacer.takeSlot })
  })

/** `error` is the failure to report, or `undefined` after a result or a defect. A defect is returned as its cause. */
const outcomeOf = <K>(
  key: K,
  exit: EndOfRun.CheckExit,
  error: Failure.Failure | undefined
): Either.Either<Outcome<K>, Cause.Cause<Failure.Failure>> => {
  if (Exit.isSuccess(exit)) {
    return Either.right(AmlCheck.match(exit.value, {
      onNo: (check) => Outcome.NoMatch({ key, check }),
      onDoubtfulNo: (check) => Outcome.DoubtfulNo({ key, check }),
      onPotentialMatch: (check) => Outcome.PotentialMatch({ key, check })
    }))
  }
  if (error === undefined) return Either.left(exit.cause)
  const isUnknown = (error._tag === "AmlUnavailable" || error._tag === "AmlTimeout") && error.sent === "unknown"
  return Either.right(isUnknown ? Outcome.Unknown({ key, error }) : Outcome.NotScreened({ key, error }))
}

/**
 * The number of people, in total and by outcome.
 *
 * `notBegun` counts the people that were read from the input, but whose check had not started when the run ended early.
 * The run then reads no more input, so later people are not counted at all. `underWay` counts the people without an
 * outcome yet.
 *
 * @category models
 * @since 0.1.0
 */
export class Summary extends Schema.Class<Summary>("@effect-idv/core/Screening/Summary")({
  total: Schema.NonNegativeInt,
  noMatch: Schema.NonNegativeInt,
  doubtfulNo: Schema.NonNegativeInt,
  potentialMatch: Schema.NonNegativeInt,
  notScreened: Schema.NonNegativeInt,
  unknown: Schema.NonNegativeInt,
  notBegun: Schema.NonNegativeInt
}) {
  get underWay(): number {
    const { doubtfulNo, noMatch, notBegun, notScreened, potentialMatch, total, unknown } = this
    return total - noMatch - doubtfulNo - potentialMatch - notScreened - unknown - notBegun
  }
}

const counterOf = {
  NoMatch: "noMatch",
  DoubtfulNo: "doubtfulNo",
  PotentialMatch: "potentialMatch",
  NotScreened: "notScreened",
  Unknown: "unknown"
} as const

const makeCounts = () => {
  const counts = { total: 0, noMatch: 0, doubtfulNo: 0, potentialMatch: 0, notScreened: 0, unknown: 0, notBegun: 0 }
  return {
    onTaken: (): void => {
      counts.total++
    },
    onNotStarted: (count: number): void => {
      counts.total += count
      counts.notBegun += count
    },
    count: (outcome: keyof typeof counterOf): void => {
      counts[counterOf[outcome]]++
    },
    read: () => ({ ...counts })
  }
}

/**
 * Returns the outcomes, and a summary of the counts. A person is counted when read from the input, and an outcome when
 * `count` is called with it.
 */
const screenAndCount = <K, E, R, R2>(people: Stream.Stream<Entry<K>, E, R>, options: Options<K, R2> | undefined) => {
  const counts = makeCounts()
  return {
    outcomes: screenAll(people, options, counts),
    count: ({ _tag }: Outcome<K>) => counts.count(_tag),
    summary: () => new Summary(counts.read())
  }
}

/**
 * Screens the people and emits the counts so far after each outcome. When it emits the last counts, all started checks
 * have ended (`underWay` is 0). If the run ends early, the last counts precede the error, and include the people whose
 * check did not start.
 *
 * @category screening
 * @since 0.1.0
 */
export const progress = <K, E, R, R2 = never>(
  people: Stream.Stream<Entry<K>, E, R>,
  options?: Options<K, R2>
): Stream.Stream<Summary, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Stream.suspend(() => {
    const { count, outcomes, summary } = screenAndCount(people, options)
    return Stream.map(outcomes, (outcome) => {
      count(outcome)
      return summary()
    }).pipe(
      Stream.catchAll((error) => {
        const last = summary()
        return Stream.concat(last.notBegun === 0 ? Stream.empty : Stream.succeed(last), Stream.fail(error))
      })
    )
  })

/**
 * Screens the people and returns the counts at the end. A person without an outcome is a defect. If the run ends early,
 * this fails without counts; {@link progress} emits them.
 *
 * @category screening
 * @since 0.1.0
 */
export const summary = <K, E, R, R2 = never>(
  people: Stream.Stream<Entry<K>, E, R>,
  options?: Options<K, R2>
): Effect.Effect<Summary, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Effect.suspend(() => {
    const { count, outcomes, summary } = screenAndCount(people, options)
    return Effect.map(
      Stream.runForEachChunk(outcomes, (chunk) => Effect.sync(() => Chunk.forEach(chunk, count))),
      summary
    )
  }).pipe(
    Effect.filterOrDieMessage(({ underWay }) => underWay === 0, "Screening: a person has no outcome")
  )
