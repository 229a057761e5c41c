/** Sets an entry of a map and removes the oldest ones above the capacity, so that the map stays bounded. */
export const setBounded = <A>(entries: Map<string, A>, key: string, value: A, capacity: number): void => {
  // A key that is set again becomes the newest.
  entries.delete(key)
  entries.set(key, value)
  for (const oldest of entries.keys()) {
    if (entries.size <= capacity) return
    entries.delete(oldest)
  }
}
