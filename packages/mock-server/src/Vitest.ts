/**
 * The conformance suite as tests of vitest, for a team that keeps its own service, or its own mock, to
 * the reference contract.
 *
 * @since 0.1.0
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type * as Scope from "effect/Scope"
import { afterAll, assert, describe, it } from "vitest"
import * as Conformance from "./Conformance.ts"
import * as Contract from "./Contract.ts"
import * as Verdicts from "./internal/conformance/verdicts.ts"

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

const words = ({ claim, expects, observed, section }: Conformance.Result): string =>
  `${claim} (API document, section ${section}): expected ${expects}, and observed ${observed}`

/**
 * One test for each case, named after what it tries, and one at the end: that every documented claim
 * was tried. What cannot be tried on a sandbox is skipped, with the reason.
 *
 * @example
 * import { describeConformance } from "@effect-idv/mock-server/Vitest"
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
    const observations: Array<Conformance.Observation> = []

    const begin = Effect.gen(function*() {
      const asked = Effect.isEffect(target) ? yield* target : target
      const contract = evidence ?? (yield* Contract.load())
      return { contract, kind: asked.kind, run: yield* Conformance.start(asked) }
    })
    const begun = Effect.runSync(Effect.cached(begin))

    const judged = (cases: ReadonlyArray<Conformance.Case>) =>
      Effect.map(begun, ({ contract, kind }) => Conformance.judge(contract, observations, { kind, cases }))

    const tried = (one: Conformance.Case) =>
      Effect.gen(function*() {
        const { run } = yield* begun
        observations.push(yield* run.observe(one))
        return yield* judged([one])
      })

    afterAll(() => runtime.dispose())

    for (const one of Conformance.cases) {
      it(
        `${one.id}: ${one.title}`,
        (context) =>
          runtime.runPromise(tried(one)).then(({ kind, results: [result] }) => {
            if (result === undefined) return context.skip("the contract has no such claim")
            const isAlarm = Verdicts.isAlarm(kind, result)
            if (result.verdict === "skipped") {
              return isAlarm ? assert.fail(`skipped: ${result.reason}`) : context.skip(result.reason)
            }
            if (isAlarm) assert.fail(words(result))
          }),
        patience
      )
    }

    it(
      "every documented claim was tried",
      () => runtime.runPromise(judged(Conformance.cases)).then(({ unexecuted }) => assert.deepEqual(unexecuted, [])),
      patience
    )
  })
}

/** For a case of a sandbox: a few requests, each with its deadline. */
const patience = 60_000
