/** Runs the alternatives interleaved: each once per round, and in reverse order in every other round. */
import { Effect } from "effect"

export const run = <K extends string, A, E, R>(
  rounds: number,
  alternatives: { readonly [name in K]: Effect.Effect<A, E, R> }
): Effect.Effect<{ readonly [name in K]: ReadonlyArray<A> }, E, R> => {
  const names = Object.keys(alternatives) as Array<K>
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as { [name in K]: Array<A> }
  const round = (index: number) =>
    Effect.forEach(
      index % 2 === 0 ? names : names.toReversed(),
      (name) => Effect.map(alternatives[name], (result) => results[name].push(result)),
      { discard: true }
    )
  return Effect.as(
    Effect.forEach(Array.from({ length: rounds }, (_, index) => index), round, { discard: true }),
    results
  )
}
