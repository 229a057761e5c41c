/**
 * Screening many people: a `Stream` of people in, a `Stream` of outcomes out, and a summary that
 * accounts for everyone.
 *
 * - **One person's failure is an outcome** and never ends the stream. A failure that concerns everyone
 *   ends it, such as a rejected key, 403, or a wrong address, and so do 50 failures in a row that say
 *   nothing about the person, such as 500.
 * - **429 pauses all**, for as long as the service asks, and whoever met it is tried again.
 * - **Memory is flat**, whatever the number of people: as many are under way as `concurrency` says.
 * - **An interruption** takes no new people, and lets what was sent finish within a grace period.
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
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AmlClient from "./AmlClient.ts"
import * as AmlCredential from "./AmlCredential.ts"
import * as AmlError from "./AmlError.ts"
import type { Evidence } from "./Evidence.ts"
import * as Failure from "./Failure.ts"
import * as Attempts from "./internal/attempts.ts"
import * as ConfigErrors from "./internal/configErrors.ts"
import * as Graceful from "./internal/drain.ts"
import * as EndOfRun from "./internal/endOfRun.ts"
import * as Pacer from "./internal/pacer.ts"
import * as ScreeningSettings from "./internal/screeningSettings.ts"
import type { Person } from "./Person.ts"

/**
 * Somebody to be screened.
 *
 * - `key`: yours, to know them by. Name and year of birth are not enough: in large lists some share
 *   them.
 * - `person`: a person, or the effect of `Person.make`, whose refusal is then an outcome.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry<out K> {
  readonly key: K
  readonly person: Person | Effect.Effect<Person, AmlError.AmlInputRejected>
}

/**
 * What became of somebody.
 *
 * - `NoMatch`, `PotentialMatch`: what the service said, with its evidence.
 * - `NotScreened`: there is no result, and the error says why.
 * - `Unknown`: it was sent and no answer came. It may have been performed, and billed.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome<K> = Data.TaggedEnum<{
  NoMatch: { readonly key: K; readonly evidence: Evidence }
  PotentialMatch: { readonly key: K; readonly evidence: Evidence }
  NotScreened: { readonly key: K; readonly error: Failure.Failure }
  Unknown: { readonly key: K; readonly error: AmlError.AmlUnavailable | AmlError.AmlTimeout }
}>

interface OutcomeDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Outcome<this["A"]>
}

/**
 * The constructors of an outcome, `$is`, and `$match`, which must handle all four.
 *
 * @category constructors
 * @since 0.1.0
 */
export const Outcome = Data.taggedEnum<OutcomeDefinition>()

/**
 * Why a stream ended early: a failure that concerns everyone, or the last of too many in a row that say
 * nothing about the person. `Failure.facts` tells which.
 *
 * @category errors
 * @since 0.1.0
 */
export type Stopped = EndOfRun.Stopped

/**
 * - `concurrency`: how many are under way at once; 10 by default.
 * - `rate`: how many are begun in a second at most, evenly spaced; without limit by default.
 * - `order`: `input`, as the people came, or `completion`, which is the default and never waits.
 * - `gracePeriod`: how long, after an interruption, what was sent may take to finish; 30 seconds by
 *   default. What does not is `Unknown`.
 * - `onOutcome`: run for each outcome before it is emitted, and also for those that are not emitted
 *   any more because of an interruption: the place to store them. It is waited for, also after the
 *   grace period; a defect in it ends the stream.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<in K, out R = never> {
  readonly concurrency?: number | undefined
  readonly rate?: number | undefined
  readonly order?: "input" | "completion" | undefined
  readonly gracePeriod?: Duration.DurationInput | undefined
  readonly onOutcome?: ((outcome: Outcome<K>) => Effect.Effect<void, never, R>) | undefined
  /**
   * After how many failures in a row the stream ends, where each of them says nothing about the
   * person (`concerns: "service"` of `Failure.facts`): the service is down. `Infinity` for never. A
   * result ends the row, and so does an answer about one person. Input that is refused does neither.
   *
   * @default 50
   */
  readonly stopAfter?: number | undefined
}

