/**
 * The options of a session. Each is one entry, from which the fields of `NewSession`, of a change and of the
 * configuration file, the flags, the arguments of the tools and the form of the page are made.
 */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as FaultText from "../faults/faultText.ts"
import { SignedDurationText } from "../schema/durationText.ts"
import { numberOrText, optional, wholeNumber } from "../schema/fields.ts"
import { uniqueBy } from "../schema/uniqueIds.ts"

/** How the command line sets an option. */
export interface Flag {
  readonly name: string
  /** The name of its value in the help. */
  readonly value: string
  readonly isRepeated: boolean
  /** Returns the JSON form of the option. */
  readonly parse: (texts: ReadonlyArray<string>) => Either.Either<unknown, Violation.Violations>
}

interface Definition<A, I, Shown, ShownI> {
  readonly schema: Schema.Schema<A, I>
  /** A sentence without its subject, for the help of the flag and the label of the page. */
  readonly help: string
  readonly flag: Option.Option<Flag>
  /** What the state of a session shows. */
  readonly shown: Schema.Schema<Shown, ShownI>
  readonly read: (session: Session.Session) => Effect.Effect<Shown>
  /** What the line of a session on the command line says about it. Empty for the default. */
  readonly text: (value: Shown) => string
  /** None if the option has its value for the whole session. A reset sets the value that the session began with. */
  readonly set: ((session: Session.Session, value: A) => Effect.Effect<void>) | undefined
}

/** `name` is the field of the option. */
const option = <A, I, Shown, ShownI>(name: string, definition: Definition<A, I, Shown, ShownI>) => {
  const isValue = Schema.is(Schema.typeSchema(definition.schema))
  const isShown = Schema.is(Schema.typeSchema(definition.shown))
  const readEntry = (session: Session.Session): Effect.Effect<readonly [string, unknown]> =>
    Effect.map(definition.read(session), (value) => [name, value])
  return {
    ...definition,
    name,
    readEntry,
    input: optional(definition.schema),
    textIn: (info: Readonly<Record<string, unknown>>): string => {
      const value = info[name]
      return isShown(value) ? definition.text(value) : ""
    },
    /** Sets the option if the change has it. */
    apply: (session: Session.Session, change: Readonly<Record<string, unknown>>) => {
      const value = change[name]
      return isValue(value) ? definition.set?.(session, value) ?? Effect.void : Effect.void
    }
  }
}

const single = (name: string, value: string): Flag => ({
  name,
  value,
  isRepeated: false,
  parse: ([text = ""]) => Either.right(numberOrText(text))
})

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

/** Parses a preset and texts such as `tokenStatus=201`. */
const parseProfile: Flag["parse"] = (texts) => {
  const selections = texts.map((text) => text.includes("=") ? splitAt(text, "=") : ["preset", text] as const)
  return new Set(selections.map(([point]) => point)).size === selections.length
    ? Either.right(Object.fromEntries(selections))
    : Either.left(Violation.whole("at most one preset, and each option once"))
}

export const options = {
  seed: option("seed", {
    schema: wholeNumber(0, 2 ** 32 - 1),
    help: "Seed that makes tokens and random faults reproducible (default: a random one)",
    flag: Option.some(single("seed", "number")),
    shown: Schema.Number,
    read: ({ seed }) => Effect.succeed(seed),
    text: (seed) => `seed ${seed}`,
    set: undefined
  }),
  clockSkew: option("clockSkew", {
    schema: SignedDurationText,
    help:
      "How far searched_on and the Date header are ahead of the session's clock, which may be negative (default: 0)",
    flag: Option.some(single("clock-skew", "duration")),
    shown: SignedDurationText,
    read: ({ options }) => Effect.map(Ref.get(options), ({ clockSkew }) => clockSkew),
    text: (clockSkew) => clockSkew === 0 ? "" : `clock skew ${clockSkew} ms`,
    set: ({ options }, clockSkew) => Ref.update(options, (values) => ({ ...values, clockSkew }))
  }),
  profile: option("profile", {
    schema: Profile.Patch,
    help: "Preset (default, strict or hostile), option=variant such as tokenStatus=201",
    flag: Option.some({
      name: "profile",
      value: "variant",
      isRepeated: true,
      parse: parseProfile
    }),
    shown: Profile.Profile,
    read: ({ options }) => Effect.map(Ref.get(options), ({ profile }) => profile),
    text: (profile) => {
      const changed = Profile.points.filter(({ name }) => profile[name] !== Profile.defaultProfile[name])
      return changed.length === 0 ? "" : `profile ${changed.map(({ name }) => `${name}=${profile[name]}`).join(" ")}`
    },
    set: ({ options }, patch) =>
      Ref.update(options, (values) => ({ ...values, profile: Profile.apply(values.profile, patch) }))
  }),
  faults: option("faults", {
    schema: uniqueBy(Schema.Array(Fault.Fault).annotations(Violation.expecting("a list of faults")), "id"),
    help: "Fault to inject, such as aml:hang",
    flag: Option.some({
      name: "fault",
      value: "fault",
      isRepeated: true,
      parse: (texts) => Either.right(texts.map(FaultText.input))
    }),
    shown: Schema.NonNegativeInt,
    read: ({ faults }) => Effect.map(faults.list, ({ length }) => length),
    text: (count) => `faults: ${count}`,
    set: ({ faults }, list) => Effect.zipRight(faults.clear, Effect.forEach(list, faults.set, { discard: true }))
  }),
  testPersons: option("testPersons", {
    schema: TestPerson.CustomList,
    help: "Test persons of your own. The first that matches decides, before the reserved names",
    flag: Option.none(),
    shown: Schema.NonNegativeInt,
    read: ({ testPersons }) => Effect.map(testPersons.list, ({ length }) => length),
    text: (count) => count === 0 ? "" : `test persons: ${count}`,
    set: ({ testPersons }, list) => testPersons.set(list)
  })
}

export type Options = typeof options

export const all = Struct.keys(options).map((name) => options[name])

/** Those that a running session can change. */
export const changeable = all.filter(({ set }) => set !== undefined)

type Pluck<Key extends "input" | "shown", Names extends keyof Options = keyof Options> = {
  readonly [Name in Names]: Options[Name][Key]
}

/** The fields of a struct, one for each option. */
export function fields<Key extends "input" | "shown">(key: Key): Pluck<Key>
export function fields(key: "input" | "shown") {
  return Object.fromEntries(all.map((option) => [option.name, option[key]]))
}

/** What the line of a session says about its options. */
export const texts = (info: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  all.map(({ textIn }) => textIn(info)).filter((text) => text !== "")

/** Sets the options that a change has. */
export const apply = (session: Session.Session, change: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.forEach(all, (option) => option.apply(session, change), { discard: true })

/** The values of all options. */
export function read(session: Session.Session): Effect.Effect<
  { readonly [Name in keyof Options]: Effect.Effect.Success<ReturnType<Options[Name]["read"]>> }
>
export function read(session: Session.Session) {
  return Effect.map(Effect.all(all.map(({ readEntry }) => readEntry(session))), Object.fromEntries)
}
