/** Flags that are fields of a schema. */
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Either, Schema } from "effect"
import * as ParsedArguments from "../src/parsedArguments.ts"

const read = <A, I>(flags: Readonly<Record<string, ReadonlyArray<string>>>, schema: Schema.Schema<A, I>) =>
  Either.getOrThrow(ParsedArguments.read({ flags, words: [], argument: "" }, schema, Number))

const flags = { "dry-run": ["true"], "on": ["token", "aml"], "port": ["4010"] }

describe("The flags of a schema", () => {
  it.each<[string, Schema.Schema<object, object>]>([
    [
      "optional",
      Schema.Struct({
        dryRun: Schema.optional(Schema.Boolean),
        on: Schema.optional(Schema.Array(Schema.String)),
        port: Schema.optional(Schema.Number)
      })
    ],
    [
      "exactly optional",
      Schema.Struct({
        dryRun: Schema.optionalWith(Schema.Boolean, { exact: true }),
        on: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
        port: Schema.optionalWith(Schema.Number, { exact: true })
      })
    ]
  ])("are switches, lists and numbers if its fields are %s", (_, schema) => {
    deepStrictEqual(read(flags, schema), { dryRun: true, on: ["token", "aml"], port: 4010 })
    deepStrictEqual(read({}, schema), {})
  })

  it("have the default of a list, or an empty one for a required list", () => {
    const schema = Schema.Struct({
      on: Schema.optionalWith(Schema.Array(Schema.String), { exact: true, default: () => ["both"] }),
      level: Schema.Array(Schema.String)
    })
    deepStrictEqual(read({}, schema), { on: ["both"], level: [] })
    deepStrictEqual(read(flags, schema), { on: ["token", "aml"], level: [] })
  })
})
