/**
 * Fictional people whose result is known beforehand: the last word of the name decides, whatever
 * its case. Everybody else is clear, the same every time.
 *
 * @since 0.1.0
 */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"

/**
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly lastWord: string
  readonly matchFound: MatchFound
  readonly description: string
}

/**
 * The reserved names.
 *
 * @category models
 * @since 0.1.0
 */
export const reserved: ReadonlyArray<Subject> = [
  { lastWord: "Testclear", matchFound: "No", description: "is on no list" },
  { lastWord: "Testpep", matchFound: "Potential match", description: "may be a politically exposed person" },
  { lastWord: "Testsanc", matchFound: "Potential match", description: "may be on a sanctions list" }
]

/**
 * What the mock answers about a name.
 *
 * @category getters
 * @since 0.1.0
 */
export const matchFound = (name: string): MatchFound => {
  const lastWord = name.trim().split(/\s+/).at(-1)?.toLowerCase()
  return Arr.findFirst(reserved, (subject) => subject.lastWord.toLowerCase() === lastWord).pipe(
    Option.match({ onNone: () => "No", onSome: (subject) => subject.matchFound })
  )
}
