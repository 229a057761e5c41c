/** Runs a screening of the engine with the client of the caller, which may wrap that of this package. */
import * as AmlClient3 from "@effect-idv/core/AmlClient"
import type * as Failure3 from "@effect-idv/core/Failure"
import * as Screening3 from "@effect-idv/core/Screening"
import * as ConfigError3 from "effect-3/ConfigError"
import * as Stream3 from "effect-3/Stream"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type * as AmlError from "../../AmlError.ts"
import type { TokenError } from "../../TokenError.ts"
import * as Checks from "./checks.ts"
import * as ConfigOf from "./config.ts"
import * as Effects from "./effects.ts"
import * as EngineFailure from "./engineFailure.ts"
import * as Failures from "./failures.ts"
import * as People from "./people.ts"
import * as Streams from "./streams.ts"
import * as Values from "./values.ts"

type Person = ReturnType<typeof People.toPerson>

interface Entry<K, P> {
  readonly key: K
  readonly person: P | Effect.Effect<P, AmlError.AmlInputRejected>
}

const toOutcome = <K>(outcome: Screening3.Outcome<K>) => {
  switch (outcome._tag) {
    case "NotScreened":
      return { _tag: outcome._tag, key: outcome.key, error: Failures.toFailure(outcome.error) } as const
    case "Unknown":
      return { _tag: outcome._tag, key: outcome.key, error: Failures.toFailure(outcome.error) } as const
    default:
      return { _tag: outcome._tag, key: outcome.key, check: Checks.toCheck(outcome.check) } as const
  }
}

type Outcome<K> = ReturnType<typeof toOutcome<K>>

interface Options<in K, out R> {
  readonly concurrency?: number | undefined
  readonly rate?: number | undefined
  readonly order?: "input" | "completion" | undefined
  readonly gracePeriod?: Duration.Input | undefined
  readonly onOutcome?: ((outcome: Outcome<K>) => Effect.Effect<void, never, R>) | undefined
  readonly stopAfter?: number | undefined
}

/** The failure of a check. Its type does not include the rejected input, which a check never reports. */
const ofCheck = (
  error: AmlError.AmlError | TokenError
): Exclude<Failure3.Failure, { readonly _tag: "AmlInputRejected" }> => {
  const failure = EngineFailure.of(error)
  if (failure._tag === "AmlInputRejected") throw new TypeError("A check does not fail with AmlInputRejected")
  return failure
}

const inputRejected = (error: AmlError.AmlInputRejected) => {
  const failure = EngineFailure.of(error)
  if (failure._tag !== "AmlInputRejected") throw new TypeError("A person fails only with AmlInputRejected")
  return failure
}

/** Marks an error of the input, which passes through the engine unchanged. */
class InputFailed<E> {
  readonly error: E
  constructor(error: E) {
    this.error = error
  }
}

/** Screens people with `check`, the method of the caller's client. */
export const stream = <K, P extends object, E, R, R2>(
  people: Stream.Stream<Entry<K, P>, E, R>,
  { gracePeriod, onOutcome, ...options }: Options<K, R2>,
  { check, context }: {
    readonly context: Context.Context<R | R2>
    readonly check: (person: Person) => Effect.Effect<object, AmlError.AmlError | TokenError>
  }
) => {
  const client = AmlClient3.AmlClient.of({
    check: (person) =>
      Effects.embed(check(People.toPerson(person)), context, { onSuccess: Checks.fromCheck, onFailure: ofCheck })
  })
  const entry = ({ key, person }: Entry<K, P>): Screening3.Entry<K> => ({
    key,
    person: Effect.isEffect(person)
      ? Effects.embed(person, context, { onSuccess: People.fromPerson, onFailure: inputRejected })
      : People.fromPerson(person)
  })
  const input: Stream3.Stream<Screening3.Entry<K>, InputFailed<E>> = Streams.embed(people, context, {
    onSuccess: entry,
    onFailure: (error) => new InputFailed(error)
  })
  const outcomes = Screening3.stream(
    input,
    {
      ...options,
      gracePeriod: gracePeriod === undefined ? gracePeriod : Values.fromDuration(gracePeriod),
      onOutcome: onOutcome === undefined
        ? onOutcome
        : (outcome) => Effects.embed(onOutcome(toOutcome(outcome)), context, Values.unchanged<void, never>())
    }
  )
  return Streams.run(Stream3.provideService(outcomes, AmlClient3.AmlClient, client), {
    onSuccess: (outcome) => toOutcome(outcome),
    onFailure: (error: InputFailed<E> | Screening3.Stopped | ConfigError3.ConfigError) => {
      if (error instanceof InputFailed) return error.error
      return ConfigError3.isConfigError(error) ? ConfigOf.toError(error) : Failures.toFailure(error)
    }
  })
}
