/**
 * The record of a screening: a file of JSON lines that is only ever added to, and outlives a kill.
 *
 * `append` returns once the event is on the disk. Those who append at the same time share one write
 * and one `fsync`.
 */
import { FileSystem } from "@effect/platform"
import { type Cause, DateTime, Effect, Option, Schema, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Event } from "./event.ts"
import { ofFile, RescreeningFailed } from "./failure.ts"
import { Ledger } from "./ledger.ts"
import type { PeopleFile } from "./people.ts"

/**
 * The first line: which file this is about, the salt of the digests of its rows, and by which pattern
 * an id was taken for one.
 */
const Opened = Schema.Struct({
  event: Schema.Literal("opened"),
  format: Schema.Literal(2),
  sha256: Schema.String,
  rows: Schema.Int,
  salt: Schema.String.pipe(Schema.pattern(/^[\da-f]{32}$/)),
  idPattern: Schema.String,
  at: Schema.DateTimeUtc
})

const OpenedJson = Schema.parseJson(Opened)
const EventJson = Schema.parseJson(Event)

/** Who reads the record knows who was screened, and with which result. */
export const mode = 0o600

/** Where the last whole line ends. What a kill left after it was never acknowledged. */
const endOf = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const { end } = yield* Stream.runFold(files.stream(path), { end: 0, position: 0 }, ({ end, position }, bytes) => {
      const lineEnd = bytes.lastIndexOf(0x0a)
      return { end: lineEnd === -1 ? end : position + lineEnd + 1, position: position + bytes.length }
    })
    return end
  })

/** Where in the file an event stands, in bytes. */
export interface Place {
  readonly offset: number
  readonly length: number
}

const linesOf = (path: string, end: number) =>
  end === 0 ? Stream.empty : Stream.unwrap(Effect.map(
    FileSystem.FileSystem,
    (files) => files.stream(path, { bytesToRead: end })
  )).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.mapAccum(0, (offset, text) => {
      const length = Buffer.byteLength(text)
      return [offset + length + 1, { text, offset, length }]
    })
  )

/**
 * A record as it is on the disk.
 *
 * - `end`: where it ends. `opened`: its first line, if it was begun.
 * - `latest`: where the latest event of a line stands. `isAbout`: whether that is about this text.
 */
export interface Contents {
  readonly end: number
  readonly opened: Option.Option<typeof Opened.Type>
  readonly ledger: Ledger
  readonly isAbout: (row: { readonly line: number; readonly digest: string }) => boolean
  readonly latest: (line: number) => Option.Option<Place>
}

const otherFile = (path: string) =>
  new RescreeningFailed({
    message: `${path} is the record of another file, or of another version of it: choose another --out`
  })

const otherIds = (path: string) =>
  new RescreeningFailed({ message: `${path} was begun with another --id-pattern: choose another --out` })

/** Everything that was written down about this file. Fails if it is about another one. */
export const read = (
  path: string,
  file: PeopleFile
): Effect.Effect<Contents, RescreeningFailed, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const end = yield* endOf(path)
    const ledger = new Ledger(file)
    const offsets = new Float64Array(file.lines + 1)
    const lengths = new Uint32Array(file.lines + 1)
    const digests = new BigUint64Array(file.lines + 1)
    let opened = Option.none<typeof Opened.Type>()
    yield* Stream.runForEach(linesOf(path, end), ({ length, offset, text }) =>
      Effect.gen(function*() {
        if (offset === 0) {
          const first = yield* Schema.decode(OpenedJson)(text)
          if (first.sha256 !== file.sha256) return yield* otherFile(path)
          opened = Option.some(first)
        } else {
          const event = yield* Schema.decode(EventJson)(text)
          ledger.apply(event)
          offsets[event.line] = offset
          lengths[event.line] = length
          digests[event.line] = BigInt(`0x${event.digest}`)
        }
      }))
    const latest = (line: number) =>
      Option.map(
        Option.filter(Option.fromNullable(offsets[line]), (offset) => offset > 0),
        (offset) => ({ offset, length: lengths[line] ?? 0 })
      )
    const isAbout = ({ digest, line }: { readonly line: number; readonly digest: string }) =>
      digests[line] === BigInt(`0x${digest}`)
    return { end, opened, ledger, isAbout, latest }
  }).pipe(
    Effect.catchTags({
      // It would show what it could not read.
      ParseError: () => new RescreeningFailed({ message: `${path} has a line that is none of this program` }),
      SystemError: (error) => ofFile(path)(error),
      BadArgument: (error) => ofFile(path)(error)
    })
  )

/**
 * A record that can be added to.
 *
 * - `ledger`: of what is on the disk, and not of what is still to be written.
 * - `openedAt`: if it was begun by an earlier run. `salt`: of the digests of rows.
 * - `isAbout`: whether an earlier run wrote about a row of this text.
 */
export interface Record extends Pick<Contents, "ledger" | "isAbout"> {
  readonly openedAt: Option.Option<DateTime.Utc>
  readonly salt: string
  readonly append: (event: Event) => Effect.Effect<void, RescreeningFailed>
}

const encode = <A, I>(schema: Schema.Schema<A, I>) => {
  const encode = Schema.encode(Schema.parseJson(schema))
  return (a: A) => Effect.map(Effect.orDie(encode(a)), (json) => `${json}\n`)
}

const encodeOpened = encode(Opened)
const encodeEvent = encode(Event)

/** Opens the record of the file, or begins one. Fails if other cells were taken for ids there. */
export const open = (path: string, file: PeopleFile, { source: idPattern }: RegExp) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const failed = ofFile(path)
    const output = yield* Effect.mapError(files.open(path, { flag: "a", mode }), failed)
    const write = (text: string) => Effect.mapError(output.writeAll(Buffer.from(text)), failed)
    const sync = Effect.mapError(output.sync, failed)

    const { end, isAbout, ledger, opened } = yield* read(path, file)
    if (Option.isSome(opened) && opened.value.idPattern !== idPattern) return yield* otherIds(path)
    yield* Effect.mapError(files.truncate(path, end), failed)
    const salt = Option.match(opened, {
      onNone: () => randomBytes(16).toString("hex"),
      onSome: ({ salt }) => salt
    })
    if (Option.isNone(opened)) {
      const { rows, sha256 } = file
      const at = yield* DateTime.now
      yield* write(yield* encodeOpened({ event: "opened", format: 2, sha256, rows, salt, idPattern, at }))
      yield* sync
    }

    const turns = yield* Effect.makeSemaphore(1)
    let waiting: Array<Event> = []
    let broken: Cause.Cause<RescreeningFailed> | undefined

    /** Everything that waits. After a failure nothing more: it would stand behind half a line. */
    const flush = Effect.gen(function*() {
      if (broken !== undefined) return yield* Effect.failCause(broken)
      const events = waiting
      waiting = []
      if (events.length === 0) return
      yield* write((yield* Effect.forEach(events, encodeEvent)).join(""))
      // A wrong row is found again, should it be lost.
      if (events.some(({ event }) => event !== "wrong_row")) yield* sync
      for (const event of events) ledger.apply(event)
    }).pipe(
      // A defect too: those who waited for the same write must not take it for done.
      Effect.tapErrorCause((cause) => Effect.sync(() => broken = cause))
    )

    const append = (event: Event) =>
      Effect.uninterruptible(Effect.suspend(() => {
        waiting.push(event)
        return turns.withPermits(1)(flush)
      }))

    const record: Record = { ledger, isAbout, openedAt: Option.map(opened, ({ at }) => at), salt, append }
    return record
  })
