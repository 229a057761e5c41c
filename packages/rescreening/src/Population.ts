/**
 * The people to screen, as a `Stream`, for example from a CSV file or a database.
 *
 * @since 0.1.0
 */
import type { AmlInputRejected } from "@effect-idv/core/AmlError"
import * as Person from "@effect-idv/core/Person"
import { parse } from "csv-parse/sync"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { ControlsRejected, PopulationRejected } from "./RescreeningError.ts"

/**
 * A person to screen.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  /** Your key for the person, unique in the population. The ledger stores it in the clear: it must not be a name. */
  readonly key: string
  /** A person, or the effect of `Person.make`. If that fails, the row is a wrong row. */
  readonly person: Person.Person | Effect.Effect<Person.Person, AmlInputRejected>
  /**
   * The line by which the report identifies the row: unique, from 1.
   *
   * @default the position in the stream
   */
  readonly line?: number | undefined
}

/**
 * A positive control: a person whom the service must find.
 *
 * @category models
 * @since 0.1.0
 */
export interface Control extends Entry {
  /** The result that the service must return. */
  readonly expected: "Potential match"
}

/**
 * A row that cannot be sent. It has no key: columns may be missing or swapped, so the cell of the key may hold a name.
 *
 * @category models
 * @since 0.1.0
 */
export interface WrongRow {
  readonly codes: ReadonlyArray<string>
  readonly line?: number | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type Row = Entry | WrongRow

/**
 * Whether a row cannot be sent.
 *
 * @category guards
 * @since 0.1.0
 */
export const isWrongRow = (row: Row): row is WrongRow => "codes" in row

/**
 * Returns the problems of a key, as codes.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyCodes = (key: string, pattern?: RegExp): ReadonlyArray<string> => {
  if (key === "") return ["id.empty"]
  if (key.length > 255) return ["id.too_long"]
  // Also invisible characters, and U+FFFD, which a decoder writes for invalid UTF-8: two such ids can look the same, or
  // be the same.
  if (/[\p{Cc}\p{Cf}\p{Cs}\uFFFD]/u.test(key)) return ["id.control_character"]
  // Unlike `test`, `search` keeps no position in a pattern with the flag `g` or `y`.
  return pattern === undefined || key.search(pattern) !== -1 ? [] : ["id.format"]
}

const columns = { name: "name", dateOfBirth: "date_of_birth" } as const

/**
 * Returns the problems of a person, as codes such as `date_of_birth.no_such_date`.
 *
 * @category getters
 * @since 0.1.0
 */
export const personCodes = (
  issues: ReadonlyArray<{ readonly field: keyof typeof columns; readonly code: string }>
): ReadonlyArray<string> => issues.map(({ code, field }) => `${columns[field]}.${code}`)

const header = "id,name,date_of_birth"
const controlsHeader = `${header},match_found`

const cells = (line: string): Either.Either<ReadonlyArray<string>, "quotes"> =>
  Either.try({
    // Any other line break is a character of its cell, whose validation rejects it.
    try: () => parse(line, { relax_column_count: true, trim: true, record_delimiter: "\n" })[0] ?? [],
    catch: () => "quotes" as const
  })

/** Removes the 0x1A with which some programs end a file. */
const withoutEnd = (line: string): string => line.replace(/\u001a+$/, "")

/**
 * The default pattern of a key, which few names match. If columns are missing or swapped, a name may be in the column
 * of the key, and the row would get a plausible "No".
 */
const hasDigitAndNoBlank = /(?=.*\d)\S+/u

const toRow = (text: string, line: number, keyPattern: RegExp): Effect.Effect<Row> =>
  Effect.gen(function*() {
    const read = cells(text)
    if (Either.isLeft(read)) return { line, codes: [read.left] }
    const [key, name, dateOfBirth, ...others] = read.right
    if (key === undefined || name === undefined || dateOfBirth === undefined || others.length > 0) {
      return { line, codes: ["columns"] }
    }
    const person = yield* Effect.either(Person.make({ name, dateOfBirth }))
    const codes = [
      ...keyCodes(key, keyPattern),
      ...Either.isLeft(person) ? personCodes(person.left.issues) : []
    ]
    return codes.length === 0 && Either.isRight(person) ? { line, key, person: person.right } : { line, codes }
  })

/** The lines that are not blank, after the header, with their numbers. */
const lines = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  header: string,
  reason: "header" | "controls_header"
): Stream.Stream<readonly [text: string, line: number], E | PopulationRejected, R> =>
  Stream.suspend(() => {
    let isFirst = true
    return bytes.pipe(
      // Removes a byte order mark.
      Stream.decodeText(),
      Stream.splitLines,
      Stream.zipWithIndex,
      Stream.mapEffect(([line, index]) => {
        const text = withoutEnd(line)
        if (isFirst) {
          isFirst = false
          const read = Either.getOrElse(cells(text), () => [])
          return read.join() === header
            ? Effect.succeed(undefined)
            : Effect.fail(new PopulationRejected({ reason }))
        }
        return Effect.succeed(text.trim() === "" ? undefined : [text, index + 1] as const)
      }),
      Stream.filter((line) => line !== undefined),
      Stream.concat(Stream.suspend(() => isFirst ? Stream.fail(new PopulationRejected({ reason })) : Stream.empty))
    )
  })

/**
 * Reads the rows of a CSV file in UTF-8 with the header `id,name,date_of_birth` and dates as `1990-02-01`.
 *
 * A row is one line, so a stray quote affects only its own row. A row that cannot be sent becomes a wrong row
 * with codes: `columns`, `quotes`, `id.empty`, `id.too_long`, `id.control_character`, `id.format`, and those of a
 * person, such as `name.empty`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromCsv = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, options?: {
  /**
   * What a whole key must match.
   *
   * @default a digit somewhere, and no blank
   */
  readonly keyPattern?: RegExp | undefined
}): Stream.Stream<Row, E | PopulationRejected, R> =>
  Stream.suspend(() => {
    const { flags, source } = options?.keyPattern ?? hasDigitAndNoBlank
    const keyPattern = new RegExp(`^(?:${source})$`, flags)
    return lines(bytes, header, "header").pipe(Stream.mapEffect(([text, line]) => toRow(text, line, keyPattern)))
  })

/**
 * Reads positive controls from a CSV file in UTF-8 with the header `id,name,date_of_birth,match_found`, whose last cell
 * is `Potential match`. Fails with `ControlsRejected` if a row cannot be used, or if there is none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const controlsFromCsv = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>
): Effect.Effect<ReadonlyArray<Control>, E | PopulationRejected | ControlsRejected, R> =>
  Effect.gen(function*() {
    const wrong: Array<{ readonly line: number; readonly codes: ReadonlyArray<string> }> = []
    const controls: Array<Control> = []
    yield* Stream.runForEach(lines(bytes, controlsHeader, "controls_header"), ([text, line]) =>
      Effect.sync(() => {
        const read = cells(text)
        if (Either.isLeft(read)) return wrong.push({ line, codes: [read.left] })
        const [key, name, dateOfBirth, expected, ...others] = read.right
        if (key === undefined || name === undefined || dateOfBirth === undefined || others.length > 0) {
          return wrong.push({ line, codes: ["columns"] })
        }
        if (expected !== "Potential match") return wrong.push({ line, codes: ["match_found.not_potential_match"] })
        return controls.push({ key, line, expected, person: Person.make({ name, dateOfBirth }) })
      }))
    return wrong.length > 0 || controls.length === 0 ? yield* new ControlsRejected({ controls: wrong }) : controls
  })
