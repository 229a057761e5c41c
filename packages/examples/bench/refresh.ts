/** 4. A steady load while short-lived tokens are renewed. */
import type { TokenPolicy } from "@effect-idv/core"
import { Effect, Record, Schema } from "effect"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Stub from "./support/Stub.ts"

const Calls = Schema.Struct({ calls: Schema.Number, p50: Schema.Number, p99: Schema.Number, max: Schema.Number })

/** What checks took in milliseconds: all, those that met a renewal, and the others; and the tags of errors. */
const Steady = Schema.Struct({
  failures: Schema.Array(Schema.String),
  renewals: Schema.Number,
  all: Calls,
  within: Calls,
  outside: Calls
})

export interface Steady extends Schema.Schema.Type<typeof Steady> {}

const lifetime = 4
const tokenLatency = 800
const lifetimes = 10
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

const token = { tokenSeconds: lifetime, tokenLatency }

const cases = {
  up: { title: "a policy for such tokens", stub: token, policy },
  down: { title: "… and down for half of the soft window", stub: { ...token, downFrom, downTo }, policy },
  byDefault: { title: "the default policy", stub: token, policy: {} }
}

type Case = keyof typeof cases

const reason =
  "It is one run: the p99 of 2,000 is the twentieth slowest, a few milliseconds either way. Nobody waited for a token"

const only = (value: number): Report.Spread => ({ median: value, min: value, max: value })

export const refresh = Effect.gen(function*() {
  const run = yield* Program.answering("contenders/refresh.ts", Steady)
  const measured = yield* Effect.all(
    Record.map(cases, ({ policy, stub }) =>
      Effect.gen(function*() {
        const url = yield* Stub.start(stub)
        const steady = yield* run(url, JSON.stringify(policy), String(lifetimes * lifetime), String(perSecond))
        return { ...steady, ...(yield* Stub.counts(url)) }
      })),
    { concurrency: "unbounded" }
  )
  const goals = (name: Case): ReadonlyArray<Report.Goal> => {
    const { all, failures, outside } = measured[name]
    const ratio = only(all.p99 / outside.p99)
    return [
      {
        what: `p99 of all to p99 outside renewals, ${name}`,
        measured: ratio,
        is: "at most",
        limit: 1.1,
        unit: "×",
        reason
      },
      { what: `failures, ${name}`, measured: only(failures.length), is: "at most", limit: 0, unit: "" }
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
    cells: Object.entries(cases).map(([name, { title }]) => {
      const { all, failures, outside, refused, renewals, within } = measured[name as Case]
      return [
        title,
        ...[all.p99, within.p99, outside.p99, all.max].map(Report.number),
        [`${failures.length} of ${all.calls}`, ...new Set(failures)].join(" "),
        String(renewals),
        String(refused)
      ]
    }),
    goals: [...goals("up"), ...goals("down")],
    notes: [
      `${perSecond} checks a second by the clock, whatever they take, for ${lifetimes} lifetimes after a warm-up; a token takes ${tokenLatency} ms. The cases run side by side, each with a service of its own.`,
      `The policy: softPoint ${policy.softPoint}, jitter 0.1, hardMargin ${policy.hardMargin}, and after a failure 100 ms. Half a soft window has to hold a renewal.`,
      `Down is the token endpoint with 503 from ${downFrom} to ${downTo} ms of the age of the last token, which is half of the window or more.`,
      "By default tokens of less than two minutes have no soft window, so callers wait: that row has no goal."
    ]
  }
  return report
})
