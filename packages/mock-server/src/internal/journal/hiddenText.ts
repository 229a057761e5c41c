/** The text that replaces what a journal hides. */
export const hidden = "***"

/** Limits the length of a text, and marks a cut with an ellipsis. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text

/** Makes a record in which hidden names have numbers, so that none of them replaces another. */
export const recordOf = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): Record<string, A> => {
  let count = 0
  return Object.fromEntries(entries.map(([name, value]) => {
    if (name !== hidden) return [name, value]
    count++
    return [count === 1 ? hidden : `${hidden} ${count}`, value]
  }))
}