/**
 * An outcome for each of the people.
 *
 * Fails with what the people fail with, after those who were under way have their outcome; with
 * {@link Stopped}, after the same; or with a `ConfigError` that names the options that make no sense.
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
 *     PotentialMatch: ({ key }) => Console.log(key, "review"),
 *     NotScreened: ({ error, key }) => Console.log(key, "again later", error.message),
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
  screened(people, options, { onTaken: constVoid, onNotBegun: constVoid })

type Counting = Pick<Graceful.Options<never>, "onTaken" | "onNotBegun">

/** Calls `onTaken` for each person as they are begun, and `onNotBegun` if the run ends early. */
const screened = <K, E, R, R2>(
  people: Stream.Stream<Entry<K>, E, R>,
  { onOutcome = () => Effect.void, ...options }: Options<K, R2> = {},
  counting: Counting
): Stream.Stream<Outcome<K>, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Either.match(ScreeningSettings.decode(options), {
    onLeft: (violations) => Stream.fail(ConfigErrors.fromViolations([])(violations)),
    onRight: (settings) => Stream.unwrap(run(people, { ...settings, ...counting, onOutcome }))
  })

/** If nobody is accepted between so many pauses, whoever comes next is tried once. */
const maxPausesInARow = 10

const run = <K, E, R, R2>(
  people: Stream.Stream<Entry<K>, E, R>,
  settings: ScreeningSettings.ScreeningSettings & Counting & {
    readonly onOutcome: (outcome: Outcome<K>) => Effect.Effect<void, never, R2>
  }
) =>
  Effect.gen(function*() {
    const { gracePeriod, onOutcome, rate, stopAfter } = settings
    const aml = yield* AmlClient.AmlClient
    const pacer = Pacer.make(rate)
    const stop = yield* Deferred.make<never, Stopped>()
    const reasonToStop = EndOfRun.make(stopAfter)

    const personOf = ({ person }: Entry<K>) => Effect.isEffect(person) ? person : Effect.succeed(person)

    /** Whether there is another turn, before the end of the run. */
    const anotherTurn = Effect.raceFirst(
      Effect.as(pacer.turn, true),
      Effect.as(Effect.exit(Deferred.await(stop)), false)
    )

    /** In a fiber of its own. */
    const screen = (entry: Entry<K>): Effect.Effect<Outcome<K>, never, R2> =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const watched = new Attempts.Watch()
          yield* Attempts.watchedBy(watched)
          const check = Effect.flatMap(personOf(entry), (person) => {
            watched.isBegun = true
            return aml.checkWithEvidence(person)
          })
          const late = () => new AmlError.AmlTimeout({ sent: watched.sentEver, deadline: gracePeriod })
          let exit = yield* Effect.exit(restore(check))
          for (let limited = rateLimit(exit); limited !== undefined; limited = rateLimit(exit)) {
            const pauses = yield* pacer.pause(limited.retryAfter)
            const again = pauses > maxPausesInARow ? Exit.succeed(false) : yield* Effect.exit(restore(anotherTurn))
            if (!Exit.isSuccess(again) || !again.value) break
            exit = yield* Effect.exit(restore(check))
          }
          if (isAccepted(exit)) pacer.accepted()
          const outcome = yield* outcomeOf(entry.key, exit, late)
          const reason = reasonToStop("error" in outcome ? outcome.error : undefined)
          if (reason !== undefined) yield* Deferred.fail(stop, reason)
          // It runs in the same fiber, and may have checks of its own.
          yield* Attempts.watchedBy(undefined)
          yield* onOutcome(outcome)
          return outcome
        })
      )

    return Graceful.map(people, screen, { ...settings, stop, turn: pacer.turn })
  })

type CheckExit = Exit.Exit<Evidence, Failure.Failure>

const failureOf = (exit: CheckExit): Failure.Failure | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined

const rateLimit = (exit: CheckExit): AmlError.AmlRateLimited | undefined => {
  const error = failureOf(exit)
  return error?._tag === "AmlRateLimited" ? error : undefined
}

/** Whether the service answered, and with something else than 429. */
const isAccepted = (exit: CheckExit): boolean => {
  const error = failureOf(exit)
  return Exit.isSuccess(exit) ||
    (error !== undefined && error._tag !== "AmlRateLimited" && Failure.facts(error).sent === "answered")
}

