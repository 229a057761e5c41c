/** Converts the options. The engine checks them, also those of a program without types. */
import type * as AmlClient3 from "@effect-idv/core/AmlClient"
import type * as AmlError3 from "@effect-idv/core/AmlError"
import type * as Idv3 from "@effect-idv/core/Idv"
import type * as TokenProvider3 from "@effect-idv/core/TokenProvider"
import * as Effect3 from "effect-3/Effect"
import * as Schedule3 from "effect-3/Schedule"
import * as ScheduleDecision3 from "effect-3/ScheduleDecision"
import * as ScheduleInterval3 from "effect-3/ScheduleInterval"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Schedule from "effect/Schedule"
import type { AmlError } from "../../AmlError.ts"
import type * as Options from "../options.ts"
import * as Effects from "./effects.ts"
import * as Failures from "./failures.ts"
import * as Values from "./values.ts"

const optional = <A, B>(value: A | undefined, convert: (value: A) => B): B | undefined =>
  value === undefined ? undefined : convert(value)

const duration = (input: Duration.Input | undefined) => optional(input, Values.fromDuration)

type Step = (now: number, input: AmlError) => Pull.Pull<[unknown, Duration.Duration], never, unknown>

const fromSchedule = (
  schedule: Schedule.Schedule<unknown, AmlError>
): Schedule3.Schedule<unknown, AmlError3.AmlError> =>
  Schedule3.makeWithState<Step | undefined, AmlError3.AmlError, unknown>(
    undefined,
    (now, input, state) =>
      Effect3.flatMap(
        state === undefined
          ? Effects.embed(Schedule.toStep(schedule), Context.empty(), {
            onSuccess: Values.same,
            onFailure: Values.same
          })
          : Effect3.succeed(state),
        (step) =>
          Effects.embed(
            Pull.matchEffect(step(now, Failures.toFailure(input)), {
              onSuccess: ([output, delay]) => Effect.succeed({ output, delay: Duration.toMillis(delay) }),
              onFailure: Effect.failCause,
              onDone: (output) => Effect.succeed({ output, delay: undefined })
            }),
            Context.empty(),
            {
              onSuccess: ({ delay, output }) =>
                [
                  step,
                  output,
                  delay === undefined
                    ? ScheduleDecision3.done
                    : ScheduleDecision3.continueWith(ScheduleInterval3.after(now + delay))
                ] as const,
              onFailure: Values.same
            }
          )
      )
  )

export const fromPolicy = (
  { deadline, nameEcho, retry, searchedOnTolerance }: Options.PolicyOptions
): AmlClient3.PolicyOptions => ({
  deadline: duration(deadline),
  nameEcho,
  retry: Schedule.isSchedule(retry) ? fromSchedule(retry) : retry,
  searchedOnTolerance: duration(searchedOnTolerance)
})

const fromTokenPolicy = (
  { acquisitionDeadline, attemptDeadline, expiryMargin, lifetime, rejectionMemory, ...others }:
    Options.TokenPolicyOptions
): TokenProvider3.PolicyOptions => ({
  ...others,
  ...(acquisitionDeadline !== undefined && { acquisitionDeadline: Values.fromDuration(acquisitionDeadline) }),
  ...(attemptDeadline !== undefined && { attemptDeadline: Values.fromDuration(attemptDeadline) }),
  ...(expiryMargin !== undefined && { expiryMargin: Values.fromDuration(expiryMargin) }),
  ...(lifetime !== undefined && { lifetime: Values.fromDuration(lifetime) }),
  ...(rejectionMemory !== undefined && { rejectionMemory: Values.fromDuration(rejectionMemory) })
})

const fromCredentials = (
  { customerKey, ...others }: Options.CredentialOptions
): TokenProvider3.CredentialOptions => ({ ...others, customerKey: Values.fromRedacted(customerKey) })

const fromSettings = <S extends Partial<Options.Settings>>({ tokenPolicy, ...settings }: S) => ({
  ...settings,
  ...fromPolicy(settings),
  tokenPolicy: optional(tokenPolicy, fromTokenPolicy)
})

/** The effect `credentials` runs with the services of the layer. */
export const fromOptions = (
  options: Options.Options | Options.RotatingOptions,
  context: Context.Context<never>
): Idv3.Options | Idv3.RotatingOptions =>
  options.credentials === undefined
    ? { ...fromSettings(options), ...fromCredentials(options), credentials: undefined }
    : {
      ...fromSettings(options),
      credentials: Effects.embed(options.credentials, context, {
        onSuccess: fromCredentials,
        onFailure: () => "the credentials are not available"
      })
    }

export const fromOverrides = ({ customerKey, ...options }: Partial<Options.Options>): Partial<Idv3.Options> => ({
  ...fromSettings(options),
  ...(customerKey !== undefined && { customerKey: Values.fromRedacted(customerKey) })
})
