/**
 * The people of a CSV file, one by one.
 *
 * A row is a line, and what a row cannot be read from is a wrong row. Were a quoted cell allowed to
 * go on in the next line, one quote too many would swallow everybody up to the next quote.
 */
import { Person } from "@effect-idv/core"
import { FileSystem } from "@effect/platform"
import { parse } from "csv-parse/sync"
import { Effect, Either, Stream } from "effect"
import { createHash, createHmac, type Hash } from "node:crypto"
import { ofFile, RescreeningFailed } from "./failure.ts"

/**
 * A file as it was read once.
 *
 * - `sha256`: of its bytes. By it a run that goes on knows that it is the same file.
 * - `lines`: with the header and empty ones. `rows`: those that are about somebody.
 */
export interface PeopleFile {
  readonly path: string
  readonly sha256: string
  readonly lines: number
  readonly rows: number
}

/**
 * - `line`: the number of its line, from 1, by which a row is known to this program.
 * - `digest`: of its text, by which it is known to be the same when a run goes on.
 * - `codes`: what is wrong with it. Its id is not told: that cell may be a name.
 */
export type Row = { readonly line: number; readonly digest: string } & Content

type Content =
  | { readonly _tag: "Person"; readonly id: string; readonly person: Person.Person }
  | { readonly _tag: "WrongRow"; readonly codes: ReadonlyArray<string> }

/**
 * - `salt`: of the digests, in hex. Without one, a digest could be looked up in a list of people.
 * - `idPattern`: what is taken for an id.
 */
export interface Reading {
  readonly salt: string
  readonly idPattern: RegExp
}

const header = ["id", "name", "date_of_birth"]

/** How a form names its fields, and how the file names its columns. */
const columns = { name: "name", dateOfBirth: "date_of_birth" } as const

const cells = (line: string): Either.Either<ReadonlyArray<string>, "quotes"> =>
  Either.try({
    // A line break of another kind is a character of its cell, and refused there.
    try: () => parse(line, { relax_column_count: true, trim: true, record_delimiter: "\n" })[0] ?? [],
    catch: () => "quotes" as const
  })

/** Blanks are nobody, and so is the 0x1A with which some programs end a file. */
const isRow = (line: string): boolean => line.replaceAll("\u001a", "").trim() !== ""

const linesOf = (path: string, hash: Hash) =>
  Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(path))).pipe(
    Stream.mapError(ofFile(path)),
    Stream.tap((bytes) => Effect.sync(() => hash.update(bytes))),
    // Takes a byte order mark off.
    Stream.decodeText(),
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.map(([text, index]) => ({ text, number: index + 1 }))
  )

const wrongHeader = (path: string) =>
  new RescreeningFailed({ message: `${path}: the first line should be ${header.join(",")}` })

/** Reads the file once, before anybody is screened. */
export const open = Effect.fn("rescreening.open")(function*(path: string) {
  const hash = createHash("sha256")
  const { lines, rows } = yield* Stream.runFoldEffect(linesOf(path, hash), { lines: 0, rows: 0 }, (counted, line) => {
    if (line.number > 1) {
      return Effect.succeed({ lines: line.number, rows: counted.rows + (isRow(line.text) ? 1 : 0) })
    }
    const isHeader = Either.match(cells(line.text), {
      onLeft: () => false,
      onRight: (cells) => cells.join() === header.join()
    })
    return isHeader ? Effect.succeed({ lines: 1, rows: 0 }) : wrongHeader(path)
  })
  if (lines === 0) return yield* wrongHeader(path)
  // Most likely an export that failed, which must not look like "all clear".
  if (rows === 0) return yield* new RescreeningFailed({ message: `${path}: there is nobody in it` })
  const file: PeopleFile = { path, sha256: hash.digest("hex"), lines, rows }
  return file
})

/** What is wrong with an id. Each that comes by is `seen` from then on. */
const idCodes = (id: string, idPattern: RegExp, seen: Set<string>): ReadonlyArray<string> => {
  if (id === "") return ["id.empty"]
  if (id.length > 255) return ["id.too_long"]
  if (/\p{Cc}/u.test(id)) return ["id.control_character"]
  if (!idPattern.test(id)) return ["id.format"]
  if (seen.has(id)) return ["id.repeated"]
  seen.add(id)
  return []
}

const toContent = (text: string, idPattern: RegExp, seen: Set<string>): Effect.Effect<Content> =>
  Effect.gen(function*() {
    const read = cells(text)
    if (Either.isLeft(read)) return { _tag: "WrongRow", codes: [read.left] }
    const [id, name, dateOfBirth, ...others] = read.right
    if (id === undefined || name === undefined || dateOfBirth === undefined || others.length > 0) {
      return { _tag: "WrongRow", codes: ["columns"] }
    }
    const wrongId = idCodes(id, idPattern, seen)
    const person = yield* Effect.either(Person.make({ name, dateOfBirth }))
    if (Either.isRight(person) && wrongId.length === 0) return { _tag: "Person", id, person: person.right }
    const issues = Either.isLeft(person) ? person.left.issues : []
    const codes = [...wrongId, ...issues.map(({ code, field }) => `${columns[field]}.${code}`)]
    return { _tag: "WrongRow", codes }
  })

/** All rows, in their order. Fails at the end if they were not those of the file that was opened. */
export const rows = (
  file: PeopleFile,
  { idPattern, salt }: Reading
): Stream.Stream<Row, RescreeningFailed, FileSystem.FileSystem> =>
  Stream.suspend(() => {
    const hash = createHash("sha256")
    const seen = new Set<string>()
    const key = Buffer.from(salt, "hex")
    const digestOf = (text: string) => createHmac("sha256", key).update(text).digest("hex").slice(0, 16)
    const toRow = ({ number: line, text }: { readonly number: number; readonly text: string }) =>
      Effect.map(
        toContent(line === file.lines ? text.replace(/\u001a+$/, "") : text, idPattern, seen),
        (content): Row => ({ line, digest: digestOf(text), ...content })
      )
    const isSame = Effect.suspend(() =>
      hash.digest("hex") === file.sha256
        ? Effect.void
        : new RescreeningFailed({ message: `${file.path} was changed during the run` })
    )
    return linesOf(file.path, hash).pipe(
      Stream.filter(({ number, text }) => number > 1 && isRow(text)),
      Stream.mapEffect(toRow),
      Stream.concat(Stream.execute(isSame))
    )
  })