/** `late` makes the failure of a check that was interrupted, at the end of the grace period. A defect stays one. */
const outcomeOf = <K>(key: K, exit: CheckExit, late: () => AmlError.AmlTimeout): Effect.Effect<Outcome<K>> => {
  if (Exit.isSuccess(exit)) {
    const evidence = exit.value
    return Effect.succeed(AmlCredential.match(evidence.credential, {
      onNo: () => Outcome.NoMatch({ key, evidence }),
      onPotentialMatch: () => Outcome.PotentialMatch({ key, evidence })
    }))
  }
  const error = failureOf(exit) ?? (Cause.isInterruptedOnly(exit.cause) ? late() : undefined)
  if (error === undefined) return Effect.die(Cause.squash(exit.cause))
  const isUnknown = (error._tag === "AmlUnavailable" || error._tag === "AmlTimeout") && error.sent === "unknown"
  return Effect.succeed(isUnknown ? Outcome.Unknown({ key, error }) : Outcome.NotScreened({ key, error }))
}

/**
 * How many people there were, and what became of them. `underWay` are those without an outcome yet.
 * `notBegun` counts the people that the input had already given when the run ended early. The run then reads no more
 * input, so the people that follow are in no count.
 *
 * @category models
 * @since 0.1.0
 */
export class Summary extends Schema.Class<Summary>("@effect-idv/core/Screening/Summary")({
  total: Schema.NonNegativeInt,
  noMatch: Schema.NonNegativeInt,
  potentialMatch: Schema.NonNegativeInt,
  notScreened: Schema.NonNegativeInt,
  unknown: Schema.NonNegativeInt,
  notBegun: Schema.NonNegativeInt
}) {
  get underWay(): number {
    return this.total - this.noMatch - this.potentialMatch - this.notScreened - this.unknown - this.notBegun
  }
}

const fields = {
  NoMatch: "noMatch",
  PotentialMatch: "potentialMatch",
  NotScreened: "notScreened",
  Unknown: "unknown"
} as const

/** Outcomes, and their counts: people as they come in, and outcomes by `count` as they go out. */
const tallied = <K, E, R, R2>(people: Stream.Stream<Entry<K>, E, R>, options: Options<K, R2> | undefined) => {
  const counts = { total: 0, noMatch: 0, potentialMatch: 0, notScreened: 0, unknown: 0, notBegun: 0 }
  return {
    outcomes: screened(people, options, {
      onTaken: () => {
        counts.total++
      },
      onNotBegun: (count) => {
        counts.total += count
        counts.notBegun += count
      }
    }),
    count: (outcome: Outcome<K>): void => {
      counts[fields[outcome._tag]]++
    },
    summary: () => new Summary(counts)
  }
}

/**
 * The counts so far, after each outcome. People are counted as they come in and outcomes as they go
 * out, so the last has nobody under way. If the run ends early, the last counts come before the error,
 * with the people who were not begun.
 *
 * @category screening
 * @since 0.1.0
 */
export const progress = <K, E, R, R2 = never>(
  people: Stream.Stream<Entry<K>, E, R>,
  options?: Options<K, R2>
): Stream.Stream<Summary, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Stream.suspend(() => {
    const { count, outcomes, summary } = tallied(people, options)
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
 * The counts at the end. That everybody has an outcome is proved, and not assumed: else it is a
 * defect. A run that ends early fails; {@link progress} has its counts.
 *
 * @category screening
 * @since 0.1.0
 */
export const summary = <K, E, R, R2 = never>(
  people: Stream.Stream<Entry<K>, E, R>,
  options?: Options<K, R2>
): Effect.Effect<Summary, E | Stopped | ConfigError.ConfigError, AmlClient.AmlClient | R | R2> =>
  Effect.suspend(() => {
    const { count, outcomes, summary } = tallied(people, options)
    return Effect.map(
      Stream.runForEachChunk(outcomes, (chunk) => Effect.sync(() => Chunk.forEach(chunk, count))),
      summary
    )
  }).pipe(
    Effect.filterOrDieMessage(({ underWay }) => underWay === 0, "Somebody has no outcome")
  )
