/**
 * Sends checks at a fixed rate while tokens are renewed: `refresh.ts <url> <policy as JSON> <rounds>
 * <seconds per round> <checks per second>` prints the times of the checks. The time of a check starts
 * when it is due.
 */
import { AmlClient, Idv, Person, TokenProvider } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Array as Arr, Console, Effect, Either, Logger, LogLevel, Option, Redacted, Stream } from "effect"
import { quantile } from "simple-statistics"
import type { SteadyLoad } from "../refresh.ts"

const [, , url = "", policy = "{}", rounds = "1", seconds = "0", rate = "0"] = process.argv

const tokenPolicy: TokenProvider.PolicyOptions = JSON.parse(policy)

/** Seconds until the code is compiled. */
const warmUpSeconds = 6

/** The time from the start of an acquisition until the next token, which may take several acquisitions. */
interface RenewalWindow {
  readonly from: number
  to: number
}

interface Call {
  readonly from: number
  readonly to: number
  readonly failure: string | undefined
}

const percentiles = (calls: ReadonlyArray<Call>) => {
  const times = calls.map(({ from, to }) => to - from)
  return { calls: times.length, p99: quantile(times, 0.99), max: quantile(times, 1) }
}

const program = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const { status } = yield* TokenProvider.TokenProvider
  const windows: Array<RenewalWindow> = []
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

  const warmUpFrom = performance.now()
  const measureFrom = warmUpFrom + warmUpSeconds * 1000
  const roundMillis = Number(seconds) * 1000
  const until = measureFrom + Number(rounds) * roundMillis
  for (let due = warmUpFrom; due < until; due += 1000 / Number(rate)) {
    const wait = due - performance.now()
    if (wait > 0) yield* Effect.sleep(wait)
    yield* Effect.forkScoped(call(due))
  }
  yield* Effect.sleep("2 seconds")

  const isDuringRenewal = (call: Call) => windows.some(({ from, to }) => call.from <= to && call.to >= from)
  const measured = calls.filter(({ from }) => from >= measureFrom)
  const result: SteadyLoad = {
    failures: measured.flatMap(({ failure }) => failure ?? []),
    renewals: windows.filter(({ from, to }) => from >= measureFrom && to < until).length,
    rounds: Arr.makeBy(Number(rounds), (index) => {
      const from = measureFrom + index * roundMillis
      const all = measured.filter((call) => call.from >= from && call.from < from + roundMillis)
      return {
        all: percentiles(all),
        within: percentiles(all.filter(isDuringRenewal)),
        outside: percentiles(all.filter((call) => !isDuringRenewal(call)))
      }
    })
  }
  yield* Console.log(JSON.stringify(result))
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
  // stdout must contain only the result.
  Logger.withMinimumLogLevel(LogLevel.None),
  NodeRuntime.runMain
)
