/** The options of a screening. The schema checks them, and contains the defaults. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as DurationInput from "../schema/durationInput.ts"
import * as Options from "../schema/options.ts"

const schema = Schema.Struct({
  concurrency: Options.withDefault(Options.Count, 10),
  rate: Schema.optional(
    Schema.Number.pipe(
      Schema.greaterThan(0),
      Schema.finite(),
      Schema.annotations({ description: "a number over 0" })
    )
  ),
  order: Options.withDefault(
    Schema.Literal("input", "completion").annotations({ description: "\"input\" or \"completion\"" }),
    "completion"
  ),
  gracePeriod: Options.withDefault(DurationInput.DurationInput, Duration.seconds(30)),
  stopAfter: Options.withDefault(
    Schema.Number.pipe(
      Schema.filter((n) => n > 0 && (Number.isInteger(n) || n === Infinity)),
      Schema.annotations({ description: "an integer over 0, or Infinity" })
    ),
    50
  )
}).annotations({ parseOptions: { onExcessProperty: "error" } })

/** The options of a screening, decoded and with defaults. */
export interface ScreeningSettings extends Schema.Schema.Type<typeof schema> {}

/** Returns the checked options, or one error with every invalid option. */
export const check = (options: object) => Options.decode(schema, options)
