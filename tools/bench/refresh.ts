/** Measures checks at a fixed rate while short-lived tokens are renewed. */
import type { TokenProvider } from "@effect-idv/core"
import { Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Stub from "./support/Stub.ts"

const Calls = Schema.Struct({ calls: Schema.Number, p99: Schema.Number, max: Schema.Number })

/** The times of checks in milliseconds: all, those during a renewal, and the others. */
const Round = Schema.Struct({ all: Calls, within: Calls, outside: Calls })

/** The rounds, the number of renewals, and the tags of errors. */
const SteadyLoad = Schema.Struct({
  failures: Schema.Array(Schema.String),
  renewals: Schema.Number,
  rounds: Schema.Array(Round)
})

export interface SteadyLoad extends Schema.Schema.Type<typeof SteadyLoad> {}

/** In seconds: long enough for several attempts, with the backoff from 1 s, while the endpoint is down. */
const lifetime = 15
const tokenLatency = 800
const lifetimes = 3
const rounds = 3
const perSecond = 50

/**
 * Parts of the lifetime between which refresh-after lies. A renewal starts earlier than by default, so that the
 * remaining time is enough for the backoff.
 */
const refreshAfter = { min: 0.3, max: 0.4 }
const margin = 0.2
const policy: TokenProvider.PolicyOptions = {
  refreshAfter: refreshAfter.max,
  expiryMargin: `${margin * 1000} millis`
}

/** Token ages between which the endpoint is down: from the earliest refresh-after to the middle of the latest refresh window. */
const downFrom = refreshAfter.min * lifetime * 1000
const downTo = Math.round((refreshAfter.max * lifetime + lifetime - margin) / 2 * 1000)

const seconds = lifetimes * lifetime / rounds

const token = { tokenSeconds: lifetime, tokenLatency }

const cases = {
  up: { title: "token endpoint up", stub: token },
  down: { title: "down for half of the refresh window", stub: { ...token, downFrom, downTo } }
}

type Case = keyof typeof cases

const reason =
  "The maximum shows that no check waited for a token. But an acquisition uses the CPU core that the checks use"

export const refresh = Effect.gen(function*() {
  const run = yield* Program.compileJsonProgram("workloads/refresh.ts", SteadyLoad)
  const measured = yield* Effect.all(
    Record.map(cases, ({ stub }) =>
      Effect.gen(function*() {
        const url = yield* Stub.start(stub)
        const result = yield* run(url, JSON.stringify(policy), ...[rounds, seconds, perSecond].map(String))
        return { ...result, ...(yield* Stub.counts(url)) }
      })),
    { concurrency: "unbounded" }
  )
  const goals = (name: Case): ReadonlyArray<Report.Goal> => {
    const { failures, rounds } = measured[name]
    return [
      {
        what: `p99 of all, relative to p99 outside renewals, ${name}`,
        measured: Report.spread(rounds.map(({ all, outside }) => all.p99 / outside.p99)),
        is: "at most",
        limit: 1.1,
        unit: "×",
        reason
      },
      {
        what: `failures, ${name}`,
        measured: Report.spread([failures.length]),
        is: "at most",
        limit: 0,
        unit: "",
        isExact: true
      }
    ]
  }
  const row = (name: Case) => {
    const { failures, refused, renewals, rounds } = measured[name]
    const range = (value: (round: typeof Round.Type) => number) => Report.range(Report.spread(rounds.map(value)))
    return [
      cases[name].title,
      range(({ all }) => all.p99),
      range(({ within }) => within.p99),
      range(({ outside }) => outside.p99),
      range(({ all }) => all.max),
      [`${failures.length} of ${rounds.reduce((sum, { all }) => sum + all.calls, 0)}`, ...new Set(failures)].join(" "),
      String(renewals),
      String(refused)
    ]
  }
  const report: Report.Report = {
    columns: [
      `tokens of ${lifetime} s`,
      "p99 ms, all",
      "during renewals",
      "outside",
      "max ms",
      "failed",
      "renewals",
      "503s"
    ],
    cells: [row("up"), row("down")],
    goals: [...goals("up"), ...goals("down")],
    notes: [
      `${perSecond} checks per second at a fixed rate. After a warm-up: ${rounds} rounds of ${
        lifetimes / rounds
      } token lifetimes. A token request takes ${tokenLatency} ms. Both cases run in parallel, each with a separate service.`,
      `Token policy: refreshAfter ${policy.refreshAfter}, expiryMargin ${policy.expiryMargin}. A renewal must fit into half of the refresh window, which is the time between refresh-after and usable-until.`,
      `Down: the token endpoint responds with 503 while the last token is ${downFrom} to ${downTo} ms old. This covers at least half of the refresh window.`,
      "By default a token with a lifetime under two minutes has no refresh window, so callers wait for each renewal."
    ]
  }
  return report
})
