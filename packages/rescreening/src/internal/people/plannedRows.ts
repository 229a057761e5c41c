/** Converts a population to the rows of the ledger, and computes its digest. */
import type * as Person from "@effect-idv/core/Person"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createHmac } from "node:crypto"
import type * as People from "../../People.ts"
import * as Population from "../../Population.ts"
import { ControlsRejected, PopulationRejected } from "../../RescreeningError.ts"
import type * as Ledger from "../ledger/service.ts"
import * as PersonText from "./personText.ts"

interface Sendable {
  readonly line: number
  readonly key: string
  readonly person: Person.Person
}

type Content =
  | Sendable
  | { readonly line: number; readonly codes: ReadonlyArray<string> }

const toContent = (row: Population.Row, position: number): Effect.Effect<Content> => {
  const line = row.line ?? position
  if (Population.isWrongRow(row)) return Effect.succeed({ line, codes: row.codes })
  const { key } = row
  return Effect.map(
    Effect.either(Effect.isEffect(row.person) ? row.person : Effect.succeed(row.person)),
    (person): Content => {
      const codes = [
        ...Population.keyCodes(key),
        ...Either.isLeft(person) ? Population.personCodes(person.left.issues) : []
      ]
      return codes.length === 0 && Either.isRight(person) ? { line, key, person: person.right } : { line, codes }
    }
  )
}

/** Fails if there are fewer rows than expected. An empty file is most likely an export that failed. */
export const checkSize = (found: number, expectAtLeast: number): Effect.Effect<void, PopulationRejected> =>
  found >= expectAtLeast
    ? Effect.void
    : Effect.fail(new PopulationRejected(found === 0 ? { reason: "empty" } : { reason: "too_few", found }))

/** The controls that can be sent, or `ControlsRejected`. */
export const controls = (
  given: ReadonlyArray<Population.Control>
): Effect.Effect<ReadonlyArray<Sendable>, ControlsRejected> =>
  Effect.gen(function*() {
    const keys = new Set<string>()
    const contents = yield* Effect.forEach(given, (control, index) =>
      Effect.map(toContent(control, index + 1), (content) => {
        const codes = [
          ...("codes" in content ? content.codes : keys.has(content.key) ? ["id.repeated"] : []),
          // A caller without types, or a cell of the file, may have another text.
          ...(String(control.expected) === "Potential match" ? [] : ["match_found.not_potential_match"])
        ]
        keys.add(control.key)
        return "codes" in content || codes.length > 0 ? { line: content.line, codes } : content
      }))
    const wrong = contents.flatMap((content) =>
      "codes" in content ? [content] : []
    )
    if (wrong.length > 0) return yield* new ControlsRejected({ controls: wrong })
    return contents.flatMap((content) => "codes" in content ? [] : [content])
  })

/** A population can be read only once. The digest also covers the controls. */
export const make = <E>(population: Stream.Stream<Population.Row, E>, { controls, expectAtLeast, id, ledger, people }: {
  readonly controls: ReadonlyArray<Sendable>
  readonly id: string
  readonly expectAtLeast: number
  readonly ledger: Ledger.Service
  readonly people: People.Service
}) => {
  const hash = createHmac("sha256", Redacted.value(ledger.salt))
  let count = 0

  const addToHash = (content: Content) => {
    const parts = "codes" in content
      ? [content.line, content.codes]
      : [content.line, content.key, PersonText.encode(content.person)]
    hash.update(`${JSON.stringify(parts)}\n`)
  }
  controls.forEach(addToHash)

  /** Converts whole chunks, because each operation of a stream costs more than the conversion of a row. */
  const converted = <A, E2>(convert: (content: Content) => Effect.Effect<A, E2>) =>
    population.pipe(
      Stream.mapChunksEffect((rows) =>
        Effect.map(
          Effect.forEach(rows, (row) =>
            Effect.flatMap(toContent(row, ++count), (content) => {
              addToHash(content)
              return convert(content)
            })),
          Chunk.unsafeFromArray
        )
      ),
      Stream.concat(
        Stream.suspend(() => Stream.execute(checkSize(count, expectAtLeast)))
      )
    )

  const toRow = (content: Content) =>
    "codes" in content
      ? Effect.succeed<Ledger.PlannedRow>({ line: content.line, id: null, person: null, codes: content.codes })
      : Effect.map(people.store(id, content.key, content.person), (person): Ledger.PlannedRow => ({
        line: content.line,
        id: content.key,
        person,
        codes: []
      }))

  let made: string | undefined
  const digest = () => made ??= hash.digest("hex")

  return {
    stream: converted(toRow),
    storedControls: Effect.forEach(
      controls,
      ({ key, line, person }) =>
        Effect.map(people.store(id, key, person), (stored): Ledger.Control => ({ line, id: key, person: stored }))
    ),
    digest,
    /** Reads the population, unless `stream` has read it. */
    digestOnly: Effect.map(
      Effect.suspend(() => count > 0 ? Effect.void : Stream.runDrain(converted(() => Effect.void))),
      digest
    )
  }
}
