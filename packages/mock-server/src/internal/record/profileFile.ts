/** The file of a recording: a profile and latencies that `serve --profile` plays, and the observations behind them. */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import { closed } from "../schema/fields.ts"
import { uniqueBy } from "../schema/uniqueIds.ts"
import * as Violations from "../schema/violations.ts"
import type { OfOperation, Recording, Unplayable } from "./observations.ts"

/** The number increases when the meaning of a field changes. */
const format = "idv-mock profile 1"

const ProfileFile = Schema.Struct({
  format: Schema.Literal(format).annotations(
    Violation.expecting(`"${format}": record the profile again with this version of idv-mock`)
  ),
  profile: Profile.Patch,
  faults: uniqueBy(Schema.Array(Fault.Fault).annotations({ description: "a list of faults" }), "id").annotations({
    description: "a list of faults"
  }),
  observations: Schema.Unknown
}).annotations({ ...closed, description: "a profile that idv-mock record wrote" })

export interface ProfileFile extends Schema.Schema.Type<typeof ProfileFile> {}

const decode = Violations.decodeUnknown(ProfileFile)

const whole = Violation.whole("a profile in YAML that idv-mock record wrote")

const load = Effect.promise(() => import("yaml"))

/** Reports a wrong version alone, because the other violations follow from it. */
export const parse = (text: string): Effect.Effect<ProfileFile, Violation.Violations> =>
  Effect.flatMap(load, (yaml) => Effect.try({ try: (): unknown => yaml.parse(text), catch: () => whole })).pipe(
    Effect.flatMap((content) =>
      Either.mapLeft(decode(content), (violations): Violation.Violations => {
        const version = violations.find(({ path }) => path === "format")
        return version === undefined ? violations : [version]
      })
    )
  )

const Observed = Schema.Struct({
  unplayable: Schema.Record({ key: Schema.String, value: Schema.Record({ key: Schema.String, value: Schema.Number }) })
})

/** The words of a recording that no profile plays. */
export const unplayableOf = ({ observations }: ProfileFile): Unplayable =>
  Schema.is(Observed)(observations) ? observations.unplayable : {}

/** The 99th percentile of the normal distribution, in standard deviations. */
const z99 = 2.326

/** The latency of an operation as a fault with a log-normal distribution, if it is at least a millisecond. */
const latencyOf = (on: "token" | "aml", { exchanges, latency: { p50, p99 } }: OfOperation) =>
  exchanges === 0 || p50 < 1 ? [] : [{
    id: `observed-${on}`,
    on,
    what: {
      kind: "latency",
      distribution: {
        kind: "logNormal",
        median: p50,
        sigma: Math.min(10, Math.round(Math.log(Math.max(p99 / p50, 1)) / z99 * 1000) / 1000)
      }
    }
  }]

/** The file as text. It contains no part of an exchange but the names of dropped fields. */
export const print = (recording: Recording): Effect.Effect<string> =>
  Effect.map(load, (yaml) => {
    const observations = recording.observations()
    const profile = recording.profile()
    return yaml.stringify({
      format,
      profile,
      faults: [...latencyOf("token", observations.token), ...latencyOf("aml", observations.aml)],
      observations: {
        ...observations,
        notShown: Profile.points.map(({ name }) => name).filter((name) => profile[name] === undefined)
      }
    })
  })
