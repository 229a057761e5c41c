/** 4. A steady load while short-lived tokens are renewed. */
import type { TokenPolicy } from "@effect-idv/core"
import { Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Stub from "./support/Stub.ts"

const Calls = Schema.Struct({ calls: Schema.Number, p99: Schema.Number, max: Schema.Number })

/** What checks took in milliseconds: all, those that met a renewal, and the others. */
const Round = Schema.Struct({ all: Calls, within: Calls, outside: Calls })

/** The rounds, and the tags of errors. */
const Steady = Schema.Struct({
  failures: Schema.Array(Schema.String),
  renewals: Schema.Number,
  rounds: Schema.Array(Round)
})

export interface Steady extends Schema.Schema.Type<typeof Steady> {}

const lifetime = 4
const tokenLatency = 800
const lifetimes = 10
const rounds = 5
const perSecond = 50

/** A renewal takes a fifth of the lifetime, so it begins earlier than by default; what is left over holds two. */
const soft = { least: 0.3, most: 0.4 }
const margin = 0.2
const policy: TokenPolicy.Options = {
  softPoint: soft.most,
  jitter: soft.most - soft.least,
  hardMargin: `${margin * 1000} millis`,
  minBackoff: "100 millis",
  maxBackoff: "100 millis"
}

/** Ages between which it is down: from before any soft point to the middle of the latest soft window. */
const downFrom = soft.least * lifetime * 1000
const downTo = Math.round((soft.most * lifetime + lifetime - margin) / 2 * 1000)

const seconds = lifetimes * lifetime / rounds

const token = { tokenSeconds: lifetime, tokenLatency }

const cases = {
  up: { title: "a policy for such tokens", stub: token },
  down: { title: "… and down for half of the soft window", stub: { ...token, downFrom, downTo } }
}

type Case = keyof typeof cases

const reason =
  "The longest shows that nobody waited for a token. But an acquisition takes its milliseconds of the core that checks have as well"

export const refresh = Effect.gen(function*() {
  const run = yield* Program.answering("contenders/refresh.ts", Steady)
  const measured = yield* Effect.all(
    Record.map(cases, ({ stub }) =>
      Effect.gen(function*() {
        const url = yield* Stub.start(stub)
        const steady = yield* run(url, JSON.stringify(policy), ...[rounds, seconds, perSecond].map(String))
        return { ...steady, ...(yield* Stub.counts(url)) }
      })),
    { concurrency: "unbounded" }
  )
  const goals = (name: Case): ReadonlyArray<Report.Goal> => {
    const { failures, rounds } = measured[name]
    return [
      {
        what: `p99 of all to p99 outside renewals, ${name}`,
        measured: Report.spread(rounds.map(({ all, outside }) => all.p99 / outside.p99)),
        is: "at most",
        limit: 1.1,
        unit: "×",
        reason
      },
      { what: `failures, ${name}`, measured: Report.spread([failures.length]), is: "at most", limit: 0, unit: "" }
    ]
  }
  const row = (name: Case) => {
    const { failures, refused, renewals, rounds } = measured[name]
    const range = (what: (round: typeof Round.Type) => number) => Report.range(Report.spread(rounds.map(what)))
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
      "tokens of 4 s",
      "p99 ms of all",
      "within renewals",
      "outside",
      "longest ms",
      "failed",
      "renewals",
      "refused"
    ],
    cells: [row("up"), row("down")],
    goals: [...goals("up"), ...goals("down")],
    notes: [
      `${perSecond} checks a second by the clock, whatever they take, for ${lifetimes} lifetimes after a warm-up, ${
        lifetimes / rounds
      } a round; a token takes ${tokenLatency} ms. Both run side by side, each with a service of its own.`,
      `The policy: softPoint ${policy.softPoint}, jitter 0.1, hardMargin ${policy.hardMargin}, and after a failure 100 ms. Half a soft window has to hold a renewal.`,
      `Down is the token endpoint with 503 from ${downFrom} to ${downTo} ms of the age of the last token, which is half of the window or more.`,
      "By default tokens of less than two minutes have no soft window, so callers wait for each."
    ]
  }
  return report
})
