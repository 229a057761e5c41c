/**
 * The record of one check: its result, and the evidence for an audit. That is what was sent, when, where and by whom, the
 * exact bytes of the response, and the findings about the input.
 *
 * @since 0.1.0
 */
import * as AmlCheck3 from "@effect-idv/core/AmlCheck"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import type { AmlCredential } from "./AmlCredential.ts"
import type { DateOfBirth } from "./DateOfBirth.ts"
import * as Checks from "./internal/engine/checks.ts"
import * as Effects from "./internal/engine/effects.ts"
import * as Values from "./internal/engine/values.ts"
import type * as PersonInput from "./internal/personInput.ts"

/**
 * The three results of a check. Only this field decides, and not the `match_found` of the credential:
 *
 * - `No`: the service says "No", about a person without a sign of damage.
 * - `Doubtful No`: the service says "No", but about a name or date that looks damaged or was assumed, or with a name in
 *   other words than those of the request. The lists may not contain such a name, so a person should review.
 * - `Potential match`: the service says "Potential match", which requires a review and is not a confirmed match.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = Schema.Literals(AmlCheck3.Result.literals)

/**
 * One of the three results of a check.
 *
 * @category schemas
 * @since 0.1.0
 */
export type Result = typeof Result.Type

/**
 * The record of one check. The client makes it, or {@link AmlCheck} decodes it: a copy cannot be encoded or verified.
 *
 * @category models
 * @since 0.1.0
 */
export interface AmlCheck {
  /** The result, which {@link match} handles. */
  readonly result: Result
  /** The UUID of the check, which is also an attribute of its span. */
  readonly checkId: string
  /** The body of the request: what the service was asked. When encoded, it shows the name and the date of birth. */
  readonly request: {
    readonly entity_type: "person"
    readonly name: Redacted.Redacted<string>
    readonly dob: Redacted.Redacted<DateOfBirth>
  }
  /** Where the request was sent, for whom, and by which version. */
  readonly origin: {
    /** The `host:port` of `baseUrl`. */
    readonly host: string
    /** The option `environment`, such as `sandbox`. */
    readonly environment?: string
    /** The SHA-256 of the customer id, in hex. Absent if an effect returns the credentials. */
    readonly customer?: string
    /** The name and the version of the client. */
    readonly client: string
  }
  /** The options that decided whether the response is about the person and recent. */
  readonly policy: {
    readonly nameEcho: "exact" | "loose" | "ignore"
    readonly searchedOnTolerance: Duration.Duration
  }
  /** When the request that led to this response was sent, by the client's clock. */
  readonly sentAt: DateTime.Utc
  /** When the whole response had arrived, by the client's clock. */
  readonly receivedAt: DateTime.Utc
  /** The status of the response. */
  readonly status: 200 | 201
  /** How many requests the check made, also those whose connection failed. A replay after a 401 counts too. */
  readonly attempts: number
  /** The changes to the input. */
  readonly changes: ReadonlyArray<PersonInput.Change>
  /** Signs that the input was damaged before, and differences between the name in the response and in the request. */
  readonly warnings: ReadonlyArray<PersonInput.Warning>
  /** The SHA-256 of `body`, in hex. */
  readonly sha256: string
  /** The credential read from `body`. When encoded, it shows the name and the year of birth. */
  readonly credential: AmlCredential
  /**
   * The decompressed bytes of the response body. They contain all fields of the response, even those that the service
   * document does not define.
   */
  readonly body?: Redacted.Redacted<Uint8Array>
}

const invalid = (message: string) => new SchemaIssue.InvalidValue({ message })

const stored = ({ decode, encode }: typeof Checks.withBody): Schema.Codec<AmlCheck, unknown> =>
  Schema.Unknown.pipe(
    Schema.decodeTo(
      Schema.declare((u): u is AmlCheck => Checks.isCheck(u), {
        identifier: "AmlCheck",
        expected: "a check that the client made or decoded, not a copy"
      }),
      {
        decode: SchemaGetter.transformEffect((json) => Effects.fromEither(decode(json), invalid)),
        encode: SchemaGetter.transform(encode)
      }
    )
  )

/**
 * The schema to store a check as JSON, with the body of the response as base64. The JSON is that of the client for Effect
 * 3. A stored check whose result does not follow from its credential, changes and warnings is not valid.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AmlCheck: Schema.Codec<AmlCheck, unknown> = stored(Checks.withBody)

/**
 * The schema to store an {@link AmlCheck} without the body. The credential and the digest are stored.
 *
 * @category schemas
 * @since 0.1.0
 */
export const WithoutBody: Schema.Codec<AmlCheck, unknown> = stored(Checks.withoutBody)

/**
 * Handles the three results of a check. None of them is a boolean. Throws a `TypeError` for any other result, which only a
 * program without types can pass.
 *
 * @example
 * import { AmlCheck } from "@effect-idv/effect-4"
 *
 * const next = AmlCheck.match({
 *   onNo: () => "clear",
 *   onDoubtfulNo: ({ warnings }) => `review, because of ${warnings.join(", ")}`,
 *   onPotentialMatch: () => "review"
 * })
 *
 * @category pattern matching
 * @since 0.1.0
 */
export const match: {
  <A, B, C>(on: Cases<A, B, C>): (self: AmlCheck) => A | B | C
  <A, B, C>(self: AmlCheck, on: Cases<A, B, C>): A | B | C
} = dual(2, <A, B, C>(self: AmlCheck, on: Cases<A, B, C>): A | B | C => {
  switch (self.result) {
    case "No":
      return on.onNo(self)
    case "Doubtful No":
      return on.onDoubtfulNo(self)
    case "Potential match":
      return on.onPotentialMatch(self)
    default:
      throw new TypeError("AmlCheck.match takes a check with one of the three results")
  }
})

/**
 * A function for each result of a check.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cases<A, B, C> {
  readonly onNo: (check: AmlCheck) => A
  readonly onDoubtfulNo: (check: AmlCheck) => B
  readonly onPotentialMatch: (check: AmlCheck) => C
}

/**
 * The check could not be verified: there is no body (`no_body`), the body does not match the digest (`digest`), or
 * the credential does not match the body (`credential`).
 *
 * @category errors
 * @since 0.1.0
 */
export class AmlCheckRefuted extends Schema.TaggedError<AmlCheckRefuted>("@effect-idv/effect-4/AmlCheckRefuted")(
  "AmlCheckRefuted",
  { checkId: Schema.String, reason: Schema.Literals(["no_body", "digest", "credential"]) }
) {
  override get message(): string {
    return new AmlCheck3.AmlCheckRefuted({ ...this }).message
  }
}

/**
 * Verifies that the body matches the digest and the credential matches the body. It does not verify the other fields,
 * such as the times. If the check was stored without the body, pass the body as the second argument.
 *
 * @category destructors
 * @since 0.1.0
 */
export const verify = (
  check: AmlCheck,
  body: Redacted.Redacted<Uint8Array> | undefined = check.body
): Effect.Effect<void, AmlCheckRefuted> =>
  Effect.suspend(() =>
    Effects.run(AmlCheck3.verify(Checks.fromCheck(check), body === undefined ? body : Values.fromRedacted(body)), {
      onSuccess: () => {},
      onFailure: ({ checkId, reason }) => new AmlCheckRefuted({ checkId, reason })
    })
  )
