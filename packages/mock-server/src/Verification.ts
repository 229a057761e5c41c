/** Whether the entries of a journal are as expected: pure, so that it can be asked after each entry. */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import type { Entry, Expectation, Mismatch, Pattern } from "./Journal.ts"

const matched = (pattern: Pattern, entry: Entry): ReadonlyArray<boolean> => [
  pattern.operation === undefined || pattern.operation === entry.operation,
  pattern.status === undefined || pattern.status === entry.response.status,
  pattern.rule === undefined || pattern.rule === entry.rule,
  pattern.fault === undefined || entry.faults.some(({ id, kind }) => id === pattern.fault || kind === pattern.fault),
  pattern.unexpected === undefined || pattern.unexpected === entry.unexpected,
  pattern.customerId === undefined || pattern.customerId === entry.customerId
]

export const matches = (pattern: Pattern) => (entry: Entry): boolean => matched(pattern, entry).every(Boolean)

const shown = 5

/** Those that miss a pattern by the least, the latest first. */
const nearMisses = (pattern: Pattern, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const score = (entry: Entry) => matched(pattern, entry).filter(Boolean).length
  return entries.filter((entry) => !matches(pattern)(entry)).toReversed().toSorted((a, b) => score(b) - score(a))
}

/** How many of the patterns come one after the other, and what follows the last of these. */
const follow = (patterns: ReadonlyArray<Pattern>, entries: ReadonlyArray<Entry>) => {
  let found = 0
  let next = 0
  entries.forEach((entry, index) => {
    const pattern = patterns[found]
    if (pattern === undefined || !matches(pattern)(entry)) return
    found += 1
    next = index + 1
  })
  return { found, rest: entries.slice(next) }
}

const written = (pattern: Pattern): string => JSON.stringify(pattern)

/** With entries dropped, nobody can know how many there were in all. */
export const check = (
  expectation: Expectation,
  entries: ReadonlyArray<Entry>,
  dropped = 0
): Either.Either<void, Mismatch> => {
  const within = expectation.within === undefined ? "" : ` within ${Duration.format(expectation.within)}`
  const judge = (holds: boolean, expected: string, found: number, nearest: () => ReadonlyArray<Entry>) =>
    holds ? Either.void : Either.left({
      expected: expected + within,
      found,
      among: entries.length,
      dropped,
      nearest: nearest().slice(0, shown).map(({ id, response: { status }, rule, why }) => ({ id, rule, status, why }))
    })
  switch (expectation.kind) {
    case "exactly":
    case "atLeast": {
      const { kind, n, pattern } = expectation
      const found = entries.filter(matches(pattern))
      return kind === "atLeast"
        ? judge(
          found.length >= n,
          `at least ${n} of ${written(pattern)}`,
          found.length,
          () => [...found.toReversed(), ...nearMisses(pattern, entries)]
        )
        : judge(
          found.length === n && dropped === 0,
          `exactly ${n} of ${written(pattern)}`,
          found.length,
          () => found.length < n ? [...found.toReversed(), ...nearMisses(pattern, entries)] : found.toReversed()
        )
    }
    case "inOrder": {
      const { patterns } = expectation
      const { found, rest } = follow(patterns, entries)
      const missing = patterns[found]
      return judge(
        missing === undefined,
        `in order ${patterns.map(written).join(", ")}`,
        found,
        () => missing === undefined ? [] : nearMisses(missing, rest)
      )
    }
    case "never":
    case "nothingUnexpected": {
      const pattern = expectation.kind === "never" ? expectation.pattern : { unexpected: true }
      const found = entries.filter(matches(pattern))
      const expected = expectation.kind === "never" ? `never ${written(pattern)}` : "nothing unexpected"
      return judge(found.length === 0 && dropped === 0, expected, found.length, () => found.toReversed())
    }
  }
}

/** Whether no further entry can change the outcome. */
export const isSettled = (expectation: Expectation) => (outcome: Either.Either<void, Mismatch>): boolean => {
  switch (expectation.kind) {
    case "exactly":
      return Either.match(outcome, {
        onLeft: ({ dropped, found }) => dropped > 0 || found > expectation.n,
        onRight: () => true
      })
    case "atLeast":
    case "inOrder":
      return Either.isRight(outcome)
    case "never":
    case "nothingUnexpected":
      return Either.isLeft(outcome)
  }
}
