/** How the databases search the rows of a run, because a statement that reads each row is slow in a large run. */
import { SqlClient, Statement } from "@effect/sql"
import { describe, layer } from "@effect/vitest"
import { assertTrue } from "@effect/vitest/utils"
import { Context, Effect, Schema, Stream } from "effect"
import { Ledger, Run } from "../src/index.ts"
import * as Databases from "./support/databases.ts"

const run = "2026-11"
const policy = Schema.decodeSync(Run.Policy)({})

const statements: { readonly [name: string]: (ledger: Ledger.Service) => Effect.Effect<unknown, Ledger.Failure> } = {
  expire: ({ expire }) => expire(run),
  releaseAll: ({ releaseAll }) => releaseAll(run, ["nobody"])
}

describe.each(Databases.kinds)("Statements in %s", (kind, databases) => {
  layer(databases, { excludeTestServices: true })((it) => {
    it.scoped.each(Object.keys(statements))("%s searches the index of the held rows", (name) =>
      Effect.gen(function*() {
        const context = yield* Databases.ledger
        const ledger = Context.get(context, Ledger.Ledger)
        const sql = Context.get(context, SqlClient.SqlClient)
        const rows = Stream.map(
          Stream.range(1, 1000),
          (line) => ({ line, id: `K${line}`, person: null, codes: [] })
        )
        yield* ledger.plan({ id: run, policy, service: "api.example.com", people: "lookup" }, rows, () => "digest")
        const plans: Array<Statement.Statement<unknown>> = []
        const explain = kind === "SQLite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN"
        yield* Statement.withTransformer(statements[name]?.(ledger) ?? Effect.void, (statement) => {
          const [text, values] = statement.compile()
          if (!text.startsWith("UPDATE idv_rescreen_people")) return Effect.succeed(statement)
          plans.push(sql.unsafe(`${explain} ${text}`, values))
          return Effect.succeed(statement)
        })
        assertTrue(plans.length > 0)
        for (const plan of plans) {
          const text = JSON.stringify(yield* plan)
          assertTrue(text.includes("idv_rescreen_people_held"), text)
        }
      }))
  })
})
