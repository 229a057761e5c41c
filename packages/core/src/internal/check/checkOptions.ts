/** The options of the `AmlClient`. The schemas check them, and contain the defaults. */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import { constant } from "effect/Function"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type { AmlError } from "../../AmlError.ts"
import * as IdvApi from "../../IdvApi.ts"
import * as Violation from "../../Violation.ts"
import * as Address from "../schema/address.ts"
import * as ConfigErrors from "../schema/configErrors.ts"
import * as DurationInput from "../schema/durationInput.ts"

/**
 * Which failed checks are retried, up to twice: after a random delay of up to 200 ms, and then of up to 400 ms.
 *
 * - `safe`: only checks that the service certainly did not perform: no connection, unknown host name, or a response with
 *   `Retry-After` and the status 429 or 503.
 * - `always`: all retryable failures. If the response was lost, the service may perform and bill the check twice.
 * - `never`: none.
 *
 * A `Schedule` receives each retryable failure as its input, and decides whether and when to retry.
 *
 * `Retry-After` is always honoured. If the wait would exceed the deadline, the check fails at once. The replay after a
 * 401 happens under every policy.
 *
 * Use this option, and no `HttpClient` that sends a request again by itself: the client sees only its last failure, and
 * would report `sent: "no"` although an earlier request arrived. `IdvHttp` reports each request that it sends, so a
 * client that wraps only `IdvHttp` may send again.
 *
 * @category models
 * @since 0.1.0
 */
export type Retry = "safe" | "always" | "never" | Schedule.Schedule<unknown, AmlError>

/**
 * How a check runs, and which responses it accepts.
 *
 * @category models
 * @since 0.1.0
 */
export interface PolicyOptions {
  /**
   * The maximum time of a check: token, waits, requests, and the whole response.
   *
   * @default "30 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * Which failed checks are retried.
   *
   * @default "safe"
   */
  readonly retry?: Retry | undefined
  /**
   * How exactly the response must repeat the name in the request. The year of birth is always compared.
   *
   * - `exact`: the same name, ignoring case, spaces and Unicode normalization.
   * - `loose`: the same words, in any order, ignoring case, punctuation, accents, tone marks and vowel points.
   * - `ignore`: any name. **Dangerous**: a response about another person born in the same year is accepted, so a "No"
   *   may be about that person.
   *
   * If `exact` would reject the response, the evidence has the warning `other_form` or `other_name`.
   *
   * @default "exact"
   */
  readonly nameEcho?: NameEcho | undefined
  /**
   * How far `searched_on` may be before or after this client's clock. `searched_on` has no specified time zone, and is
   * read as UTC: allow one day more than you need. Set this for a server whose clock was moved, such as the mock
   * server, or for a test whose clock starts in 1970.
   *
   * @default "48 hours"
   */
  readonly searchedOnTolerance?: Duration.DurationInput | undefined
}

export const NameEcho = Schema.Literal("exact", "loose", "ignore").annotations({
  description: "\"exact\", \"loose\" or \"ignore\""
})

/**
 * The values of `nameEcho`, see {@link PolicyOptions}.
 *
 * @category models
 * @since 0.1.0
 */
export type NameEcho = typeof NameEcho.Type

const isSchedule = (u: unknown): u is Schedule.Schedule<unknown, AmlError> => Schedule.isSchedule(u)

const Policy = Schema.Struct({
  deadline: Schema.optionalWith(DurationInput.Positive, { default: constant(Duration.seconds(30)) }),
  retry: Schema.optionalWith(
    Schema.Union(Schema.Literal("safe", "always", "never"), Schema.declare(isSchedule))
      .annotations({ description: "\"safe\", \"always\", \"never\" or a Schedule" }),
    { default: constant("safe" as const) }
  ),
  nameEcho: Schema.optionalWith(
    NameEcho,
    { default: constant("exact" as const) }
  ),
  searchedOnTolerance: Schema.optionalWith(DurationInput.PositiveFinite, { default: constant(Duration.hours(48)) })
})

/** The decoded options of {@link PolicyOptions}, with defaults. */
export interface CheckPolicy extends Schema.Schema.Type<typeof Policy> {}

const Options = Schema.Struct({
  ...Policy.fields,
  concurrency: Schema.optionalWith(
    Schema.Int.pipe(Schema.positive(), Schema.annotations({ description: "an integer over 0" })),
    { default: constant(128) }
  ),
  propagateTrace: Schema.optionalWith(Schema.Boolean, { default: constant(false) }),
  environment: Schema.optional(
    Schema.String.pipe(
      Schema.pattern(/^[\w.-]{1,64}$/),
      Schema.annotations({ description: "1 to 64 letters, digits, dots, hyphens or underscores" })
    )
  )
})

/** Options before the check: from JavaScript, or partly loaded from `Config`. */
interface UncheckedOptions extends PolicyOptions {
  readonly baseUrl?: string | undefined
  readonly allowInsecure?: boolean | undefined
  readonly concurrency?: number | undefined
  readonly propagateTrace?: boolean | undefined
  readonly environment?: string | undefined
}

const names = Struct.keys(Options.fields)
const decode = Violation.decodeUnknown(Options)

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: UncheckedOptions) =>
  ConfigErrors.all({
    url: Address.make("baseUrl", options.baseUrl, IdvApi.aml.path, options),
    decoded: Either.mapLeft(decode(Struct.pick(options, ...names)), ConfigErrors.fromViolations([]))
  })

const policyNames = Struct.keys(Policy.fields)

/** The decoded options that are set. Throws a `TypeError` that names every invalid one. */
export const decodeOverrides = (options: PolicyOptions): Partial<CheckPolicy> => {
  const policy = Either.getOrThrowWith(
    Either.mapLeft(decode(Struct.pick(options, ...policyNames)), ConfigErrors.fromViolations([])),
    (error) => new TypeError(`withPolicy: ${error}`)
  )
  return Struct.pick(policy, ...policyNames.filter((name) => options[name] !== undefined))
}
