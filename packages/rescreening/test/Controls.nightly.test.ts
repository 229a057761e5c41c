/** Workers as processes that are killed while they check the controls of a run. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Console, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import * as Databases from "./support/databases.ts"
import * as ListService from "./support/listService.ts"
import { key } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

const Status = Schema.parseJson(Schema.Struct({
  state: Schema.String,
  counts: Schema.Record({ key: Schema.Literal("pending", "no_match", "unknown", "control_failed"), value: Schema.Int }),
  controls: Schema.Struct({ rounds: Schema.Int, requests: Schema.Int })
}))

const count = 80
const names = Array.from({ length: count }, (_, index) => `Person${index} Canary`)
const controls = ["Listed Alpha", "Listed Beta"]

describe.each(Databases.kinds)("A worker with %s", (kind, databases) => {
  layer(Layer.merge(databases, NodeContext.layer), { excludeTestServices: true })((it) => {
    it.scoped(
      "that is killed while it checks controls leaves no run complete and nobody billed twice",
      () =>
        Effect.gen(function*() {
          const { url } = yield* Effect.flatMap(Databases.Databases, ({ fresh }) => fresh)
          const service = yield* ListService.make
          const { posts, state } = service
          for (const name of controls) {
            service.listed.set(name, { list: "A", profile: "https://example.com/profiles/a" })
          }
          const files = yield* FileSystem.FileSystem
          const file = `${yield* files.makeTempDirectoryScoped()}/controls.csv`
          yield* files.writeFileString(
            file,
            [
              "id,name,date_of_birth,match_found",
              ...controls.map((name, i) => `L${i},${name},1970-01-01,Potential match`)
            ]
              .join("\n")
          )
          const variables = {
            IDV_AUTH_URL: service.url,
            IDV_BASE_URL: service.url,
            IDV_CUSTOMER_ID: "demo-customer",
            IDV_CUSTOMER_KEY: "demo-key",
            IDV_RESCREEN_KEY: key("k1", 1),
            DATABASE_URL: kind === "SQLite" ? `file://${url}` : url
          }
          const command = (args: ReadonlyArray<string>, exitCode: number, input?: string) =>
            Effect.map(Processes.run([...args], variables, input), (done) => {
              strictEqual(done.exitCode, exitCode, `${args.join(" ")}: ${done.stdout} ${done.stderr}`)
              return done
            })
          const status = Effect.flatMap(command(["status", "--run", "1"], 0), ({ stdout }) =>
            Schema.decode(Status)(stdout))
          const work = ["work", "--run", "1", "--lease", "2 seconds"]
          const postsOf = (all: ReadonlyArray<string>) =>
            all.reduce((sum, name) => sum + (posts.get(name) ?? 0), 0)

          if (kind === "PostgreSQL") {
            yield* command(["migrate"], 0)
          }
          yield* command(
            ["plan", "--run", "1", "--rate", "100", "--control", file, "--control-every", "30"],
            0,
            ["id,name,date_of_birth", ...names.map((name, index) => `K${index},${name},1957-03-14`)].join("\n")
          )
          // Before the first person, in the middle, and after the last one.
          for (const moment of [0, 0.5, 1]) {
            const { held } = state
            const left = (yield* status).counts.pending
            const until = postsOf(names) + left * moment
            state.holds = (name) => controls.includes(name) && postsOf(names) >= until
            const killed = yield* Processes.start(work, variables)
            yield* Effect.repeat(Effect.sync(() => state.held), {
              until: (now) => now > held,
              schedule: Schedule.spaced("5 millis")
            })
            yield* killed.signal("SIGKILL")
            yield* Fiber.join(killed.end)
            state.holds = () => false
            // Ends the leases, so that each row of the killed worker is pending or unknown.
            yield* Effect.sleep("2100 millis")
            yield* command(["resume", "--run", "1"], 0)
            strictEqual((yield* status).state, "open", `after ${postsOf(names)} people`)
          }
          // Nobody is left. Without a good round after that, the run is not complete.
          strictEqual((yield* status).counts.pending, 0)
          state.losesAAfter = 0
          assertInclude((yield* command(work, 4)).stderr, "the service returned \"No\" for a listed control person")
          strictEqual((yield* status).state, "paused")
          state.losesAAfter = Infinity
          yield* command(["resume", "--run", "1"], 0)
          const end = yield* Processes.run(work, variables)
          const { controls: rounds, counts, state: ended } = yield* status
          assertTrue(
            ended === "complete" && (end.exitCode === 12 || end.exitCode === 2),
            `${end.exitCode} ${end.stdout}`
          )
          assertTrue(counts.control_failed > 0)
          strictEqual(counts.no_match + counts.unknown + counts.control_failed, count)
          deepStrictEqual(names.filter((name) => (posts.get(name) ?? 0) > 1), [])
          const billed = postsOf(controls)
          // A request was counted, and the worker died before it left: once for each of the three.
          assertTrue(
            billed <= rounds.requests && rounds.requests <= billed + 3 * controls.length,
            `${billed} requests for controls, ${rounds.requests} counted`
          )
          yield* Console.log(
            `${kind}: ${
              postsOf(names)
            } requests for ${count} people (${counts.unknown} unknown, ${counts.control_failed} ` +
              `control_failed), ${billed} for controls, ${rounds.requests} counted, ${rounds.rounds} good rounds`
          )
        }),
      300_000
    )
  })
})
