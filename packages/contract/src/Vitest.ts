/**
 * The conformance suite as vitest tests, for a team that tests its own service or its own mock against the
 * reference contract.
 *
 * @since 0.1.0
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { afterAll, assert, describe, it, type TestContext } from "vitest"
import * as Conformance from "./Conformance.ts"
import * as Contract from "./Contract.ts"
import * as Judge from "./internal/judge.ts"
import * as Preflight from "./internal/preflight.ts"
import * as Summary from "./internal/report/summary.ts"
import { defaultDeadline, defaultSpacing } from "./internal/target.ts"

/**
 * Options of {@link describeConformance}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server to test, or an effect that returns it when the tests run. The effect's scope ends after them. */
  readonly target: Conformance.Target | Effect.Effect<Conformance.Target, unknown, HttpClient.HttpClient | Scope.Scope>
  /**
   * The contract.
   *
   * @default the reference contract of this package
   */
  readonly contract?: Contract.Contract | undefined
  /**
   * The HTTP client that sends the requests.
   *
   * @default NodeHttpClient.layerUndici
   */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient, unknown> | undefined
}

/** What the effects of the tests require. */
type Requirements = FileSystem.FileSystem | HttpClient.HttpClient | Scope.Scope

/** The deadline of the effect that returns the target. The deadline of the target applies only to its requests. */
const targetDeadline = "60 seconds"

/** The requests of a run that a case may have to send first, or once more. */
const requestsOfRun = 4

/** How long a case may take: each request, and the replacement of a token, can take its deadline and spacing. */
const caseDeadline = (
  { deadline = defaultDeadline, spacing = defaultSpacing }: Conformance.Target,
  { more = [], steps }: Conformance.Case
) =>
  Duration.times(
    Duration.sum(Duration.decode(deadline), Duration.decode(spacing)),
    3 * (steps.length + more.flatMap(({ steps }) => steps).length + requestsOfRun)
  )

/** Turns off vitest's own timeouts: those of the target apply. */
const timeout = 0

/**
 * Declares one test for each case, with the case's title. A first test fails if the documented requests fail, and
 * then all others are skipped. A last test checks that every documented claim was tested. Cases that a sandbox
 * cannot show are skipped with their reason. A drift of a sandbox becomes an annotation of its test.
 *
 * @example
 * import { describeConformance } from "@effect-idv/contract/Vitest"
 * import { Redacted } from "effect"
 *
 * describeConformance("Our sandbox", {
 *   target: {
 *     kind: "sandbox",
 *     authUrl: "https://auth.example.com",
 *     baseUrl: "https://api.example.com",
 *     customerId: "our-customer",
 *     customerKey: Redacted.make("our-key")
 *   }
 * })
 *
 * @category testing
 * @since 0.1.0
 */
