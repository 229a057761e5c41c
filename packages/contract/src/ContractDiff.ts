/**
 * Compares two contracts: which claims were added, removed or changed, and which of these changes break consumers.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import type * as Contract from "./Contract.ts"

/**
 * A difference between two contracts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly kind: "added" | "removed" | "changed"
  /** The id of the claim. */
  readonly claim: string
  /**
   * Whether a consumer that was written for the older contract may break: a claim is removed or no longer documented,
   * the service may respond in a further way (with an error, only if the client does not tolerate it), or the client
   * refuses a behaviour that it tolerated.
   */
  readonly isBreaking: boolean
  /** What changed, in words. */
  readonly differences: ReadonlyArray<string>
}

const wordOf = (accepted: NonNullable<Contract.Claim["accept"]>[number]): string =>
  typeof accepted === "object" ? `/${accepted.pattern}/` : `${accepted}`

const wordsOf = (words: Contract.Claim["accept"] | Contract.Claim["observed"]): ReadonlyArray<string> =>
  (words ?? []).map(wordOf)

/** The lists of words of a claim that are compared. */
const lists: ReadonlyArray<{
  /** How a difference names the list. */
  readonly name: string
  readonly of: (claim: Contract.Claim) => ReadonlyArray<string>
  /** Whether a new word can break a consumer. */
  readonly breaks: boolean
}> = [
  { name: "accepted", of: ({ accept }) => wordsOf(accept), breaks: true },
  { name: "observed", of: ({ observed }) => wordsOf(observed), breaks: true },
  { name: "refused by the client", of: ({ refuses }) => wordsOf(refuses), breaks: true },
  { name: "default of the mock server", of: ({ mock }) => mock === undefined ? [] : [`${mock.default}`], breaks: false }
]

const fields = ["claim", "level", "section", "source", "sentence", "otherwise", "client", "unobserved"] as const

interface Difference {
  readonly text: string
  readonly isBreaking: boolean
}

/** Claims about how the service refuses a request (section 7). A consumer breaks only if its client refuses the new words. */
const isAboutRefusals = ({ section }: Contract.Claim): boolean => section === "7"

/** New words break a consumer that was written for the old ones. A first observation does not break. */
const listDifferences = (older: Contract.Claim, newer: Contract.Claim): ReadonlyArray<Difference> =>
  lists.flatMap(({ breaks, name, of }) => {
    const [before, after] = [of(older), of(newer)]
    const added = Arr.difference(after, before)
    const removed = Arr.difference(before, after)
    if (added.length + removed.length === 0) return []
    const isFirst = name === "observed" && before.length === 0
    const refused = wordsOf(newer.refuses)
    const breaking = isAboutRefusals(newer) ? added.filter((word) => refused.includes(word)) : added
    return [{
      text: `${name}: ${before.join(", ") || "nothing"} before, ${after.join(", ") || "nothing"} now`,
      isBreaking: breaks && breaking.length > 0 && !isFirst
    }]
  })

/**
 * A change is breaking if the claim is no longer documented, or if the client now refuses what it accepted. A long text is
 * not repeated.
 */
const fieldDifferences = (older: Contract.Claim, newer: Contract.Claim): ReadonlyArray<Difference> =>
  fields.flatMap((field) => {
    const [before, after] = [older[field], newer[field]]
    if (before === after) return []
    const isShort = field === "level" || field === "otherwise" || field === "client" || field === "section"
    return [{
      text: isShort ? `${field}: ${before ?? "nothing"} before, ${after ?? "nothing"} now` : `${field}: another text`,
      isBreaking: field === "level" && before === "documented" || field === "client" && after === "refuse"
    }]
  })

const changeOf = (older: Contract.Claim, newer: Contract.Claim): ReadonlyArray<Change> => {
  const differences = [...listDifferences(older, newer), ...fieldDifferences(older, newer)]
  return differences.length === 0 ? [] : [{
    kind: "changed",
    claim: newer.id,
    isBreaking: differences.some(({ isBreaking }) => isBreaking),
    differences: differences.map(({ text }) => text)
  }]
}

/**
 * Compares an older contract with a newer one, or two files of observations.
 *
 * @category combinators
 * @since 0.1.0
 */
export const diff = (older: Contract.Contract, newer: Contract.Contract): ReadonlyArray<Change> => {
  const idsOf = ({ claims }: Contract.Contract) => claims.map(({ id }) => id)
  const removed = Arr.difference(idsOf(older), idsOf(newer))
  const added = Arr.difference(idsOf(newer), idsOf(older))
  return [
    ...removed.map((claim): Change => ({ kind: "removed", claim, isBreaking: true, differences: [] })),
    ...added.map((claim): Change => ({ kind: "added", claim, isBreaking: false, differences: [] })),
    ...newer.claims.flatMap((claim) => {
      const before = older.claims.find(({ id }) => id === claim.id)
      return before === undefined ? [] : changeOf(before, claim)
    })
  ]
}
