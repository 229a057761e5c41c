/** Three monthly rescreenings on PostgreSQL by command line, as docs/rescreening-review.md tells them. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { describe, layer } from "@effect/vitest"
import { assertFalse, assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Console, Effect, Fiber, Redacted, Schedule, Schema } from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import { filesOf } from "./support/files.ts"
import * as ListService from "./support/listService.ts"
import { key } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

const Row = Schema.Struct({
  id: Schema.String,
  outcome: Schema.String,
  digest: Schema.String,
  decision: Schema.String,
  times_sent: Schema.Int
})
const Status = Schema.Struct({
  state: Schema.String,
  counts: Schema.Record({ key: Schema.String, value: Schema.Int }),
  doubtful: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, count: Schema.Int })),
  controls: Schema.Struct({ rounds: Schema.Int, requests: Schema.Int }),
  undocumented: Schema.Array(Schema.String)
})
const Change = Schema.Struct({ kind: Schema.String })
const Entry = Schema.Struct({ kind: Schema.String })
const linesOf = <A, I>(schema: Schema.Schema<A, I>, text: string) =>
  text.split("\n").filter((line) => line !== "").map((line) => Schema.decodeUnknownSync(Schema.parseJson(schema))(line))

const countBy = (values: ReadonlyArray<string>) => {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** 1,000 people are in the class `high`, and 4,000 in `standard`. Every 125th is on one of two lists. */
const size = 5000
const classOf = (index: number) => index % 5 === 0 ? "high" : "standard"
const classes = ["high", "standard"] as const
const nameOf = (index: number) => `Person${index} Canary`
const indexes = Array.from({ length: size }, (_, index) => index + 1)
const idOf = (index: number) => `C-${index}`
const erasedIndex = 751

/** The table of the page. */
const documented = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const page = yield* files.readFileString(new URL("../../../docs/rescreening-review.md", import.meta.url).pathname)
  const section = page.slice(page.indexOf("## Three months"))
  const rows = section.split("\n").filter((line) => line.startsWith("| 2026"))
  return rows.map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
})

