/** Whether the conformance suite finds every mutant, and finds nothing on the mock server itself. */
import { HttpClient } from "@effect/platform"
import { Array as Arr, Effect } from "effect"
import { MockServer } from "../../../mock-server/src/index.ts"
import * as Conformance from "../../src/Conformance.ts"
import type * as Contract from "../../src/Contract.ts"
import * as Verdicts from "../../src/internal/judge.ts"
import * as Mutant from "../mutants/Mutant.ts"

type Observations = ReadonlyArray<Conformance.Observation>

type Judged = Pick<Mutant.Mutant, "id" | "claim" | "breaks" | "isLate">

/** What was seen of the right server and of each mutant. */
export interface Observed {
  readonly right: Observations
  readonly mutants: ReadonlyArray<readonly [Judged, Observations]>
}

const target = { kind: "mock", authUrl: "http://localhost", baseUrl: "http://localhost" } as const

/** The cases of a mutant's own claim: what must find it. One that ends needs the others to end. */
export const ownCases = ({ claim, isLate }: Judged): ReadonlyArray<Conformance.Case> =>
  isLate === true ? Conformance.cases : Conformance.cases.filter((one) => one.claim === claim)

/** In process, in front of one server: to begin another takes as long as twenty cases. */
export const observe = (
  mutants: ReadonlyArray<Mutant.Mutant>,
  casesOf: (mutant: Judged) => ReadonlyArray<Conformance.Case>
): Effect.Effect<Observed> =>
  Effect.gen(function*() {
    const right = yield* Conformance.observe(target)
    const observed = yield* Effect.forEach(
      mutants,
      (mutant) =>
        Conformance.observe(target, casesOf(mutant)).pipe(
          Effect.provideServiceEffect(HttpClient.HttpClient, Mutant.client(mutant)),
          Effect.map((observations): readonly [Judged, Observations] => [mutant, observations])
        ),
      { concurrency: 4 }
    )
    return { right, mutants: observed }
  }).pipe(Effect.provide(MockServer.layerHttpClientWith({})))

/**
 * - `killers`: the cases of the mutant's own claim that alarmed: that failed, or could not be tried.
 *   `others`: the other cases that did.
 */
export interface Row {
  readonly mutant: Judged
  readonly killers: ReadonlyArray<string>
  readonly others: ReadonlyArray<string>
}

/**
 * - `survivors`: mutants that no case of their own claim fails.
 * - `unbroken`: documented claims that a request can show, without a mutant.
 * - `alarms`: what is wrong with the right server.
 */
export interface Gate {
  readonly rows: ReadonlyArray<Row>
  readonly survivors: ReadonlyArray<string>
  readonly unbroken: ReadonlyArray<string>
  readonly alarms: ReadonlyArray<string>
  readonly isGreen: boolean
}

export const gate = (
  evidence: Contract.Evidence,
  cases: ReadonlyArray<Conformance.Case>,
  { mutants, right }: Observed
): Gate => {
  const judge = (observations: Observations) => {
    const observed = new Set(observations.map((observation) => observation.case))
    return Conformance.judge(evidence, observations, {
      kind: "mock",
      cases: cases.filter(({ id }) => observed.has(id))
    })
  }
  const rows = mutants.map(([mutant, observations]): Row => {
    const failed = judge(observations).results.filter((result) => Verdicts.isAlarm("mock", result))
    const [others, killers] = Arr.partition(failed, ({ claim }) => claim === mutant.claim)
    return { mutant, killers: killers.map(({ id }) => id), others: others.map(({ id }) => id) }
  })
  const survivors = rows.filter(({ killers }) => killers.length === 0).map(({ mutant }) => mutant.id)
  const broken = new Set(mutants.map(([{ claim }]) => claim))
  const unbroken = evidence.claims
    .filter(({ id, level, unobserved }) => level === "documented" && unobserved === undefined && !broken.has(id))
    .map(({ id }) => id)
  const { alarms } = judge(right)
  return {
    rows,
    survivors,
    unbroken,
    alarms,
    isGreen: survivors.length + unbroken.length + alarms.length === 0
  }
}
