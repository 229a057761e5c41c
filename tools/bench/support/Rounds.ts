/** Subjects in turns: each does its part in every round, and every other round goes backwards. */
import { Effect } from "effect"

export interface Rounds<K extends string, A> {
  readonly of: (name: K) => ReadonlyArray<A>
}

export const run = <K extends string, A, E, R>(
  rounds: number,
  subjects: { readonly [name in K]: Effect.Effect<A, E, R> }
): Effect.Effect<{ readonly [name in K]: ReadonlyArray<A> }, E, R> => {
  const names = Object.keys(subjects) as Array<K>
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as { [name in K]: Array<A> }
  const round = (index: number) =>
    Effect.forEach(
      index % 2 === 0 ? names : names.toReversed(),
      (name) => Effect.map(subjects[name], (result) => results[name].push(result)),
      { discard: true }
    )
  return Effect.as(
    Effect.forEach(Array.from({ length: rounds }, (_, index) => index), round, { discard: true }),
    results
  )
}
