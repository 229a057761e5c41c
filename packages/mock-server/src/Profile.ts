/**
 * One choice for each behaviour that the API document does not show. Each is a point with named
 * variants, as data: what is asked, which claim it belongs to, how sure the answer is, and whether
 * the client lives with it.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { type Choice, choices, quoted } from "./internal/profile/choices.ts"

/**
 * How sure the default of a point is, as in the contract.
 *
 * @category models
 * @since 0.1.0
 */
export type Level = "documented" | "observed" | "assumed" | "unknown"

/**
 * Whether a check by `@effect-idv/core` with its default options, for a full name of at least two
 * words and with the right key, comes to a credential, if the token that it begins with may have
 * expired. If not, it fails with a typed error.
 *
 * @category models
 * @since 0.1.0
 */
export type Client = "accepts" | "refuses"

/**
 * One way to behave. `client` holds if every other point is at its default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variant<Value extends string = string> {
  readonly value: Value
  readonly description: string
  readonly client: Client
}

/**
 * The name of a point, which is a field of {@link Profile}.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = keyof typeof choices

/**
 * One behaviour that the document does not show.
 *
 * - `question`: what is not known, as one sentence.
 * - `claim`: the id of the claim in the evidence.
 * - `level`: how sure the default is.
 * - `section`: of the API document, where it would stand.
 * - `variants`: every way to behave. The first is the default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Point extends Choice<string> {
  readonly name: Name
}

/**
 * Every point.
 *
 * @category models
 * @since 0.1.0
 */
export const points: ReadonlyArray<Point> = Struct.keys(choices).map((name) => {
  const { claim, level, question, section, variants } = choices[name]
  return { name, question, claim, level, section, variants }
})

const closed = { parseOptions: { onExcessProperty: "error" } } as const

/**
 * The behaviour of a server: a variant for each point. Another field is an error.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Profile = Schema.Struct({
  tokenField: choices.tokenField.schema,
  tokenType: choices.tokenType.schema,
  tokenFormat: choices.tokenFormat.schema,
  tokenStatus: choices.tokenStatus.schema,
  tokenLifetime: choices.tokenLifetime.schema,
  tokenError: choices.tokenError.schema,
  tokenParameters: choices.tokenParameters.schema,
  amlRequestType: choices.amlRequestType.schema,
  amlStatus: choices.amlStatus.schema,
  amlError: choices.amlError.schema,
  expiredToken: choices.expiredToken.schema,
  rateLimit: choices.rateLimit.schema,
  searchedOn: choices.searchedOn.schema,
  nameEcho: choices.nameEcho.schema,
  extraFields: choices.extraFields.schema,
  credVersion: choices.credVersion.schema,
  redirects: choices.redirects.schema
}).annotations(closed)

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Profile extends Schema.Schema.Type<typeof Profile> {}

/**
 * The first variant of each point.
 *
 * @category models
 * @since 0.1.0
 */
export const defaultProfile: Profile = {
  tokenField: "access_token",
  tokenType: "Bearer",
  tokenFormat: "opaque",
  tokenStatus: "200",
  tokenLifetime: "3600",
  tokenError: "401",
  tokenParameters: "ignored",
  amlRequestType: "json",
  amlStatus: "200",
  amlError: "problem",
  expiredToken: "challenge",
  rateLimit: "seconds",
  searchedOn: "utc",
  nameEcho: "exact",
  extraFields: "none",
  credVersion: "1.0",
  redirects: "none"
}

/**
 * Profiles with a name:
 *
 * - `default`: the first variant of each point.
 * - `strict`: the default, but with nothing in a request that the document does not have.
 * - `hostile`: of each point the most awkward variant with which the client still comes to a
 *   credential.
 *
 * @category models
 * @since 0.1.0
 */
export const presets = {
  default: defaultProfile,
  strict: { ...defaultProfile, tokenParameters: "refused", amlRequestType: "exact" },
  hostile: {
    tokenField: "accessToken",
    tokenType: "absent",
    tokenFormat: "jwt",
    tokenStatus: "201",
    tokenLifetime: "text",
    tokenError: "html",
    tokenParameters: "refused",
    amlRequestType: "exact",
    amlStatus: "201",
    amlError: "html",
    expiredToken: "bare",
    rateLimit: "garbage",
    searchedOn: "ahead",
    nameEcho: "upper",
    extraFields: "some",
    credVersion: "1.7",
    redirects: "none"
  }
} as const satisfies Record<string, Profile>

const presetNames = Struct.keys(presets)

/**
 * The name of a preset.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Preset = Schema.Literal(...presetNames).annotations(Violation.expecting(`one of ${quoted(presetNames)}`))

/**
 * @category schemas
 * @since 0.1.0
 */
export type Preset = typeof Preset.Type

/**
 * A change of a profile: a preset to start from, and variants for some points. Another field is an
 * error.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Patch = Schema.Struct({ preset: Schema.optionalWith(Preset, { exact: true }) }).pipe(
  Schema.extend(Schema.partialWith(Profile, { exact: true })),
  Schema.annotations(closed)
)

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Patch extends Schema.Schema.Type<typeof Patch> {}

/**
 * A profile with the variants of a patch. With a preset in it, that preset with the variants.
 *
 * @example
 * import { Profile } from "@effect-idv/mock-server"
 *
 * const profile = Profile.apply(Profile.defaultProfile, { preset: "hostile", nameEcho: "nfd" })
 *
 * @category combinators
 * @since 0.1.0
 */
export const apply: {
  (patch: Patch): (self: Profile) => Profile
  (self: Profile, patch: Patch): Profile
} = dual(2, (self: Profile, { preset, ...variants }: Patch): Profile => ({
  ...preset === undefined ? self : presets[preset],
  ...variants
}))
