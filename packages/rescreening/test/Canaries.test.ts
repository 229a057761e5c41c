/** Searches logs, spans, metrics, reports and the files of the database for personal data and key material. */
import { AmlError, Person } from "@effect-idv/core"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertFalse, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Chunk, Effect, Exit, Stream } from "effect"
import { createHash } from "node:crypto"
import { everythingPrinted } from "../../core/test/support/canary.ts"
import { Decisions, Ledger, Matches, PersonalData, Population, Report, Rescreening } from "../src/index.ts"
import * as Databases from "./support/databases.ts"
import { filesOf, logsOf } from "./support/files.ts"
import { layerPeople, service } from "./support/people.ts"

const material = createHash("sha256").update("canary").digest()

/** Must be nowhere. */
const secrets = {
  name: "Canaryname",
  "date of birth": "1957-03-14",
  "date of birth as sent": "14-03-1957",
  "key in base64": material.toString("base64"),
  "key in hex": material.toString("hex"),
  "key in bytes": material.toString("latin1")
}

/** Are in the ledger and its reports until the run is erased, but in no log, span or metric. */
const identifying = { "id of a person": "CanaryId", reviewer: "CanaryReviewer", decision: "CanaryDecision" }

const assertNone = (where: string, text: string, canaries: Readonly<Record<string, string>>) => {
  for (const [what, canary] of Object.entries(canaries)) assertFalse(text.includes(canary), `${where} holds a ${what}`)
}

const run = "2026-11"
const options = { run, service: "api.example.com" }

const csv = [
  "id,name,date_of_birth",
  ...Array.from({ length: 60 }, (_, index) => `CanaryId${index},Canaryname${index} Testclear,1957-03-14`),
  "CanaryId100,Canaryname,1957-03-14,Canaryname",
  "Canaryname 101,CanaryId101,1957-03-14",
  "CanaryId102,Canaryname\",1957-03-14"
].join("\n")

const population = Population.fromCsv(Stream.make(new TextEncoder().encode(csv)))

/** Every tenth person has another failure. */
const failures: Readonly<Record<string, AmlError.AmlError>> = {
  0: new AmlError.AmlUnavailable({ reason: "broken", host: "api.example.com", sent: "unknown" }),
  1: new AmlError.AmlUnavailable({ reason: "status", host: "api.example.com", sent: "answered" })
}

const screened = Effect.gen(function*() {
  const aml = service((name) =>
    failures[/(\d) Testclear/.exec(name)?.[1] ?? ""] ?? (name.includes("5") ? "Potential match" : "No")
  )
  yield* Rescreening.plan(population, { ...options, rate: 2000, evidence: "all" })
  return yield* Effect.provide(Rescreening.work(options), aml.layer)
}).pipe(Effect.provide(layerPeople(`canary:${secrets["key in base64"]}`)))

/** Rewrites what the database keeps of deleted rows. `erase` does so in SQLite. */
const rewritten = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["people", "runs", "leases", "plans", "services", "history"]) {
    yield* sql`VACUUM FULL ${sql(`idv_rescreen_${table}`)}`
  }
  yield* sql`CHECKPOINT`
})

/** The statements for PostgreSQL in the document. The first line is for a new database. */
const documented = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const page = yield* files.readFileString(new URL("../../../docs/rescreening-review.md", import.meta.url).pathname)
  const [, block = ""] = /## Erase[\s\S]*?```sql\n([\s\S]*?)```/.exec(page) ?? []
  const [settings = "", ...others] = block.replaceAll(/--.*/g, "").split("\n")
  const statements = (lines: ReadonlyArray<string>) => lines.join("").split(";").filter((text) => text.trim() !== "")
  return { settings: statements([settings]), statements: statements(others) }
}).pipe(Effect.provide(NodeContext.layer))

