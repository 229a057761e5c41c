/** The HTML page of a large run in a real browser. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SqlClient } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Config, Effect, Layer, Option, Redacted, Stream } from "effect"
import * as Browser from "../../mock-server/test/support/browser.ts"
import { People, Report, Rescreening } from "../src/index.ts"
import * as SqliteClient from "../src/internal/ledger/sqliteClient.ts"
import * as Databases from "./support/databases.ts"
import { entry } from "./support/people.ts"

const count = 100_000

const nobody = People.layerLookup(() => Effect.succeed(Redacted.make({ name: "", dateOfBirth: "" })))

/** Plans a run, and settles its rows by one statement. */
const settled = (run: string, matches: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const people = Stream.map(Stream.range(1, count), (index) => entry(`K${index}`, "Canary Testclear"))
    yield* Rescreening.plan(people, { run, service: "api.example.com", evidence: "none" })
    const from = 1_790_000_000_000
    yield* sql`UPDATE idv_rescreen_people SET times_sent = 1, sent_at = ${from} + line * 20, settled_at = ${from} + line * 20,
      state = CASE WHEN line <= ${matches} THEN 'potential_match' WHEN line % 1000 = 999 THEN 'unknown'
        WHEN line % 500 = 499 THEN 'not_screened' ELSE 'no_match' END,
      error = CASE WHEN line % 1000 = 999 THEN 'LeaseExpired' ELSE NULL END
      WHERE plan = (SELECT plan FROM idv_rescreen_runs WHERE id = ${run})`
    yield* sql`UPDATE idv_rescreen_runs SET state = 'complete', completed_at = ${from + count * 20} WHERE id = ${run}`
  }).pipe(Effect.provide(nobody))

describe("The HTML report", () => {
  layer(Layer.mergeAll(Browser.layer, NodeContext.layer), { excludeTestServices: true })((it) => {
    it.scoped("shows 100,000 people in a browser, without scripts and personal data", () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const directory = yield* files.makeTempDirectoryScoped()
        const client = SqliteClient.layer({ file: `${directory}/ledger.sqlite`, creates: true })
        const page = yield* Effect.gen(function*() {
          yield* settled("2026-10", 3000)
          yield* settled("2026-11", 3200)
          return yield* Report.page("2026-11", { since: "2026-10" })
        }).pipe(Effect.provide(Databases.migrated(client)))
        const file = `${directory}/report.html`
        yield* files.writeFileString(file, page)
        assertTrue(page.length < 300_000, `${page.length} characters`)
        const { act, sees } = yield* Browser.open(`file://${file}`, { viewport: { width: 390, height: 844 } })
        yield* sees("h2", "Potential matches (3,200)")
        yield* sees("h3", "Newly matched (200)")
        yield* sees("svg rect")
        const text = yield* act((page) => page.innerText("body"))
        assertTrue(!text.includes("Canary") && text.includes("The first 1,000. The CSV has all."))
        deepStrictEqual(yield* act((page) => page.locator("script").count()), 0)
        const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        deepStrictEqual(yield* act((page) => page.evaluate(isWide)), false)
        const picture = yield* Config.option(Config.string("PAGE_PICTURE"))
        if (Option.isSome(picture)) {
          yield* act((page) =>
            page.screenshot({ path: picture.value, clip: { x: 0, y: 0, width: 390, height: 1600 }, fullPage: true })
          )
        }
      }))
  })
})
