/** Decisions as an analyst writes them: with the ids as the report shows them. */
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigError, Effect, Stream } from "effect"
import { Report, Rescreening } from "../src/index.ts"
import * as Csv from "../src/internal/command/decisions.ts"
import * as Databases from "./support/databases.ts"
import { entry, layerPeople, service } from "./support/people.ts"
import { fast, run, where, withLedger } from "./support/runs.ts"

const [, databases] = Databases.kinds[0]

describe("Decisions", () => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped("accept an id that the report escaped, because a spreadsheet could read it as a formula", () =>
      withLedger(Effect.gen(function*() {
        const people = Stream.fromIterable(["-2", "=A1", "K1"].map((id) => entry(id, "Ada Testpep")))
        yield* Rescreening.plan(people, fast).pipe(
          Effect.zipRight(Rescreening.work(where)),
          Effect.provide([service(() => "Potential match").layer, layerPeople()])
        )
        const shown = (yield* Stream.mkString(Report.csv(run))).trim().split("\n").slice(1).map((line) => {
          const cells = line.split(",")
          return { id: cells[1] ?? "", digest: cells.find((cell) => /^[\da-f]{64}$/.test(cell) && cell !== cells[11]) }
        })
        deepStrictEqual(shown.map(({ id }) => id), ["'-2", "'=A1", "K1"])
        const header = "id,digest,decision,reason"
        const decisions = shown.map(({ digest, id }) => `${id},${digest},false_positive,other_birth_year`)
        strictEqual(yield* Csv.store(run, [header, ...decisions].join("\n"), { reviewer: "ana" }), 3)
        const wrong = `${header}\n'${decisions.at(-1)}\n`
        const error = yield* Effect.flip(Csv.store(run, wrong, { reviewer: "ana" }))
        strictEqual(String(error).includes("no result for these ids (decision 1"), true)
      })))
  })
})

describe("The options of a worker", () => {
  layer(databases, { excludeTestServices: true })((it) => {
    const wrong: ReadonlyArray<Partial<Rescreening.WorkOptions>> = [
      { concurrency: 0 },
      { concurrency: 1.5 },
      { concurrency: 1001 },
      { concurrency: 1e9 },
      { lease: "10 millis" },
      { lease: "2 hours" }
    ]
    it.scoped.each(wrong)("cannot be %j", (options) =>
      withLedger(
        Effect.gen(function*() {
          const error = yield* Effect.flip(Rescreening.work({ ...where, ...options }))
          strictEqual(ConfigError.isConfigError(error), true)
        }).pipe(Effect.provide([service().layer, layerPeople()]))
      ))
  })
})