describe.each(Databases.alone)("Personal data and keys with %s", (kind, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped("are in no log, span, metric, report or file of the database, and after erase neither are the ids", () =>
      Effect.gen(function*() {
        const { client, directory } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        yield* Effect.gen(function*() {
          const { exit, printed } = yield* everythingPrinted(screened, Cause.pretty)
          assertTrue(Exit.isSuccess(exit))
          deepStrictEqual([exit.value.unknown, exit.value.not_screened, exit.value.wrong_row], [6, 6, 3])
          assertTrue(printed.includes("Rescreening.claim"))
          assertNone("What was printed", printed, { ...secrets, ...identifying })

          const reports = [
            yield* Stream.mkString(Report.csv(run)),
            yield* Stream.mkString(Report.jsonLines(run)),
            yield* Report.page(run)
          ]
          for (const report of reports) {
            assertTrue(report.includes("CanaryId5"))
            assertNone("A report", report, secrets)
          }

          const ledger = yield* Ledger.Ledger
          yield* ledger.append([{
            kind: "decided",
            id: "CanaryId5",
            digest: "digest",
            decision: identifying.decision,
            actor: identifying.reviewer
          }])
          const sql = yield* SqlClient.SqlClient
          // The statistics of PostgreSQL would hold samples of the columns.
          yield* sql`ANALYZE`
          if (kind === "PostgreSQL") yield* sql`CHECKPOINT`
          const before = filesOf(directory)
          for (const canary of Object.values(identifying)) {
            assertTrue(before.some(([, bytes]) => bytes.includes(canary)), `the search does not find ${canary}`)
          }
          for (const [path, bytes] of before) assertNone(path, bytes, secrets)

          deepStrictEqual(yield* Rescreening.erase({ olderThan: 0, historyOlderThan: 0 }), [run])
          if (kind === "PostgreSQL") yield* rewritten
          for (const [path, bytes] of filesOf(directory)) assertNone(path, bytes, { ...secrets, ...identifying })
          const { erasedCounts } = yield* ledger.run(run)
          strictEqual(erasedCounts?.unknown, 6)
        }).pipe(Effect.provide(Databases.migrated(client)))
      }))

    it.scoped("of one person are in no file after the person is erased, and names are in no log of the database", () =>
      Effect.gen(function*() {
        const { client, directory, log } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
        const isPostgres = kind === "PostgreSQL"
        const { settings, statements } = yield* documented
        const id = "CanaryId55"
        const holds = (files: ReadonlyArray<readonly [string, string]>) =>
          files.filter(([, bytes]) => bytes.includes(id)).map(([path]) => path)
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          if (isPostgres) {
            strictEqual(settings.length + statements.length, 5)
            for (const statement of settings) yield* sql.unsafe(statement)
            yield* sql`ALTER SYSTEM SET log_statement = 'all'`
            yield* sql`SELECT pg_reload_conf()`
          }
          yield* screened
          // Encrypted, because they have no result, and a control.
          const control = { key: id, person: Person.make({ name: "Canaryname", dateOfBirth: "1957-03-14" }) }
          yield* Rescreening.plan(population, {
            ...options,
            run: "2026-12",
            controls: [{ ...control, expected: "Potential match" }]
          })
          const digest = Chunk.toReadonlyArray(yield* Stream.runCollect(Report.rows(run)))
            .find((row) => row.id === id)?.digest ?? ""
          yield* Decisions.store(run, [{ id, digest, decision: "false_positive", reason: "age" }], { reviewer: "ana" })
          yield* Stream.runDrain(Matches.review(run, { reader: "ana" }))
          yield* PersonalData.read(id, { actor: "dpo" })
          const others = Effect.map(
            Stream.runCollect(Stream.flatMap(Stream.make(run, "2026-12"), (run) => Report.rows(run))),
            (rows) => Chunk.toReadonlyArray(rows).filter(({ line }) => line !== 57)
          )
          const before = yield* others
          if (isPostgres) yield* sql`CHECKPOINT`
          assertTrue(holds(filesOf(directory)).length > 0, "The search does not find the person")
          strictEqual(yield* PersonalData.erase(id, { actor: "dpo" }), 2)
          deepStrictEqual(yield* others, before)
          if (isPostgres) {
            assertTrue(log().includes(id), "The search does not find the person in the log")
            assertTrue(
              holds(logsOf(directory)).length > 0,
              "The search does not find the person in the write-ahead log"
            )
            for (const statement of statements) yield* sql.unsafe(statement)
          }
          for (const [path, bytes] of [...filesOf(directory), ...logsOf(directory), ["log", log()] as const]) {
            assertNone(path, bytes, secrets)
          }
          deepStrictEqual(holds([...filesOf(directory), ...logsOf(directory)]), [])
        }).pipe(
          Effect.provide(Databases.migrated(client)),
          Effect.provide(layerPeople(`canary:${secrets["key in base64"]}`))
        )
      }))
  })
})
