/** The options of the `AmlClient`. The schemas check them, and contain the defaults. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as AmlCredential from "../../AmlCredential.ts"
import type { AmlError } from "../../AmlError.ts"
import * as Address from "../schema/address.ts"
import * as DurationInput from "../schema/durationInput.ts"
import * as OptionSchemas from "../schema/options.ts"

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
   * If `exact` would reject the response, the evidence has the warning `other_marks`, `other_form` or `other_name`.
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

/**
 * The options of the client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends PolicyOptions {
  /** The address of the API, without `/api/aml`: an `https:` URL, or an `http:` URL of a loopback address. */
  readonly baseUrl: string
  /**
   * Allows `http:` to hosts other than loopback, for a mock server only. Names and tokens are then sent in clear text.
   *
   * @default false
   */
  readonly allowInsecure?: boolean | undefined
  /**
   * Maximum number of checks in flight at once. Further checks wait in the order of their calls, within their deadline.
   * Without a limit, thousands of simultaneous checks would all be sent before the first response is read. It does not
   * apply to `Screening`, which has its own option. A check whose deadline has passed is no
   * longer counted, even if an uninterruptible `HttpClient` still runs its request.
   *
   * @default 128
   */
  readonly concurrency?: number | undefined
  /**
   * Sends `traceparent` and `b3` headers to the service, which belongs to another organisation.
   *
   * @default false
   */
  readonly propagateTrace?: boolean | undefined
  /**
   * A label for the evidence of the checks, such as `sandbox` or `production`, so that they can be told apart.
   *
   * @default undefined
   */
  readonly environment?: string | undefined
  /**
   * The customer id, whose SHA-256 is in the evidence. `Idv.layer` sets it to that of the credentials.
   *
   * @default undefined
   */
  readonly customerId?: string | undefined
}

const isSchedule = (u: unknown): u is Schedule.Schedule<unknown, AmlError> => Schedule.isSchedule(u)

const Policy = Schema.Struct({
  deadline: OptionSchemas.withDefault(DurationInput.Positive, Duration.seconds(30)),
  retry: OptionSchemas.withDefault(
    Schema.Union(Schema.Literal("safe", "always", "never"), Schema.declare(isSchedule))
      .annotations({ description: "\"safe\", \"always\", \"never\" or a Schedule" }),
    "safe"
  ),
  nameEcho: OptionSchemas.withDefault(NameEcho, "exact"),
  searchedOnTolerance: OptionSchemas.withDefault(DurationInput.PositiveFinite, Duration.hours(48))
})

/** The decoded options of {@link PolicyOptions}, with defaults. */
export interface CheckPolicy extends Schema.Schema.Type<typeof Policy> {}

/** The decoded options that `withPolicy` has set for this fiber. */
export class Overrides extends Context.Reference<Overrides>()("@effect-idv/core/AmlClient/Overrides", {
  defaultValue: (): Partial<CheckPolicy> => ({})
}) {}

/** The schema of {@link Options}. `allowInsecure` decides what the address may be. */
export const schema = (options: { readonly allowInsecure?: unknown }) =>
  Schema.Struct({
    baseUrl: Address.Base("the address of the API, such as https://api.example.com", AmlCredential.path, options),
    allowInsecure: OptionSchemas.Flag,
    ...Policy.fields,
    concurrency: OptionSchemas.withDefault(OptionSchemas.Count, 128),
    propagateTrace: OptionSchemas.Flag,
    environment: Schema.optional(
      Schema.String.pipe(
        Schema.pattern(/^[\w.-]{1,64}$/),
        Schema.annotations({ description: "1 to 64 letters, digits, dots, hyphens or underscores" })
      )
    ),
    customerId: Schema.optional(Schema.String)
  })

/** The decoded options, with defaults. */
export interface CheckedOptions extends Schema.Schema.Type<ReturnType<typeof schema>> {}

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: object) => OptionSchemas.decode(schema(options), options)

/** The decoded options that are set. Throws a `TypeError` that names every invalid one. */
export const decodeOverrides = (options: PolicyOptions): Partial<CheckPolicy> => {
  const policy = Either.getOrThrowWith(
    OptionSchemas.decode(Policy, options),
    (error) => new TypeError(`withPolicy: ${error}`)
  )
  return Struct.pick(policy, ...Struct.keys(Policy.fields).filter((name) => options[name] !== undefined))
}
