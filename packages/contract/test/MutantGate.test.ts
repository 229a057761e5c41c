import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, Effect, Layer } from "effect"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"
import { inapplicable } from "../src/internal/run/limits.ts"
import * as Mutant from "./mutants/Mutant.ts"
import * as MutantGate from "./support/mutantGate.ts"

/** One mutant of each documented claim. MutantGate.nightly.test.ts runs all. */
const mutantsOf = ({ claims }: Contract.Contract) => {
  const documented = claims.filter(({ level }) => level === "documented").map(({ id }) => id)
  return Arr.dedupeWith(Mutant.mutants, (left, right) => left.claim === right.claim)
    .filter(({ claim }) => documented.includes(claim))
}

/** The observations of each mutant by cases of its claim, until one finds it. */
class Observed extends Context.Tag("Observed")<Observed, {
  readonly reference: Contract.Contract
  readonly observed: MutantGate.Observed
}>() {}

const layerObserved = Layer.effect(
  Observed,
  Effect.flatMap(
    Contract.load(),
    (reference) =>
      Effect.map(MutantGate.observe(mutantsOf(reference), reference), (observed) => ({ reference, observed }))
  )
).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

const { cases } = Conformance

type Claim = Contract.Claim

const changed = ({ claims: [first, ...rest] }: Contract.Contract, id: string, change: (claim: Claim) => Claim) => {
  const each = (claim: Claim) => claim.id === id ? change(claim) : claim
  return { claims: Arr.prepend(rest.map(each), each(first)) }
}

/** A claim that also accepts these words, as if a service had shown them before. */
const loosened = (words: ReadonlyArray<string>) => (claim: Claim): Claim => ({
  ...claim,
  accept: Arr.appendAll(Arr.of(words[0] ?? ""), [...words, ...claim.accept ?? []]),
  observed: Arr.appendAll(Arr.of(words[0] ?? ""), [...words, ...(claim.mock ? [claim.mock.default] : [])])
})

describe("The mutant gate", () => {
  layer(layerObserved, { excludeTestServices: true })((it) => {
    it.effect("passes: a case of its claim finds every mutant, and no case fails on the mock server", () =>
      Effect.gen(function*() {
        const { observed, reference } = yield* Observed
        const { alarms, isPassed, rows, survivors, withoutMutant } = MutantGate.gate(reference, cases, observed)
        deepStrictEqual({ survivors, withoutMutant, alarms }, { survivors: [], withoutMutant: [], alarms: [] })
        strictEqual(isPassed, true)
        deepStrictEqual([rows.length, rows.length > 20], [mutantsOf(reference).length, true])
      }))

    it("has a mutant for every claim that a case tests", () => {
      const violated = Mutant.mutants.map(({ claim }) => claim)
      deepStrictEqual(Arr.dedupe(cases.map(({ claim }) => claim)).filter((claim) => !violated.includes(claim)), [])
    })

    it.effect("fails if a claim accepts the behavior of its mutants", () =>
      Effect.gen(function*() {
        const { observed, reference } = yield* Observed
        for (const [claim, mutants] of Object.entries(Arr.groupBy(observed.mutants, ([{ claim }]) => claim))) {
          const own = new Set(cases.filter((testCase) => testCase.claim === claim).map(({ id }) => id))
          const observations = mutants.map(([{ id }, all]) => [id, all.filter((each) => own.has(each.case))] as const)
          const words = observations.flatMap(([, all]) => all.flatMap(({ observed }) => observed ?? []))
          const contract = changed(reference, claim, loosened(words))
          const { alarms, isPassed, survivors } = MutantGate.gate(contract, cases, { ...observed, mutants })
          deepStrictEqual([claim, isPassed, alarms], [claim, false, []])
          // Accepting a word does not excuse a skipped case.
          const judged = observations.filter(([, all]) =>
            all.every(({ dependsOn, skipped }) =>
              skipped === undefined || dependsOn !== undefined || Object.values(inapplicable).includes(skipped)
            )
          )
          deepStrictEqual(survivors, judged.map(([id]) => id))
          deepStrictEqual(judged.length > 0, true)
        }
      }))

    it.effect("fails without the mutants of a documented claim", () =>
      Effect.gen(function*() {
        const { observed, reference } = yield* Observed
        const documented = reference.claims
          .filter(({ level, unobserved }) => level === "documented" && unobserved === undefined)
          .map(({ id }) => id)
        for (const claim of documented) {
          const mutants = observed.mutants.filter(([mutant]) => mutant.claim !== claim)
          const { isPassed, withoutMutant } = MutantGate.gate(reference, cases, { ...observed, mutants })
          deepStrictEqual([withoutMutant, isPassed], [[claim], false])
        }
      }))

    it.effect("fails on an alarm on the mock server", () =>
      Effect.gen(function*() {
        const { observed, reference } = yield* Observed
        const contract = changed(reference, "token.success.status", (claim) => ({ ...claim, accept: [201] }))
        const { alarms, isPassed } = MutantGate.gate(contract, cases, observed)
        deepStrictEqual([alarms, isPassed], [["token.status"], false])
      }))
  })
})