export const describeConformance = (
  name: string,
  { contract: selected, httpClient = NodeHttpClient.layerUndici, target }: Options
): void => {
  describe(name, () => {
    const runtime = ManagedRuntime.make(Layer.mergeAll(httpClient, NodeContext.layer, Layer.scope))
    // By the id of the case: a test that vitest retries counts once.
    const observations = new Map<string, Conformance.Observation>()

    const setUp = Effect.runSync(Effect.cached(Effect.gen(function*() {
      const resolved = Effect.isEffect(target) ? yield* Effect.timeout(target, targetDeadline) : target
      const contract = selected ?? (yield* Contract.load())
      yield* Conformance.requireMockServer(resolved)
      return { target: resolved, contract, run: yield* Conformance.start(resolved) }
    })))

    /** A sandbox receives the probes in the order of the plan, before the first case reads its responses. */
    const sendPlan = Effect.runSync(
      Effect.cached(
        Effect.flatMap(
          setUp,
          ({ run, target }) =>
            target.kind === "sandbox" ? Effect.forEach(run.plan.items, run.send, { discard: true }) : Effect.void
        )
      )
    )

    const observe = (testCase: Conformance.Case) =>
      Effect.gen(function*() {
        const { run, target } = yield* setUp
        const observation = yield* run.observe(testCase).pipe(
          Effect.disconnect,
          Effect.timeout(caseDeadline(target, testCase))
        )
        observations.set(testCase.id, observation)
        return observation
      })

    const judge = (observations: Iterable<Conformance.Observation>, cases: ReadonlyArray<Conformance.Case>) =>
      Effect.map(
        setUp,
        ({ contract, target: { kind } }) => Conformance.judge(contract, Array.from(observations), { kind, cases })
      )

    /** The requests of these cases are needed anyway, and are sent once. */
    const preflight = Effect.runSync(Effect.cached(Effect.gen(function*() {
      const cases = Conformance.cases.filter(({ id }) => Preflight.caseIds.includes(id))
      const { target } = yield* setUp
      const report = yield* judge(yield* Effect.forEach(cases, observe), cases)
      return {
        isFailed: Preflight.explanationOf(report, target) !== undefined,
        verdict: Conformance.verdict(report, target)
      }
    })))

    const outcomeOf = (testCase: Conformance.Case) =>
      Effect.gen(function*() {
        const { contract } = yield* setUp
        if (!Judge.hasClaimOf(contract)(testCase)) return { skipped: "the contract has no such claim" }
        const report = yield* judge([yield* Effect.zipRight(sendPlan, observe(testCase))], [testCase])
        const { results: [result] } = report
        if (result === undefined) return { skipped: "nothing was observed" }
        const text = `${testCase.claim} (service document, section ${result.section}): ${
          Summary.textOf(contract)(result)
        }`
        if (Judge.isAlarm(report, result)) return { failed: text }
        if (result.verdict === "not tested") return { skipped: result.reason }
        return result.verdict === "pass" ? {} : { drifted: text }
      })

    const gaps = Effect.gen(function*() {
      const { run } = yield* setUp
      const confirmed = yield* run.confirm(Array.from(observations.values()))
      const { alarms, unexecuted } = yield* judge(confirmed, Conformance.cases)
      return {
        // A claim that needs a test person or a larger budget does not fail the test.
        unexecuted: unexecuted.filter((claim) => alarms.includes(claim)),
        unconfirmed: confirmed.filter(({ case: id, skipped }) => skipped !== observations.get(id)?.skipped)
      }
    })

    const isReachable = Effect.match(preflight, { onFailure: () => false, onSuccess: ({ isFailed }) => !isFailed })

    /** Runs an effect and passes its value to `check`, or skips the test if the preflight failed. */
    const afterPreflight = <A>(
      context: TestContext,
      effect: Effect.Effect<A, unknown, Requirements>,
      check: (value: A) => unknown
    ) =>
      runtime.runPromise(Effect.if(isReachable, {
        onTrue: () => Effect.asSome(effect),
        onFalse: () => Effect.succeedNone
      })).then(Option.match({ onNone: () => context.skip("the documented requests failed"), onSome: check }))

    afterAll(() => runtime.dispose())

    it(
      "the service responds to the documented requests",
      () =>
        runtime.runPromise(preflight).then(({ isFailed, verdict }) => {
          if (isFailed) assert.fail(verdict)
        }),
      timeout
    )

    for (const testCase of Conformance.cases) {
      it(
        `${testCase.id}: ${testCase.title}`,
        (context) =>
          afterPreflight(context, outcomeOf(testCase), ({ drifted, failed, skipped }) => {
            if (failed !== undefined) assert.fail(failed)
            if (skipped !== undefined) return context.skip(skipped)
            return drifted === undefined ? undefined : context.annotate(`drift: ${drifted}`)
          }),
        timeout
      )
    }

    it(
      "every documented claim was tested, and the service still responds",
      (context) =>
        afterPreflight(context, gaps, ({ unconfirmed, unexecuted }) => {
          assert.deepEqual(unexecuted, [])
          assert.deepEqual(unconfirmed.map(({ case: id, skipped }) => `${id}: ${skipped}`), [])
        }),
      timeout
    )
  })
}
