/** Converts a population to the rows of the ledger, and computes its digest. */
import * as Person from "@effect-idv/core/Person"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createHmac } from "node:crypto"
import type * as People from "../People.ts"
import * as Population from "../Population.ts"
import { PopulationRejected } from "../RescreeningError.ts"
import type * as Ledger from "./ledgerService.ts"

const encodePerson = Schema.encodeSync(Person.FromInput)

type Content =
  | { readonly line: number; readonly key: string; readonly person: Person.Person }
  | { readonly line: number; readonly codes: ReadonlyArray<string> }

const toContent = ([row, index]: readonly [Population.Row, number]): Effect.Effect<Content> =>
  Effect.gen(function*() {
    const line = row.line ?? index + 1
    if (Population.isWrongRow(row)) return { line, codes: row.codes }
    const person = yield* Effect.either(Effect.isEffect(row.person) ? row.person : Effect.succeed(row.person))
    const codes = [
      ...Population.keyCodes(row.key),
      ...Either.isLeft(person) ? Population.personCodes(person.left.issues) : []
    ]
    return codes.length === 0 && Either.isRight(person)
      ? { line, key: row.key, person: person.right }
      : { line, codes }
  })

/** A population can be read only once, so run either `stream` or `digestOnly`, not both. */
export const make = <E>(population: Stream.Stream<Population.Row, E>, { id, ledger, people }: {
  readonly id: string
  readonly ledger: Ledger.Service
  readonly people: People.Service
}) => {
  const hash = createHmac("sha256", Redacted.value(ledger.salt))
  let count = 0

  const contents = population.pipe(
    Stream.zipWithIndex,
    Stream.mapEffect(toContent),
    Stream.tap((content) =>
      Effect.sync(() => {
        count++
        const { line } = content
        const parts = "codes" in content
          ? [line, content.codes]
          : [line, content.key, encodePerson(content.person)]
        hash.update(`${JSON.stringify(parts)}\n`)
      })
    ),
    // An empty file is most likely an export that failed.
    Stream.concat(
      Stream.suspend(() => count === 0 ? Stream.fail(new PopulationRejected({ reason: "empty" })) : Stream.empty)
    )
  )

  const digest = () => hash.digest("hex")

  return {
    stream: Stream.mapEffect(contents, (content) =>
      "codes" in content
        ? Effect.succeed<Ledger.PlannedRow>({ line: content.line, id: null, person: null, codes: content.codes })
        : Effect.map(people.store(id, content.key, content.person), (person): Ledger.PlannedRow => ({
          line: content.line,
          id: content.key,
          person,
          codes: []
        }))),
    digest,
    digestOnly: Effect.map(Stream.runDrain(contents), () => ({ digest: digest() }))
  }
}
