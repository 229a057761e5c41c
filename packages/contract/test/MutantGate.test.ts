import { NodeContext } from "@effect/platform-node"
import { describe, it, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import * as Conformance from "../src/Conformance.ts"
import * as Contract from "../src/Contract.ts"
import * as Mutant from "./mutants/Mutant.ts"
import * as MutantGate from "./support/mutantGate.ts"
import * as MutantMatrix from "./support/mutantMatrix.ts"

const page = readFileSync(new URL("../../../docs/mutants.md", import.meta.url), "utf8")

/** Of each mutant, what the cases of its own claim saw. */
class Seen extends Context.Tag("Seen")<Seen, {
  readonly evidence: Contract.Evidence
  readonly observed: MutantGate.Observed
}>() {}

const seen = Layer.effect(
  Seen,
  Effect.all({
    evidence: Contract.load(),
    observed: MutantGate.observe(Mutant.mutants, MutantGate.ownCases)
  })
).pipe(Layer.provide(NodeContext.layer), Layer.orDie)

const { cases } = Conformance

const gateOf = ({ evidence, observed }: typeof Seen.Service) => MutantGate.gate(evidence, cases, observed)

type Claim = Contract.Claim

const changed = ({ claims: [first, ...rest] }: Contract.Evidence, id: string, change: (claim: Claim) => Claim) => {
  const each = (claim: Claim) => claim.id === id ? change(claim) : claim
  return { claims: Arr.prepend(rest.map(each), each(first)) }
}

/** A claim that accepts these words too, as if they had been seen of a service. */
const loosened = (words: ReadonlyArray<string>) => (claim: Claim): Claim => ({
  ...claim,
  accept: Arr.appendAll(Arr.of(words[0] ?? ""), [...words, ...claim.accept ?? []]),
  observed: Arr.appendAll(Arr.of(words[0] ?? ""), [...words, ...(claim.mock ? [claim.mock.default] : [])])
})

describe("The gate", () => {
  layer(seen, { excludeTestServices: true, timeout: "120 seconds" })((it) => {
    it.effect("is green: every mutant is killed by its claim, and the right server by nothing", () =>
      Effect.gen(function*() {
        const { alarms, isGreen, rows, survivors, unbroken } = gateOf(yield* Seen)
        deepStrictEqual({ survivors, unbroken, alarms }, { survivors: [], unbroken: [], alarms: [] })
        strictEqual(isGreen, true)
        strictEqual(rows.length, Mutant.mutants.length)
      }))

    it.effect("has a mutant of every claim that a case exercises", () =>
      Effect.gen(function*() {
        const { observed } = yield* Seen
        const broken = observed.mutants.map(([{ claim }]) => claim)
        deepStrictEqual(
          Arr.dedupe(cases.map(({ claim }) => claim)).filter((claim) => !broken.includes(claim)),
          []
        )
      }))

    it.effect("turns red without any case that alone kills a mutant", () =>
      Effect.gen(function*() {
        const { evidence, observed } = yield* Seen
        const alone = gateOf(yield* Seen).rows.filter(({ killers }) => killers.length === 1)
        const needed = Arr.dedupe(alone.flatMap(({ killers }) => killers))
        // A token that is good for one use is also found by the whole run, which is `token.lifetime.kept`.
        deepStrictEqual(Arr.difference(cases.map(({ id }) => id), needed), ["token.lifetime.again"])
        for (const id of needed) {
          const { isGreen, survivors } = MutantGate.gate(evidence, cases.filter((one) => one.id !== id), observed)
          deepStrictEqual([id, isGreen], [id, false])
          deepStrictEqual(
            survivors,
            alone.filter(({ killers }) => killers.includes(id)).map(({ mutant }) => mutant.id)
          )
        }
      }))

    it.effect("turns red by every claim that accepts what its mutants do", () =>
      Effect.gen(function*() {
        const { evidence, observed } = yield* Seen
        for (const [claim, mutants] of Object.entries(Arr.groupBy(observed.mutants, ([{ claim }]) => claim))) {
          const own = new Set(cases.filter((one) => one.claim === claim).map(({ id }) => id))
          const seen = mutants.map(([{ id }, all]) => [id, all.filter((one) => own.has(one.case))] as const)
          const words = seen.flatMap(([, all]) => all.flatMap(({ seen }) => seen === undefined ? [] : [seen]))
          const contract = changed(evidence, claim, loosened(words))
          const { alarms, isGreen, survivors } = MutantGate.gate(contract, cases, observed)
          deepStrictEqual([claim, isGreen, alarms], [claim, false, []])
          // What was not tried, no word excuses.
          const judged = seen.filter(([, all]) =>
            all.every(({ skipped, standsOn }) => skipped === undefined || standsOn !== undefined)
          )
          deepStrictEqual(survivors, judged.map(([id]) => id))
          deepStrictEqual(judged.length > 0, true)
        }
      }))

    it.effect("turns red without the mutants of a documented claim", () =>
      Effect.gen(function*() {
        const { evidence, observed } = yield* Seen
        const documented = evidence.claims
          .filter(({ level, unobserved }) => level === "documented" && unobserved === undefined)
          .map(({ id }) => id)
        for (const claim of documented) {
          const mutants = observed.mutants.filter(([mutant]) => mutant.claim !== claim)
          const { isGreen, unbroken } = MutantGate.gate(evidence, cases, { ...observed, mutants })
          deepStrictEqual([unbroken, isGreen], [[claim], false])
        }
      }))

    it.effect("turns red by an alarm on the right server", () =>
      Effect.gen(function*() {
        const { evidence, observed } = yield* Seen
        const contract = changed(evidence, "token.success.status", (claim) => ({ ...claim, accept: [201] }))
        const { alarms, isGreen } = MutantGate.gate(contract, cases, observed)
        deepStrictEqual([alarms, isGreen], [["token.status"], false])
      }))

    it.effect("docs/mutants.md has every mutant, and which cases of its claim fail it", () =>
      Effect.gen(function*() {
        const { evidence } = yield* Seen
        const gate = gateOf(yield* Seen)
        // What else fails takes all cases of all mutants to know, which is what `pnpm mutants` is for.
        const known = (text: string) => text.replaceAll(/[^|\n]*\|$/gm, "")
        strictEqual(known(page), known(MutantMatrix.page(gate, evidence)))
      }))
  })

  it.live("docs/mutants.md has the other cases that fail, of every twentieth mutant", () =>
    Effect.gen(function*() {
      const evidence = yield* Contract.load()
      const some = Mutant.mutants.filter((_, index) => index % 20 === 0)
      const observed = yield* MutantGate.observe(some, () => cases)
      const { rows } = MutantGate.gate(evidence, cases, observed)
      deepStrictEqual(rows.map(MutantMatrix.cells).filter((row) => !page.includes(row)), [])
    }).pipe(Effect.provide(NodeContext.layer)))
})
