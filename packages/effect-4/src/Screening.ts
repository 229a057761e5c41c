/**
 * Screens many people: takes a `Stream` of people and returns a `Stream` of outcomes.
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
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { AmlCheck } from "./AmlCheck.ts"
import * as AmlClient from "./AmlClient.ts"
import type * as AmlError from "./AmlError.ts"
import type * as Failure from "./Failure.ts"
import * as Screenings from "./internal/engine/screenings.ts"
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
  NoMatch: { readonly key: K; readonly check: AmlCheck }
  DoubtfulNo: { readonly key: K; readonly check: AmlCheck }
  PotentialMatch: { readonly key: K; readonly check: AmlCheck }
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
export type Stopped = Exclude<Failure.Failure, AmlError.AmlInputRejected | AmlError.AmlResponseMismatch>

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
  readonly gracePeriod?: Duration.Input | undefined
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
 * import { Person, Screening } from "@effect-idv/effect-4"
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
  options: Options<K, R2> = {}
): Stream.Stream<Outcome<K>, E | Stopped | Config.ConfigError, AmlClient.AmlClient | R | R2> =>
  Stream.unwrap(
    Effect.map(
      Effect.context<AmlClient.AmlClient | R | R2>(),
      (context) =>
        Screenings.stream(people, options, { context, check: Context.get(context, AmlClient.AmlClient).check })
    )
  )
