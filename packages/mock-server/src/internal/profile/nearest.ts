/** The variant with which a profile plays a word of the contract. */
import * as Option from "effect/Option"
import type * as Profile from "../../Profile.ts"
import { choices } from "./choices.ts"

/** Words of which a profile has only a similar variant: another time zone on the same side of UTC, another version. */
const similar: Partial<Record<Profile.Name, ReadonlyArray<readonly [word: RegExp, variant: string]>>> = {
  searchedOn: [[/^UTC\+/, "ahead"], [/^UTC-/, "behind"]],
  credVersion: [[/^1\.\d+$/, "1.7"], [/^another major$/, "2.0"]]
}

export interface Played {
  readonly variant: string
  /** Whether the variant is what the word says, and not only similar. */
  readonly isExact: boolean
}

export const variantOf = (name: Profile.Name, word: string): Option.Option<Played> =>
  choices[name].variants.some(({ value }) => value === word)
    ? Option.some({ variant: word, isExact: true })
    : Option.map(
      Option.fromNullable(similar[name]?.find(([pattern]) => pattern.test(word))),
      ([, variant]) => ({ variant, isExact: false })
    )
