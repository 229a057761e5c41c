/** Whether the conformance suite finds every mutant, and raises no alarm on the mock server itself. */
import { Effect } from "effect"
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

/** The cases of a mutant's claim, which must find it. A late mutant also needs many other cases to become wrong. */
const ownCases = ({ claim, isLate }: Mutant.Mutant): ReadonlyArray<Conformance.Case> =>
  Conformance.cases.filter((testCase, index) => testCase.claim === claim || (isLate === true && index % 16 === 0))

/**
 * Runs the mock server, and every mutant with the cases of its claim, in process and one after the other. In-process runs
 * never wait for I/O, so concurrent ones would starve the import of the module that signs JWTs, and a pause after
 * each mutant lets the test runner send its messages.
 */
export const observe = (mutants: ReadonlyArray<Mutant.Mutant>): Effect.Effect<Observed> =>
  Effect.gen(function*() {
    const mockServer = yield* Conformance.observe(target)
    const observed = yield* Effect.forEach(
      mutants,
      (mutant) =>
        Conformance.observe(target, ownCases(mutant)).pipe(
          Effect.provide(Mutant.layerShared(mutant)),
          Effect.map((observations): readonly [Mutant.Mutant, Observations] => [mutant, observations]),
          Effect.zipLeft(Effect.sleep(0))
        )
    )
    return { mockServer, mutants: observed }
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

export const gate = (
  evidence: Contract.Evidence,
  cases: ReadonlyArray<Conformance.Case>,
  { mockServer, mutants }: Observed
): Gate => {
  const judge = (observations: Observations) => {
    const observed = new Set(observations.map((observation) => observation.case))
    return Conformance.judge(evidence, observations, {
      kind: "mock",
      cases: cases.filter(({ id }) => observed.has(id)),
      failOn: ["violated", "lenient", "drift"]
    })
  }
  const rows = mutants.map(([mutant, observations]): Row => {
    const report = judge(observations)
    const killers = report.results.filter((result) => result.claim === mutant.claim && Judge.isAlarm(report, result))
    return { mutant, killers: killers.map(({ id }) => id) }
  })
  const survivors = rows.filter(({ killers }) => killers.length === 0).map(({ mutant }) => mutant.id)
  const violated = new Set(mutants.map(([{ claim }]) => claim))
  const withoutMutant = evidence.claims
    .filter(({ id, level, unobserved }) => level === "documented" && unobserved === undefined && !violated.has(id))
    .map(({ id }) => id)
  const { alarms } = judge(mockServer)
  return {
    rows,
    survivors,
    withoutMutant,
    alarms,
    isPassed: survivors.length + withoutMutant.length + alarms.length === 0
  }
}
