import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Console, Context, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as EnginePgBoss from "../src/EnginePgBoss.ts"
import { Engine, Ledger, Rescreening, Run } from "../src/index.ts"
import { layerPeople, many, service } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

class Server extends Context.Tag("test/Server")<Server, Effect.Effect.Success<typeof Postgres.make>>() {}

const run = "night"
const where = { run, service: "api.example.com" }

/** A ledger and an engine in the same new database. */
const layers = Effect.map(Effect.flatMap(Server, ({ createDatabase }) => createDatabase), (text) => {
  const url = Redacted.make(text)
  return Layer.mergeAll(
    Ledger.layerPg({ url }),
    EnginePgBoss.layer({ url, jobTimeout: "5 seconds" }),
    layerPeople()
  )
})

const complete = Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run)).pipe(
  Effect.repeat({ until: ({ state }) => state === "complete", schedule: Schedule.spaced("100 millis") }),
  Effect.timeout("40 seconds")
)

const counts = Effect.flatMap(Ledger.Ledger, (ledger) => ledger.counts(run))

describe("Engine on pg-boss", () => {
  layer(Layer.mergeAll(Layer.scoped(Server, Postgres.make), NodeContext.layer), {
    excludeTestServices: true,
    timeout: 60_000
  })((it) => {
    it.scoped("brings each shard of a run to one of several workers, which complete the run", () =>
      Effect.gen(function*() {
        const aml = service(() => "No", 5)
        const planned = yield* Rescreening.plan(many(400), { ...where, rate: 1000, shards: 4 })
        yield* Engine.dispatch(planned)
        yield* Engine.dispatch(planned)
        const workers = yield* Effect.fork(
          Effect.replicateEffect(Engine.work(where), 2, { concurrency: 2 }).pipe(Effect.provide(aml.layer))
        )
        yield* complete
        yield* Fiber.interrupt(workers)
        deepStrictEqual(yield* counts, { ...Run.noCounts, no_match: 400 })
        strictEqual(aml.names.length, 400)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("creates its tables if several workers start at once", () =>
      Effect.gen(function*() {
        const { createDatabase } = yield* Server
        for (let round = 0; round < 5; round++) {
          const url = Redacted.make(yield* createDatabase)
          yield* Effect.scoped(
            Effect.replicateEffect(Layer.build(EnginePgBoss.layer({ url })), 6, { concurrency: "unbounded" })
          )
        }
      }))

    it.scoped("continues a shard in a later job if it takes longer than a job may", () =>
      Effect.gen(function*() {
        const aml = service()
        yield* Engine.dispatch(yield* Rescreening.plan(many(120), { ...where, rate: 20, shards: 1 }))
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* complete
        yield* Fiber.interrupt(worker)
        deepStrictEqual(yield* counts, { ...Run.noCounts, no_match: 120 })
        strictEqual(aml.names.length, 120)
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped("leaves a paused run alone, and fails if the database does not exist", () =>
      Effect.gen(function*() {
        const aml = service()
        yield* Engine.dispatch(yield* Rescreening.plan(many(10), { ...where, shards: 1 }))
        yield* Rescreening.pause(run)
        const worker = yield* Effect.fork(Effect.provide(Engine.work(where), aml.layer))
        yield* Effect.sleep("4 seconds")
        strictEqual(aml.names.length, 0)
        yield* Rescreening.resume(run)
        yield* Engine.dispatch(yield* Effect.flatMap(Ledger.Ledger, (ledger) => ledger.run(run)))
        yield* complete
        yield* Fiber.interrupt(worker)
        strictEqual(aml.names.length, 10)
        const url = Redacted.make("postgres://someone:canary-password@127.0.0.1:1/none")
        const error = yield* Effect.flip(Layer.build(EnginePgBoss.layer({ url })))
        strictEqual(error._tag, "EngineUnavailable")
        assertTrue(error.message.includes("ECONNREFUSED") && !JSON.stringify(error).includes("canary"))
      }).pipe(Effect.provide(Layer.unwrapScoped(layers))))

    it.scoped(
      "repeats the shards of a process that was killed, and nobody is sent twice unnoticed",
      () =>
        Effect.gen(function*() {
          const people = 200
          const { createDatabase } = yield* Server
          const url = yield* createDatabase
          const ledger = Context.get(yield* Layer.build(Ledger.layerPg({ url: Redacted.make(url) })), Ledger.Ledger)
          const files = yield* FileSystem.FileSystem
          const file = `${yield* files.makeTempDirectoryScoped()}/people.csv`
          const lines = Array.from({ length: people }, (_, index) => `C-${index},Person${index} Testclear,1990-02-01`)
          yield* files.writeFileString(file, ["id,name,date_of_birth", ...lines, ""].join("\n"))
          const { received, variables } = yield* Processes.service()
          const program = yield* Program.bundled(
            new URL("../../examples/src/rescreening/nightly.ts", import.meta.url)
          )
          const worker = (...args: ReadonlyArray<string>) =>
            Processes.startProgram(program, [file, ...args], { ...variables, DATABASE_URL: url })
          const first = yield* worker("--now")
          yield* Effect.repeat(Effect.sleep("50 millis"), { until: () => received.length > 20 })
          yield* first.signal("SIGKILL")
          const killedAt = yield* Clock.currentTimeMillis
          const before = received.length
          yield* worker()
          yield* worker()
          const [{ id } = { id: "" }] = yield* ledger.runs
          yield* ledger.run(id).pipe(
            Effect.repeat({ until: ({ state }) => state === "complete", schedule: Schedule.spaced("200 millis") }),
            Effect.timeout("150 seconds")
          )
          const counts = yield* ledger.counts(id)
          strictEqual(counts.no_match + counts.unknown, people)
          strictEqual(new Set(received.map(({ name }) => name)).size, received.length)
          yield* Console.log(
            `killed after ${before} of ${people} checks; complete ${
              ((yield* Clock.currentTimeMillis) - killedAt) / 1000
            } s later, ${counts.unknown} unknown`
          )
        }),
      200_000
    )
  })
})