describe("Three months", () => {
  layer(NodeContext.layer, { excludeTestServices: true })((it) => {
    it.scoped(
      "of 5,000 people in two classes are screened, reviewed, repeated and erased",
      () =>
        Effect.gen(function*() {
          const { createDatabase, data } = yield* Postgres.make
          const url = yield* createDatabase
          const service = yield* ListService.make
          const files = yield* FileSystem.FileSystem
          const directory = yield* files.makeTempDirectoryScoped({ prefix: "months-" })
          const variables = {
            IDV_AUTH_URL: service.url,
            IDV_BASE_URL: service.url,
            IDV_CUSTOMER_ID: "demo-customer",
            IDV_CUSTOMER_KEY: "demo-key",
            IDV_RESCREEN_KEY: key("k1", 1),
            DATABASE_URL: url
          }
          const outputs: Array<string> = []
          const command = (args: ReadonlyArray<string>, exitCode: number | undefined, input?: string) =>
            Effect.map(Processes.run(args, variables, input), (done) => {
              strictEqual(
                done.exitCode,
                exitCode ?? done.exitCode,
                `${args.join(" ")}: ${done.stdout.slice(0, 500)} ${done.stderr}`
              )
              outputs.push(done.stdout, done.stderr)
              return done
            })
          const controls = `${directory}/controls.csv`
          yield* files.writeFileString(
            controls,
            "id,name,date_of_birth,match_found\n" +
              "L1,Listed Alpha,1970-01-01,Potential match\nL2,Listed Beta,1970-01-01,Potential match\n"
          )
          service.listed.set("Listed Alpha", { list: "A", profile: "https://example.com/profiles/a" })
          service.listed.set("Listed Beta", { list: "B", profile: "https://example.com/profiles/b" })
          const list = (index: number, profile = `https://example.com/profiles/${index}`) =>
            service.listed.set(nameOf(index), { list: index % 2 === 0 ? "A" : "B", profile })
          for (const index of indexes) if (index % 250 === 1 || index % 250 === 125) list(index)

          const csv = (includes: (index: number) => boolean) =>
            [
              "id,name,date_of_birth",
              ...indexes.filter(includes).map((index) => `${idOf(index)},${nameOf(index)},1957-03-14`),
              ""
            ]
              .join("\n")
          const plan = (run: string, name: string, input: string, ...args: ReadonlyArray<string>) =>
            command(
              [
                ...["plan", "--run", run, "--class", name, "--four-eyes", "--valid", "180d", "--rate", "1000"],
                ...["--control", controls, "--control-every", "400", ...args]
              ],
              0,
              input
            )
          const rowsOf = (run: string, exitCode = 0) =>
            Effect.gen(function*() {
              yield* command(["report", "--run", run, "--out", `${directory}/${run}`], exitCode)
              return linesOf(Row, yield* files.readFileString(`${directory}/${run}.jsonl`))
            })
          const statusOf = (run: string) =>
            Effect.map(command(["status", "--run", run], 0), ({ stdout }) => {
              const [status] = linesOf(Status, stdout)
              return status ?? Effect.die("no status")
            }).pipe(Effect.flatMap((status) => Effect.isEffect(status) ? status : Effect.succeed(status)))
          const requestsOf = (run: string, exitCode = 0) =>
            Effect.gen(function*() {
              const rows = yield* rowsOf(run, exitCode)
              const { controls } = yield* statusOf(run)
              return rows.reduce((sum, { times_sent }) => sum + times_sent, 0) + controls.requests
            })
          /** Ana sees the evidence of these rows and decides, and Bob approves it. Returns the number of decisions. */
          const review = (run: string) =>
            Effect.gen(function*() {
              const { stdout } = yield* command(["matches", "--run", run, "--reviewer", "ana"], 0)
              const open = linesOf(Row, stdout).filter(({ decision }) => decision === "" || decision === "review_again")
              if (open.length === 0) return 0
              const decisions = [
                "id,digest,decision,reason",
                ...open.map(({ digest, id }) => `${id},${digest},false_positive,other_birth_year`),
                ""
              ].join("\n")
              yield* command(["decide", "--run", run, "--reviewer", "ana"], 0, decisions)
              yield* command(["decide", "--approve", "--run", run, "--reviewer", "Ana"], 1, decisions)
              yield* command(["decide", "--approve", "--run", run, "--reviewer", "bob"], 0, decisions)
              return open.length
            })
          const sum = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0)
          const compared = (before: string, after: string) =>
            Effect.map(
              Effect.forEach(classes, (name) => command(["compare", `${before}-${name}`, `${after}-${name}`], 0)),
              (all) => countBy(all.flatMap(({ stdout }) => linesOf(Change, stdout)).map(({ kind }) => kind))
            )
          const table: Array<ReadonlyArray<string>> = []

          yield* command(["migrate"], 0)
          // September: everybody is new.
          for (const name of classes) {
            yield* plan(`2026-09-${name}`, name, csv((index) => classOf(index) === name))
            yield* command(["work", "--run", `2026-09-${name}`], 10)
          }
          strictEqual(sum(yield* Effect.forEach(classes, (name) => requestsOf(`2026-09-${name}`))), service.state.total)
          yield* Console.log(`2026-09: ${service.state.total} requests received and recorded`)
          const first = sum(yield* Effect.forEach(classes, (name) => review(`2026-09-${name}`)))
          table.push(["2026-09", `${size}`, `${first}`, "–"])
          for (const name of classes) yield* command(["coverage", "--class", name, "--within", "30d"], 0)

          // October: ten new matches, five other profiles, one match gone, and a field that nobody announced.
          service.state.hasRequestId = true
          for (const index of [2, 4, 6, 8, 12, 14, 16, 18, 22, 24]) list(index)
          for (const index of [1, 251, 501, 125, 375]) list(index, `https://example.com/profiles/${index}-other`)
          service.listed.delete(nameOf(1001))
          const before = service.state.total
          for (const name of classes) {
            yield* plan(`2026-10-${name}`, name, csv((index) => classOf(index) === name))
            yield* command(["work", "--run", `2026-10-${name}`], 10)
            deepStrictEqual((yield* statusOf(`2026-10-${name}`)).undocumented, ["request_id"])
          }
          strictEqual(
            sum(yield* Effect.forEach(classes, (name) => requestsOf(`2026-10-${name}`))),
            service.state.total - before
          )
          yield* Console.log(`2026-10: ${service.state.total - before} requests received and recorded`)
          const october = yield* compared("2026-09", "2026-10")
          deepStrictEqual(october, { newly_matched: 10, evidence_changed: 5, no_longer_matched: 1 })
          const second = sum(yield* Effect.forEach(classes, (name) => review(`2026-10-${name}`)))
          strictEqual(second, 15)
          table.push(["2026-10", `${size}`, `${second}`, "10 new, 5 changed, 1 gone"])

          // November: a customer leaves, list A is missing in the middle of a run, and a machine dies.
          const others = Effect.map(
            Effect.forEach(["2026-09-standard", "2026-10-standard"], (run) => rowsOf(run)),
            (all) => JSON.stringify(all.flat().filter(({ id }) => id !== idOf(erasedIndex) && id !== ""))
          )
          const othersBefore = yield* others
          yield* command(["hold", "--id", idOf(erasedIndex), "--by", "legal"], 0)
          const held = yield* command(["erase", "--id", idOf(erasedIndex), "--by", "dpo"], 1)
          assertInclude(held.stderr, "is on hold, so nothing was erased")
          yield* command(["hold", "--id", idOf(erasedIndex), "--by", "legal", "--release"], 0)
          yield* command(["erase", "--id", idOf(erasedIndex), "--by", "dpo"], 0)
          strictEqual(yield* others, othersBefore)
          yield* Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            for (const table of ["people", "history", "controls"]) {
              yield* sql`VACUUM FULL ${sql(`idv_rescreen_${table}`)}`
            }
            yield* sql`CHECKPOINT`
            const left = yield* sql`SELECT 1 FROM idv_rescreen_people WHERE id = ${idOf(erasedIndex)}
            UNION ALL SELECT 1 FROM idv_rescreen_history WHERE id = ${idOf(erasedIndex)}`
            deepStrictEqual(left, [])
          }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
          const pattern = new RegExp(`${idOf(erasedIndex)}(?!\\d)`)
          for (const [path, bytes] of filesOf(data)) assertFalse(pattern.test(bytes), `${path} holds the erased id`)

          const stays = (name: string) => (index: number) => classOf(index) === name && index !== erasedIndex
          const beforeNovember = service.state.total
          yield* plan("2026-11-high", "high", csv(stays("high")))
          yield* command(["work", "--run", "2026-11-high"], 0)
          service.state.losesAAfter = service.state.total + 1500
          yield* plan("2026-11-standard", "standard", csv(stays("standard")))
          const stopped = yield* command(["work", "--run", "2026-11-standard"], 4)
          const stoppedAt = service.state.total
          const late = stoppedAt - service.state.losesAAfter
          assertTrue(late <= 450, `${late} checks later`)
          const { counts, doubtful } = yield* statusOf("2026-11-standard")
          assertInclude(
            stopped.stderr,
            `the service returned "No" for a listed control person (line 2 of the controls): ${
              counts["control_failed"]
            } results since`
          )
          const [span] = doubtful
          strictEqual(span?.count, counts["control_failed"])
          // Nobody is sent while the list is missing. When it is back, a machine dies in the middle.
          yield* command(["resume", "--run", "2026-11-standard"], 0)
          yield* command(["work", "--run", "2026-11-standard"], 4)
          assertTrue(service.state.total - stoppedAt <= 2, `${service.state.total - stoppedAt}`)
          service.state.losesAAfter = Infinity
          yield* command(["resume", "--run", "2026-11-standard"], 0)
          const killed = yield* Processes.start(
            ["work", "--run", "2026-11-standard", "--lease", "2 seconds"],
            variables
          )
          yield* Effect.repeat(Effect.sync(() => service.state.total), {
            until: (total) => total > stoppedAt + 500,
            schedule: Schedule.spaced("10 millis")
          })
          yield* killed.signal("SIGKILL")
          yield* Fiber.join(killed.end)
          yield* command(["work", "--run", "2026-11-standard"], 12)
          const { counts: { unknown = 0 } } = yield* statusOf("2026-11-standard")
          assertTrue(unknown > 0 && unknown <= 150, `${unknown} unknown`)
          yield* command(["resume", "--run", "2026-11-standard", "--again", "unknown"], 0)
          yield* command(["work", "--run", "2026-11-standard"], 12)
          strictEqual((yield* command(["coverage", "--class", "standard", "--within", "30d"], 0)).exitCode, 0)
          const repeated = yield* plan(
            "2026-11-repeat",
            "standard",
            csv(stays("standard")),
            "--from-sent",
            `${span?.from}..${span?.to}`
          )
          strictEqual(repeated.stderr, "")
          const { exitCode: repeatedExit } = yield* command(["work", "--run", "2026-11-repeat"], undefined)
          const again = new Map((yield* rowsOf("2026-11-repeat")).map((row) => [row.id, row]))
          for (const { id, outcome } of yield* rowsOf("2026-11-standard", 12)) {
            if (outcome === "control_failed") assertTrue(again.has(id), "A doubtful row was not repeated")
          }
          // The repeated ones have the result and the decision of October. A machine of another speed stops elsewhere, where
          // perhaps nobody is listed.
          const matched = [...again.values()].filter(({ outcome }) => outcome === "potential_match")
          const listedIds = indexes.filter((index) => service.listed.has(nameOf(index))).map(idOf)
          deepStrictEqual(matched.map(({ id }) => id).toSorted(), listedIds.filter((id) => again.has(id)).toSorted())
          // No result needs a decision: those of October count.
          strictEqual(repeatedExit, 0)
          deepStrictEqual(countBy(matched.map(({ decision }) => decision)), { false_positive: matched.length })
          const november = yield* compared("2026-10", "2026-11")
          strictEqual(november["no_longer_matched"], undefined)
          strictEqual(november["newly_unknown"], counts["control_failed"])
          const third = sum(yield* Effect.forEach(["2026-11-high", "2026-11-standard", "2026-11-repeat"], review))
          table.push(["2026-11", `${size - 1}`, `${third}`, "control_failed, repeated"])
          const recorded = sum([
            yield* requestsOf("2026-11-high"),
            yield* requestsOf("2026-11-standard", 12),
            yield* requestsOf("2026-11-repeat")
          ])
          const received = service.state.total - beforeNovember
          yield* Console.log(
            `2026-11: ${received} requests received and ${recorded} recorded, ${unknown} unknown, ` +
              `${
                counts["control_failed"]
              } control_failed, ${again.size} repeated, stopped ${late} checks after the loss`
          )
          assertTrue(
            received <= recorded && recorded - received <= unknown,
            `${received} received, ${recorded} recorded`
          )

          // The auditor: every decision was approved by another person, and the ledger says who saw what.
          const { stdout: history } = yield* command(["history"], 0)
          const kinds = countBy(linesOf(Entry, history).map(({ kind }) => kind))
          deepStrictEqual([kinds["decided"], kinds["approved"], kinds["erased"]], [
            first + second - 1,
            first + second - 1,
            1
          ])
          for (const text of outputs) assertFalse(text.includes(`"person":["`), "An output holds a person")
          deepStrictEqual(table, yield* documented)
        }),
      900_000
    )
  })
})
