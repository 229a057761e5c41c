/**
 * A steady load, whatever the answers take, while tokens are renewed: `refresh.ts <url> <policy as
 * JSON> <rounds> <seconds of a round> <checks a second>` prints what a check took. Its time begins
 * when it was due.
 */
import { AmlClient, Idv, Person, type TokenPolicy, TokenProvider } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Console, Effect, Either, Logger, LogLevel, Option, Redacted, Stream } from "effect"
import { quantile } from "simple-statistics"
import type { Steady } from "../refresh.ts"

const [, , url = "", policy = "{}", rounds = "1", seconds = "0", rate = "0"] = process.argv

const tokenPolicy: TokenPolicy.Options = JSON.parse(policy)

/** Until the code is compiled, in seconds. */
const warmUp = 6

/** From the beginning of an acquisition until a new token is there, also if that takes several. */
interface Window {
  readonly from: number
  to: number
}

interface Call {
  readonly from: number
  readonly to: number
  readonly failure: string | undefined
}

const percentiles = (calls: ReadonlyArray<Call>) => {
  const took = calls.map(({ from, to }) => to - from)
  return { calls: took.length, p99: quantile(took, 0.99), max: quantile(took, 1) }
}

const program = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const { status } = yield* TokenProvider.TokenProvider
  const windows: Array<Window> = []
  let current: number | undefined
  yield* Effect.forkScoped(Stream.runForEach(status.changes, ({ isAcquiring, token }) =>
    Effect.sync(() => {
      const now = performance.now()
      const last = windows.at(-1)
      const requestedAt = Option.getOrUndefined(token)?.requestedAt
      if (last?.to === Infinity && requestedAt !== current) last.to = now
      else if (last?.to !== Infinity && isAcquiring) windows.push({ from: now, to: Infinity })
      current = requestedAt
    })))

  const calls: Array<Call> = []
  const check = Effect.flatMap(Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }), aml.check)
  const call = (from: number) =>
    Effect.map(
      Effect.either(check),
      (result) =>
        calls.push({ from, to: performance.now(), failure: Either.isLeft(result) ? result.left._tag : undefined })
    )

  const started = performance.now()
  const begun = started + warmUp * 1000
  const round = Number(seconds) * 1000
  const until = begun + Number(rounds) * round
  for (let due = started; due < until; due += 1000 / Number(rate)) {
    const wait = due - performance.now()
    if (wait > 0) yield* Effect.sleep(wait)
    yield* Effect.forkScoped(call(due))
  }
  yield* Effect.sleep("2 seconds")

  const isWithin = (call: Call) => windows.some(({ from, to }) => call.from <= to && call.to >= from)
  const counted = calls.filter(({ from }) => from >= begun)
  const steady: Steady = {
    failures: counted.flatMap(({ failure }) => failure ?? []),
    renewals: windows.filter(({ from, to }) => from >= begun && to < until).length,
    rounds: Arr.makeBy(Number(rounds), (index) => {
      const from = begun + index * round
      const all = counted.filter((call) => call.from >= from && call.from < from + round)
      return {
        all: percentiles(all),
        within: percentiles(all.filter(isWithin)),
        outside: percentiles(all.filter((call) => !isWithin(call)))
      }
    })
  }
  yield* Console.log(JSON.stringify(steady))
})

program.pipe(
  Effect.scoped,
  Effect.provide(Idv.layer({
    authUrl: url,
    baseUrl: url,
    customerId: "demo-customer",
    customerKey: Redacted.make("demo-key"),
    tokenPolicy
  })),
  Effect.provide(NodeHttpClient.layerUndici),
  // What stdout has is the answer.
  Logger.withMinimumLogLevel(LogLevel.None),
  NodeRuntime.runMain
)
