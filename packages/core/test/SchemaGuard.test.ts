import { describe, it } from "@effect/vitest"
import { strictEqual, throws } from "@effect/vitest/utils"
import { FastCheck, Schema } from "effect"
import * as SchemaGuard from "../src/internal/schema/schemaGuard.ts"
import { runs } from "./support/cases.ts"

const Sample = Schema.Struct({
  text: Schema.String,
  constant: Schema.Literal("a", "b"),
  even: Schema.String.pipe(Schema.pattern(/^[02468]+$/), Schema.maxLength(3)),
  optional: Schema.optional(Schema.Unknown.pipe(Schema.filter((value) => !value))),
  nested: Schema.Struct({ id: Schema.UUID })
})

const { constantFrom, oneof, option, record, string, uuid } = FastCheck

/** Nearly a sample: each field may be missing, or be of another type. */
const samples = record({
  text: oneof(string(), FastCheck.jsonValue()),
  constant: oneof({ weight: 4, arbitrary: constantFrom<unknown>("a", "b") }, constantFrom<unknown>("c", null, ["a"])),
  even: oneof({ weight: 4, arbitrary: constantFrom<unknown>("2", "24") }, constantFrom<unknown>("", "1", "2468", 2)),
  optional: option(constantFrom<unknown>("", 0, false, "x", {})),
  nested: oneof(
    { weight: 4, arbitrary: record({ id: uuid() }, { requiredKeys: [] }) },
    constantFrom<unknown>(null, [], "x")
  )
}, { requiredKeys: ["text", "constant"] })

describe("A guard", () => {
  const guard = SchemaGuard.make(Sample)
  const is = Schema.is(Sample)

  it("accepts what its schema accepts, and nothing else", () => {
    const seen = new Set<boolean>()
    FastCheck.assert(
      FastCheck.property(oneof({ weight: 9, arbitrary: samples }, FastCheck.jsonValue()), (value) => {
        seen.add(guard(value))
        return guard(value) === is(value)
      }),
      { numRuns: runs(500) }
    )
    strictEqual(seen.size, 2)
  })

  it("reads no inherited field", () => {
    strictEqual(
      guard(Object.create({ text: "", constant: "a", even: "2", nested: { id: crypto.randomUUID() } })),
      false
    )
  })

  it("cannot be made of a schema that changes values", () => {
    throws(() => SchemaGuard.make(Schema.Struct({ date: Schema.typeSchema(Schema.Date) })))
    throws(() => SchemaGuard.make(Schema.typeSchema(Schema.Record({ key: Schema.String, value: Schema.String }))))
  })
})
