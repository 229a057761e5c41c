/** Whether the conformance suite finds every mutant, and raises no alarm on the mock server itself. */
import { Array as Arr, Effect, Struct } from "effect"
import { MockServer } from "../../../mock-server/src/index.ts"
import * as Conformance from "../../src/Conformance.ts"
import type * as Contract from "../../src/Contract.ts"
import * as Judge from "../../src/internal/judge.ts"
import * as Mutant from "../mutants/Mutant.ts"

type Observations = ReadonlyArray<Conformance.Observation>

/** The observations of the mock server and of each mutant. */
export interface Observed {
  readonly mockServer: Observations
  readonly mutants: ReadonlyArray<readonly [Mutant.Mutant, Observations]>
}

const target = { kind: "mock", authUrl: "http://localhost", baseUrl: "http://localhost" } as const

/** The cases of a mutant's claim, which must find it. A late mutant also needs many other cases. */
const ownCases = ({ claim, isLate }: Mutant.Mutant): ReadonlyArray<Conformance.Case> =>
  Conformance.cases.filter((testCase, index) => testCase.claim === claim || (isLate === true && index % 16 === 0))

/** How many cases a mutant runs before it is known whether one of them finds it. */
const atOnce = 4

/**
 * Runs the mock server, and every mutant with the cases of its claim, in process and one after the other. In-process runs
 * never wait for I/O, so concurrent ones would starve the import of the module that signs JWTs, and a pause after
 * each mutant lets the test runner send its messages. With `untilFound`, a mutant runs cases only until one finds it.
 */
export const observe = (
  mutants: ReadonlyArray<Mutant.Mutant>,
  untilFound?: Contract.Contract
): Effect.Effect<Observed> =>
  Effect.gen(function*() {
    const mockServer = yield* Conformance.observe(target)
    const run = (mutant: Mutant.Mutant) =>
      Effect.gen(function*() {
        const cases = ownCases(mutant)
        const isWhole = untilFound === undefined || mutant.isLate
        // Most mutants are found by the first probe of a case.
        const firstProbes = cases.map((testCase) => Struct.omit(testCase, "more"))
        const observations = new Map<string, Conformance.Observation>()
        for (const group of isWhole ? [cases] : [...Arr.chunksOf(firstProbes, atOnce), ...Arr.chunksOf(cases, 1)]) {
          for (const observation of yield* Conformance.observe(target, group)) {
            observations.set(observation.case, observation)
          }
          const all = Array.from(observations.values())
          if (untilFound !== undefined && killersOf(untilFound, cases, mutant, all).length > 0) break
        }
        return [mutant, Array.from(observations.values())] as const
      }).pipe(Effect.provide(Mutant.layerShared(mutant)), Effect.zipLeft(Effect.sleep(0)))
    return { mockServer, mutants: yield* Effect.forEach(mutants, run) }
  }).pipe(Effect.provide(MockServer.layerHttpClientWith({})))

/** The alarms that a mutant raises. */
export interface Row {
  readonly mutant: Mutant.Mutant
  /** The cases of the mutant's claim that raised an alarm. */
  readonly killers: ReadonlyArray<string>
}

export interface Gate {
  readonly rows: ReadonlyArray<Row>
  /** The mutants that no case of their claim finds. */
  readonly survivors: ReadonlyArray<string>
  /** The documented claims that a request can show and that no mutant violates. */
  readonly withoutMutant: ReadonlyArray<string>
  /** The alarms on the mock server itself. */
  readonly alarms: ReadonlyArray<string>
  readonly isPassed: boolean
}

const judge = (
  reference: Contract.Contract,
  cases: ReadonlyArray<Conformance.Case>,
  observations: Observations
): Conformance.Report => {
  const observed = new Set(observations.map((observation) => observation.case))
  return Conformance.judge(reference, observations, {
    kind: "mock",
    cases: cases.filter(({ id }) => observed.has(id)),
    failOn: ["violated", "lenient", "drift"]
  })
}

const killersOf = (
  reference: Contract.Contract,
  cases: ReadonlyArray<Conformance.Case>,
  { claim }: Mutant.Mutant,
  observations: Observations
): ReadonlyArray<string> => {
  const report = judge(reference, cases, observations)
  return report.results.filter((result) => result.claim === claim && Judge.isAlarm(report, result)).map(({ id }) => id)
}

export const gate = (
  reference: Contract.Contract,
  cases: ReadonlyArray<Conformance.Case>,
  { mockServer, mutants }: Observed
): Gate => {
  const rows = mutants.map(([mutant, observations]): Row => ({
    mutant,
    killers: killersOf(reference, cases, mutant, observations)
  }))
  const survivors = rows.filter(({ killers }) => killers.length === 0).map(({ mutant }) => mutant.id)
  const violated = new Set(mutants.map(([{ claim }]) => claim))
  const withoutMutant = reference.claims
    .filter(({ id, level, unobserved }) => level === "documented" && unobserved === undefined && !violated.has(id))
    .map(({ id }) => id)
  const { alarms } = judge(reference, cases, mockServer)
  return {
    rows,
    survivors,
    withoutMutant,
    alarms,
    isPassed: survivors.length + withoutMutant.length + alarms.length === 0
  }
}
