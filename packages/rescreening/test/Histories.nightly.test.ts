/** Random histories of runs, decisions, approvals and erasures in a real database, against a model. */
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Exit, FastCheck as fc, Runtime, Schema, Stream } from "effect"
import { Decisions, Ledger, PersonalData, Report, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { withLedger } from "./support/runs.ts"

const people = ["K1", "K2", "K3"] as const
const policy = Schema.decodeSync(Run.Policy)({})
const reviewers = ["ana", "bob", "Ana "] as const

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ action: fc.constant("run" as const), evidence: fc.nat(1) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      action: fc.constantFrom("decide" as const, "approve" as const),
      person: fc.constantFrom(...people),
      by: fc.constantFrom(...reviewers),
      decision: fc.constantFrom("false_positive", "true_match"),
      /** Whether the reviewer saw the evidence of the newest run, or that of the run before. */
      isStale: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      action: fc.constantFrom("erase" as const, "hold" as const, "release" as const),
      person: fc.constantFrom(...people),
      keepsHistory: fc.boolean()
    })
  }
)

type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

/** The model of one person: the decisions about each evidence, and whether the person is on hold. */
interface Decided {
  readonly evidence: string
  readonly decision: string
  readonly by: string
  isApproved: boolean
}

const isSame = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()

const history = (id: string, steps: ReadonlyArray<Step>, fourEyes: boolean) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const serviceName = `service-${id}`
    const ofPerson = (person: string) => `${id}-${person}`
    const decided = new Map<string, Array<Decided>>()
    const held = new Set<string>()
    /** The digests that the newest run and the run before showed. */
    let shown = new Map<string, string>()
    let shownBefore = new Map<string, string>()
    /** The people whose rows of the newest run are erased. */
    const erased = new Set<string>()
    let run = ""
    let runs = 0

    const rows = (name: string) => Effect.map(Stream.runCollect(Report.rows(name)), Chunk.toReadonlyArray)

    const check = Effect.gen(function*() {
      if (run === "") return
      const found = (yield* rows(run)).filter((row) => row.id !== "").map((row) => [row.id, row.decision] as const)
      const expected = people.filter((person) => !erased.has(person)).map((person) => {
        const all = decided.get(person) ?? []
        const evidence = shown.get(person)
        const last = all.findLast((entry) => entry.evidence === evidence)
        return [
          ofPerson(person),
          all.length === 0
            ? ""
            : last === undefined
            ? "review_again"
            : fourEyes && !last.isApproved
            ? "awaiting_approval"
            : last.decision
        ] as const
      })
      deepStrictEqual(found, expected)
    })

    const perform = (step: Step) =>
      Effect.gen(function*() {
        switch (step.action) {
          case "run": {
            run = `${id}-${++runs}`
            yield* ledger.plan(
              { id: run, policy: { ...policy, fourEyes }, service: serviceName, people: "lookup" },
              Stream.fromIterable(
                people.map((person, index) => ({ line: index + 1, id: ofPerson(person), person: null, codes: [] }))
              ),
              () => "digest"
            )
            const claims = yield* ledger.claim({ run, limit: people.length, lease: 60_000 })
            yield* ledger.send(run, claims, serviceName)
            yield* ledger.settle(
              run,
              claims.map(({ line, token }) => ({
                line,
                token,
                requests: 1,
                outcome: { state: "potential_match" as const, contentDigest: `${people[line - 1]} ${step.evidence}` }
              }))
            )
            yield* ledger.complete(run, { unknown: 0 })
            shownBefore = shown
            shown = new Map(
              (yield* rows(run)).map(({ digest, id: key }) => [key.slice(id.length + 1), digest])
            )
            erased.clear()
            return
          }
          case "decide":
          case "approve": {
            if (run === "") return
            const digest = (step.isStale ? shownBefore : shown).get(step.person) ?? "none"
            const exit = yield* Effect.exit(Decisions.store(run, [{
              id: ofPerson(step.person),
              digest,
              decision: step.decision,
              reason: "age"
            }], { reviewer: step.by, approves: step.action === "approve" }))
            const isSeen = !erased.has(step.person) && digest === shown.get(step.person)
            const all = decided.get(step.person) ?? []
            const last = all.findLast((entry) => entry.evidence === digest)
            const isAccepted = isSeen && (step.action === "decide" ||
              (last !== undefined && last.decision === step.decision && !isSame(last.by, step.by)))
            deepStrictEqual(Exit.isSuccess(exit), isAccepted)
            if (!isAccepted) return
            if (step.action === "approve" && last !== undefined) last.isApproved = true
            if (step.action === "decide") {
              decided.set(step.person, [...all, {
                evidence: digest,
                decision: step.decision,
                by: step.by,
                isApproved: false
              }])
            }
            return
          }
          case "erase": {
            const exit = yield* Effect.exit(
              PersonalData.erase(ofPerson(step.person), { actor: "dpo", keepsHistory: step.keepsHistory })
            )
            if (held.has(step.person)) return deepStrictEqual(Exit.isSuccess(exit), false)
            if (run !== "") erased.add(step.person)
            if (!step.keepsHistory) decided.delete(step.person)
            return
          }
          case "hold":
          case "release": {
            const exit = yield* Effect.exit(
              PersonalData.hold(ofPerson(step.person), { actor: "legal", releases: step.action === "release" })
            )
            if (Exit.isFailure(exit)) return
            if (step.action === "hold") held.add(step.person)
            else held.delete(step.person)
          }
        }
      })

    for (const each of steps) {
      yield* perform(each)
      yield* check
    }
  })

/** 1,000 histories, in ledgers of 50, because a report reads the list of all runs. */
const ledgers = 20
const perLedger = 50

describe.each(Databases.kinds)("Histories in %s", (_, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped(
      "lose no decision, apply none to other evidence, and count none without its approval",
      () =>
        Effect.gen(function*() {
          let count = 0
          const ofLedger = Effect.gen(function*() {
            const runtime = yield* Effect.runtime<Ledger.Ledger>()
            yield* Effect.promise(() =>
              fc.assert(
                fc.asyncProperty(
                  fc.array(step, { minLength: 4, maxLength: 14 }),
                  fc.boolean(),
                  (steps, fourEyes) =>
                    Runtime.runPromise(runtime)(history(`h${++count}`, steps, fourEyes).pipe(Effect.orDie))
                ),
                { numRuns: perLedger, endOnFailure: true }
              )
            )
          })
          yield* Effect.replicateEffect(Effect.scoped(withLedger(ofLedger)), ledgers)
          strictEqual(count, ledgers * perLedger)
        }),
      3_600_000
    )
  })
})
