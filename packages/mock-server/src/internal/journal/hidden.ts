/** What stands in the place of what is hidden. */

export const hidden = "***"

/** Its length at most, with the sign that there was more. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text

/** A record in which hidden names are numbered, so that none of them takes the place of another. */
export const named = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): Record<string, A> => {
  let count = 0
  return Object.fromEntries(entries.map(([name, value]) => {
    if (name !== hidden) return [name, value]
    count++
    return [count === 1 ? hidden : `${hidden} ${count}`, value]
  }))
}
