/** Decodes the options of a screening. */
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Violation from "../../Violation.ts"
import * as DurationInput from "../schema/durationInput.ts"

const Positive = Schema.Number.pipe(
  Schema.greaterThan(0),
  Schema.finite(),
  Schema.annotations({ description: "a number over 0" })
)

const ScreeningSettings = Schema.Struct({
  concurrency: Schema.optionalWith(
    Positive.pipe(Schema.int(), Schema.annotations({ description: "an integer over 0" })),
    { default: constant(10) }
  ),
  rate: Schema.optional(Positive),
  order: Schema.optionalWith(
    Schema.Literal("input", "completion").annotations({ description: "\"input\" or \"completion\"" }),
    { default: constant("completion" as const) }
  ),
  gracePeriod: Schema.optionalWith(DurationInput.DurationInput, { default: constant(Duration.seconds(30)) }),
  stopAfter: Schema.optionalWith(
    Schema.Number.pipe(
      Schema.filter((n) => n > 0 && (Number.isInteger(n) || n === Infinity)),
      Schema.annotations({ description: "an integer over 0, or Infinity" })
    ),
    { default: constant(50) }
  )
})

/** The options of a screening, decoded and with defaults. */
export interface ScreeningSettings extends Schema.Schema.Type<typeof ScreeningSettings> {}

export const decode = Violation.decodeUnknown(ScreeningSettings, { onExcessProperty: "error" })
