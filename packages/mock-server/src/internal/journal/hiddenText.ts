/** The text that replaces what a journal hides. */
export const hiddenText = "***"

/** Limits the length of a text. A truncated text ends with an ellipsis. */
export const truncate = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text

/** Makes a record. The hidden names get numbers, so that no entry replaces another. */
export const recordOf = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): Record<string, A> => {
  let count = 0
  return Object.fromEntries(entries.map(([name, value]) => {
    if (name !== hiddenText) return [name, value]
    count++
    return [count === 1 ? hiddenText : `${hiddenText} ${count}`, value]
  }))
}
