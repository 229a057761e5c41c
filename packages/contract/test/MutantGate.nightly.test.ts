/** All cases of its claim against each mutant, which takes half a minute of processor time. */
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, Effect, Layer } from "effect"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"
import * as Mutant from "./mutants/Mutant.ts"
import * as MutantGate from "./support/mutantGate.ts"

const { cases } = Conformance

class Observed extends Context.Tag("Observed")<Observed, {
  readonly reference: Contract.Contract
  readonly observed: MutantGate.Observed
  readonly gate: MutantGate.Gate
}>() {}

const layerObserved = Layer.effect(
  Observed,
  Effect.gen(function*() {
    const reference = yield* Contract.load()
    const observed = yield* MutantGate.observe(Mutant.mutants)
    return { reference, observed, gate: MutantGate.gate(reference, cases, observed) }
  })
).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

describe("The mutant gate with all cases", () => {
  layer(layerObserved, { excludeTestServices: true })((it) => {
    it.effect("passes: a case of its claim finds every mutant", () =>
      Effect.gen(function*() {
        const { gate: { rows, survivors } } = yield* Observed
        deepStrictEqual([survivors, rows.length], [[], Mutant.mutants.length])
      }))

    it.effect("fails without any one of the cases that alone find a mutant", () =>
      Effect.gen(function*() {
        const { gate, observed, reference } = yield* Observed
        const alone = gate.rows.filter(({ killers }) => killers.length === 1)
        const needed = Arr.dedupe(alone.flatMap(({ killers }) => killers))
        // Most probes differ in one character, and are proved by the servers of another author.
        strictEqual(needed.length > 80, true)
        for (const id of needed) {
          const claim = cases.find((testCase) => testCase.id === id)?.claim
          const { isPassed, survivors } = MutantGate.gate(
            reference,
            cases.filter((testCase) => testCase.id !== id),
            // Only a case of its claim finds a mutant. All mutants for each case would block the worker for a minute.
            { ...observed, mutants: observed.mutants.filter(([mutant]) => mutant.claim === claim) }
          )
          deepStrictEqual([id, isPassed], [id, false])
          deepStrictEqual(
            survivors,
            alone.filter(({ killers }) => killers.includes(id)).map(({ mutant }) => mutant.id)
          )
        }
      }))
  })
})
