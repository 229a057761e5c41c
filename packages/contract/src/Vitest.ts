/**
 * The conformance suite as tests of vitest, for a team that keeps its own service, or its own mock, to
 * the reference contract.
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
import * as Verdicts from "./internal/judge.ts"
import * as Findings from "./internal/report/caseText.ts"
import * as Stopped from "./internal/run/stopped.ts"

/**
 * - `target`: who is asked. An effect, where that is known only once the tests run; its scope closes
 *   after them.
 * - `evidence`: the contract, that of this package by default.
 * - `httpClient`: how it is asked, by Undici by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly target: Conformance.Target | Effect.Effect<Conformance.Target, unknown, HttpClient.HttpClient | Scope.Scope>
  readonly evidence?: Contract.Evidence | undefined
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient, unknown> | undefined
}

/** What the effects of a test stand on. */
type Given = FileSystem.FileSystem | HttpClient.HttpClient | Scope.Scope

/** The first cases, from which it is seen whether the others can say anything. */
const first = ["token.granted", "token.status", "token.content-type", "aml.answered", "aml.status", "aml.credential"]

/** For a target that is an effect: nothing is known of it yet. */
const patience = "60 seconds"

/** How long a case may take: each of its requests, those on which it stands, and each of them again. */
const patienceOf = (
  { deadline = "10 seconds", spacing = "500 millis" }: Conformance.Target,
  { sends }: Conformance.Case
) => Duration.times(Duration.sum(Duration.decode(deadline), Duration.decode(spacing)), 3 * (sends.length + 4))

/** No timeout of vitest: those of the target count. */
const timeout = 0

/**
 * One test for each case, named after what it tries; one before them, which fails if they can say
 * nothing because the target does not answer as it should, and then they are skipped; and one at the
 * end: that every documented claim was tried. What cannot be tried on a sandbox is skipped, with the
 * reason; what drifts there is told as an annotation.
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
  { evidence, httpClient = NodeHttpClient.layerUndici, target }: Options
): void => {
  describe(name, () => {
    const runtime = ManagedRuntime.make(Layer.mergeAll(httpClient, NodeContext.layer, Layer.scope))
    // By case: what is tried again counts once.
    const observations = new Map<string, Conformance.Observation>()

    const begin = Effect.gen(function*() {
      const asked = Effect.isEffect(target) ? yield* Effect.timeout(target, patience) : target
      const contract = evidence ?? (yield* Contract.load())
      yield* Conformance.recognize(asked)
      return { asked, contract, run: yield* Conformance.start(asked) }
    })
    const begun = Effect.runSync(Effect.cached(begin))

    const observe = (one: Conformance.Case) =>
      Effect.gen(function*() {
        const { asked, run } = yield* begun
        const observation = yield* run.observe(one).pipe(
          Effect.disconnect,
          Effect.timeout(patienceOf(asked, one))
        )
        observations.set(one.id, observation)
        return observation
      })

    const judged = (observed: Iterable<Conformance.Observation>, cases: ReadonlyArray<Conformance.Case>) =>
      Effect.map(
        begun,
        ({ asked: { kind }, contract }) => Conformance.judge(contract, Array.from(observed), { kind, cases })
      )

    /** What several cases send alike is sent once, so that it costs nothing to ask for these first. */
    const reach = Effect.gen(function*() {
      const cases = Conformance.cases.filter(({ id }) => first.includes(id))
      const { asked } = yield* begun
      const report = yield* judged(yield* Effect.forEach(cases, observe), cases)
      const stopped = Stopped.of(report, asked)
      return { stopped, verdict: Conformance.verdict(report, asked) }
    })
    const reached = Effect.runSync(Effect.cached(reach))

    const isReached = Effect.match(reached, {
      onFailure: () => false,
      onSuccess: ({ stopped }) => stopped === undefined
    })

    const tried = (one: Conformance.Case) =>
      Effect.gen(function*() {
        const { asked, contract } = yield* begun
        if (!contract.claims.some(({ id }) => id === one.claim)) return { skipped: "the contract has no such claim" }
        const { results: [result] } = yield* judged([yield* observe(one)], [one])
        if (result === undefined) return { skipped: "nothing was seen" }
        const finding = `${one.claim} (API document, section ${result.section}): ${Findings.of(contract)(result)}`
        const isAlarm = Verdicts.isAlarm(asked.kind, result)
        if (isAlarm) return { failed: finding }
        if (result.verdict === "skipped") return { skipped: result.reason }
        return result.verdict === "pass" ? {} : { drifted: finding }
      })

    const untried = Effect.gen(function*() {
      const { run } = yield* begun
      const confirmed = yield* run.confirm(Array.from(observations.values()))
      const { unexecuted } = yield* judged(confirmed, Conformance.cases)
      return {
        unexecuted,
        doubts: confirmed.filter(({ case: id, skipped }) => skipped !== observations.get(id)?.skipped)
      }
    })

    afterAll(() => runtime.dispose())

    it("reaches the service", () =>
      runtime.runPromise(reached).then(({ stopped, verdict }) => {
        if (stopped !== undefined) assert.fail(verdict)
      }), timeout)

    /** What a test does, if it can say anything. */
    const whenReached = <A>(
      context: TestContext,
      effect: Effect.Effect<A, unknown, Given>,
      then: (value: A) => unknown
    ) =>
      runtime.runPromise(Effect.if(isReached, {
        onTrue: () => Effect.asSome(effect),
        onFalse: () => Effect.succeedNone
      })).then(Option.match({ onNone: () => context.skip("the service is not reached"), onSome: then }))

    for (const one of Conformance.cases) {
      it(`${one.id}: ${one.title}`, (context) =>
        whenReached(context, tried(one), ({ drifted, failed, skipped }) => {
          if (failed !== undefined) assert.fail(failed)
          if (skipped !== undefined) return context.skip(skipped)
          return drifted === undefined ? undefined : context.annotate(`drift: ${drifted}`)
        }), timeout)
    }

    it(
      "every documented claim was tried, and the service still answers",
      (context) =>
        whenReached(context, untried, ({ doubts, unexecuted }) => {
          assert.deepEqual(unexecuted, [])
          assert.deepEqual(doubts.map(({ case: id, skipped }) => `${id}: ${skipped}`), [])
        }),
      timeout
    )
  })
}
