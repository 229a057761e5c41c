import * as SqlClient from "@effect/sql/SqlClient"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import Database from "libsql"
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EncryptionKeys, Ledger, Rescreening, Run } from "../src/index.ts"
import * as SqliteClient from "../src/internal/ledger/sqliteClient.ts"
import * as Statements from "../src/internal/ledger/statements.ts"
import * as Databases from "./support/databases.ts"
import { key, layerPeople, many, service } from "./support/people.ts"

const newFile = () => join(mkdtempSync(join(tmpdir(), "idv-")), "ledger.sqlite")

it.live("keeps the statements of other fibers when transactions fail", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE names (name TEXT)`
    const opened = yield* Deferred.make<void>()
    const failed = sql.withTransaction(
      sql`INSERT INTO names VALUES ('inside')`.pipe(
        Effect.zipRight(Deferred.succeed(opened, undefined)),
        Effect.zipRight(Effect.sleep("5 millis")),
        Effect.zipRight(Effect.fail("rollback"))
      )
    )
    const other = Effect.zipRight(Deferred.await(opened), sql`INSERT INTO names VALUES ('outside')`)
    const pairs = Array.from({ length: 20 }, () => [other, Effect.exit(failed)]).flat()
    yield* Effect.all([Effect.exit(failed), ...pairs], { concurrency: "unbounded" })
    assert.strictEqual((yield* sql`SELECT name FROM names WHERE name = 'outside'`).length, 20)
  }).pipe(Effect.provide(SqliteClient.layer({ file: newFile(), creates: true }))))

it.effect("leaves one file with everything that is there, and nothing that was deleted, when it closes", () =>
  Effect.gen(function*() {
    const [file, copy] = [newFile(), newFile()]
    yield* Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE names (name TEXT)`
      yield* sql`INSERT INTO names VALUES ('kept'), ('canary-deleted')`
      yield* sql`DELETE FROM names WHERE name = 'canary-deleted'`
    }).pipe(Effect.provide(SqliteClient.layer({ file, creates: true })))
    copyFileSync(file, copy)
    const database = new Database(copy)
    assert.deepStrictEqual(database.prepare("SELECT name FROM names").pluck().all(), ["kept"])
    database.close()
    const files = [file, `${file}-wal`].filter(existsSync).map((path) => readFileSync(path, "latin1"))
    assert.deepStrictEqual(files.map((bytes) => bytes.includes("canary-deleted")), files.map(() => false))
  }))

it.effect.each(["UPDATE names SET name = 'late' RETURNING name", "BEGIN IMMEDIATE"])(
  "commits the next statements after another process made this one fail: %s",
  (failing) =>
    Effect.gen(function*() {
      const file = newFile()
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE names (name TEXT)`
        yield* sql`INSERT INTO names VALUES ('first')`
        const other = new Database(file, { timeout: 10 })
        const seen = () => other.prepare("SELECT name FROM names").pluck().all()
        other.exec("BEGIN IMMEDIATE")
        const error = yield* Effect.flip(sql.unsafe(failing))
        assert.strictEqual(Statements.codeOf(error), "SQLITE_BUSY")
        other.exec("COMMIT")
        yield* sql`INSERT INTO names VALUES ('second')`
        assert.deepStrictEqual(seen(), ["first", "second"])
        yield* sql.withTransaction(sql`INSERT INTO names VALUES ('third')`)
        assert.deepStrictEqual(seen(), ["first", "second", "third"])
        other.exec("DELETE FROM names")
        other.close()
      }).pipe(Effect.provide(SqliteClient.layer({ file, creates: true, timeout: 10 })))
    })
)

it.live("has no person in its files once a run is complete, not even for the owner of the key", () =>
  Effect.gen(function*() {
    const file = newFile()
    const keys = yield* EncryptionKeys.make(Redacted.make(key("k1", 1)))
    const where = { run: "1", service: "api.example.com" }
    const stored = () =>
      [file, `${file}-wal`].filter(existsSync).flatMap((path) =>
        [...readFileSync(path, "latin1").matchAll(/1\.k1\.[A-Za-z\d+/=]{60,}/g)].map(([text]) => text)
      )
    const readable = (texts: ReadonlyArray<string>) =>
      Effect.filter(
        texts.flatMap((text) => Array.from({ length: 50 }, (_, index) => [text, `K${index + 1}`] as const)),
        ([text, id]) => Effect.isSuccess(EncryptionKeys.decrypt(keys, `person\n1\n${id}`, text))
      )
    yield* Effect.gen(function*() {
      yield* Rescreening.plan(many(50), { ...where, rate: 2000 })
      assert.isAbove((yield* readable(stored())).length, 0)
      yield* Rescreening.work(where)
      // The file is still open.
      assert.deepStrictEqual(yield* readable(stored()), [])
    }).pipe(Effect.provide([service().layer, layerPeople(), Ledger.layerSqlite({ file })]))
    assert.deepStrictEqual(yield* readable(stored()), [])
  }))

/** A ledger with the id `CanaryId`, and another process that reads it. */
const read = Effect.gen(function*() {
  const file = newFile()
  const context = yield* Layer.build(Databases.migrated(SqliteClient.layer({ file, creates: true, timeout: 10 })))
  const ledger = Context.get(context, Ledger.Ledger)
  yield* ledger.plan(
    { id: "1", policy: Schema.decodeSync(Run.Policy)({}), service: "api.example.com", people: "lookup" },
    Stream.make({ line: 1, id: "CanaryId", person: null, codes: [] }),
    () => "digest"
  )
  const reader = new Database(file)
  reader.exec("BEGIN")
  reader.prepare("SELECT COUNT(*) FROM idv_rescreen_people").all()
  const hasId = () => [file, `${file}-wal`].some((path) => readFileSync(path, "latin1").includes("CanaryId"))
  assert.isTrue(hasId())
  const erasing = yield* Effect.fork(Effect.exit(ledger.erase({ olderThan: -1 })))
  yield* TestClock.adjust("3 seconds")
  assert.isNull(erasing.unsafePoll())
  return { ledger, reader, hasId, erasing }
})

it.scoped("erases the ids from the write-ahead log when another process no longer reads the file", () =>
  Effect.gen(function*() {
    const { erasing, hasId, reader } = yield* read
    reader.exec("COMMIT")
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(yield* Effect.flatten(Fiber.join(erasing)), ["1"])
    assert.isFalse(hasId())
  }))

it.scoped("fails to erase while another process reads the file, and says what to do", () =>
  Effect.gen(function*() {
    const { erasing, hasId, ledger, reader } = yield* read
    yield* TestClock.adjust("1 minute")
    const error = yield* Effect.flip(Effect.flatten(Fiber.join(erasing)))
    assert.strictEqual(
      `${error}`,
      "LedgerInUse: The rows are deleted, but the write-ahead log beside the file of the ledger still contains them, " +
        "because another process reads the file. End that process, then run erase again."
    )
    assert.isTrue(hasId())
    reader.exec("COMMIT")
    assert.deepStrictEqual(yield* ledger.erase({ olderThan: -1 }), [])
    assert.isFalse(hasId())
  }))
