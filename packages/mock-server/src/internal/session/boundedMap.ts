/** A map that forgets its oldest entries first, so that a server that runs for weeks does not grow. */
export const keep = <A>(entries: Map<string, A>, key: string, value: A, capacity: number): void => {
  entries.delete(key)
  entries.set(key, value)
  for (const oldest of entries.keys()) {
    if (entries.size <= capacity) return
    entries.delete(oldest)
  }
}
