/**
 * A profile: one variant for each behaviour that the service document leaves open. Such a behaviour is called a point.
 * A point has a question, a claim of the contract, a level that says how certain the default is, and named variants.
 * Each variant says whether the client accepts it.
 *
 * @since 0.1.0
 */
import * as Violation from "@effect-idv/core/Violation"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { closed, optional } from "./internal/schema/fields.ts"
import { type Choice, choices, quoteAll } from "./internal/session/choices.ts"

export type { Client, Level, Variant } from "./internal/session/choices.ts"

/**
 * The name of a point, which is a field of {@link Profile}.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = keyof typeof choices

/**
 * One behaviour that the service document leaves open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Point extends Pick<Choice<string>, "claim" | "level" | "question" | "variants"> {
  /** The field of the profile that selects a variant. */
  readonly name: Name
}

/**
 * All points.
 *
 * @category models
 * @since 0.1.0
 */
export const points: ReadonlyArray<Point> = Struct.keys(choices).map((name) => {
  const { claim, level, question, variants } = choices[name]
  return { name, question, claim, level, variants }
})

/**
 * The behaviour of a session: a variant for each point. An unknown field is a violation.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Profile = Schema.Struct(choices).annotations(closed)

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Profile extends Schema.Schema.Type<typeof Profile> {}

const profileOf = (variantOf: (choice: Choice<string>) => string): Profile =>
  Schema.decodeUnknownSync(Profile)(
    Struct.keys(choices).reduce(
      (profile, name) => ({ ...profile, [name]: variantOf(choices[name]) }),
      {}
    )
  )

/**
 * The first variant of each point.
 *
 * @category models
 * @since 0.1.0
 */
export const defaultProfile: Profile = profileOf(({ variants: [first] }) => first.value)

/**
 * Profiles with a name:
 *
 * - `default`: the first variant of each point.
 * - `strict`: the default, but it refuses form parameters and content type parameters that the service document does
 *   not show.
 * - `hostile`: the most difficult variant of each point with which the client still returns a credential.
 *
 * @category models
 * @since 0.1.0
 */
export const presets = {
  default: defaultProfile,
  strict: { ...defaultProfile, tokenParameters: "refused", amlRequestType: "exact" },
  hostile: profileOf(({ hostile }) => hostile)
} as const satisfies Record<string, Profile>

const presetNames = Struct.keys(presets)

/**
 * The name of a preset.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Preset = Schema.Literal(...presetNames).annotations(Violation.expecting(`one of ${quoteAll(presetNames)}`))

/**
 * @category schemas
 * @since 0.1.0
 */
export type Preset = typeof Preset.Type

/**
 * A change of a profile: a preset to start from, and variants for some points. An unknown field is a violation.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Patch = Schema.Struct({ preset: optional(Preset) }).pipe(
  Schema.extend(Schema.partialWith(Profile, { exact: true })),
  Schema.annotations(closed)
)

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Patch extends Schema.Schema.Type<typeof Patch> {}

/**
 * Applies a patch to a profile. If the patch has a preset, the other fields of the profile come from it.
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
