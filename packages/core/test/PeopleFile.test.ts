import { AmlError, DateOfBirth, Person } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Schema, TestClock } from "effect"
import people from "./data/people.json" with { type: "json" }

const Note = Schema.Struct({ field: Schema.String, code: Schema.String, index: Schema.optional(Schema.Int) })
const Notes = Schema.optionalWith(Schema.Array(Note), { default: () => [] })

const Row = Schema.Struct({
  about: Schema.String,
  name: Schema.String,
  dateOfBirth: Schema.Union(
    Schema.String,
    Schema.Struct({ assumedYear: Schema.Number }),
    Schema.Struct({ year: Schema.Any, month: Schema.Any, day: Schema.Any })
  ),
  expected: Schema.Struct({
    verdict: Schema.Literal("accepted", "changed", "warned", "refused"),
    issues: Notes,
    changes: Notes,
    warnings: Notes,
    sent: Schema.optional(Schema.Struct({ name: Schema.String, dob: Schema.String }))
  })
})

const rows = Schema.decodeUnknownSync(Schema.Array(Row))(people)

type Plain = readonly [field: string, code: string, index: number | undefined]

const plain = (notes: ReadonlyArray<typeof Note.Type>): ReadonlyArray<Plain> =>
  notes.map(({ code, field, index }) => [field, code, index])

/** The result for a row, in the format of the file. */
interface Verdict {
  readonly verdict: string
  readonly issues: ReadonlyArray<Plain>
  readonly changes: ReadonlyArray<Plain>
  readonly warnings: ReadonlyArray<Plain>
  readonly sent: { readonly name: string; readonly dob: string } | undefined
}

const personOf = ({ dateOfBirth, name }: typeof Row.Type) =>
  typeof dateOfBirth === "object" && "assumedYear" in dateOfBirth
    ? Effect.matchEffect(DateOfBirth.assumed(dateOfBirth.assumedYear), {
      onFailure: (refused) =>
        Effect.matchEffect(Person.make({ name, dateOfBirth: "1990-01-01" }), {
          onFailure: ({ issues }) => new AmlError.AmlInputRejected({ issues: [...issues, ...refused.issues] }),
          onSuccess: () => refused
        }),
      onSuccess: (dateOfBirth) => Person.make({ name, dateOfBirth })
    })
    : Person.make({ name, dateOfBirth })

const encode = Schema.encodeSync(Person.RequestBody)

const verdictOf = (row: typeof Row.Type) =>
  Effect.match(personOf(row), {
    onFailure: ({ issues }): Verdict => ({
      verdict: "refused",
      issues: plain(issues),
      changes: [],
      warnings: [],
      sent: undefined
    }),
    onSuccess: (person): Verdict => {
      const { dob, name } = encode(Person.toRequestBody(person))
      const { changes, warnings } = person
      return {
        verdict: changes.length > 0 ? "changed" : warnings.length > 0 ? "warned" : "accepted",
        issues: [],
        changes: plain(changes),
        warnings: plain(warnings),
        sent: { name, dob }
      }
    }
  })

const verdicts = ["accepted", "changed", "warned", "refused"] as const

describe("The handwritten file of people in many scripts", () => {
  it("has at least 300 people", () => {
    assert(rows.length >= 300)
  })

  it.effect.each(verdicts)(
    "every %s person has the expected codes, indices and sent text",
    (verdict) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-11-20"))
        const group = rows.filter(({ expected }) => expected.verdict === verdict)
        assert(group.length >= 50)
        for (const row of group) {
          const { changes, issues, sent, warnings } = row.expected
          deepStrictEqual(
            yield* verdictOf(row),
            { verdict, issues: plain(issues), changes: plain(changes), warnings: plain(warnings), sent },
            JSON.stringify(row)
          )
        }
      })
  )
})
