/** Measures the start-up and the requests of the mock server, and compares it with other mock servers. */
import type { FileSystem } from "@effect/platform"
import { Effect, Either, Record } from "effect"
import {
  buildCommand,
  command,
  type MockServer,
  mockServers,
  type Name,
  type Operation,
  Unavailable
} from "./servers/mockServers.ts"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Server from "./support/Server.ts"

/** Seconds of a round, the same for fast and slow servers. */
const roundSeconds = 0.3
const warmUpSeconds = 0.5
const concurrency = 16
const rounds = 3
const startsPerServer = 3

interface Load {
  readonly name: Name
  readonly operation: Operation
  readonly round: Effect.Effect<{ readonly rate: number; readonly cpu: number }, unknown, FileSystem.FileSystem>
}

const loadOf = (name: Name, server: Server.Server) => (operation: Operation) =>
  Effect.gen(function*() {
    const run = yield* Program.startWorkload("workloads/load.ts", operation, server.url)
    const callsIn = (duration: number, { calls, seconds }: { readonly calls: number; readonly seconds: number }) =>
      Math.ceil(duration * calls / seconds)
    const cold = yield* run(100, concurrency)
    const warm = yield* run(callsIn(warmUpSeconds, cold), concurrency)
    const callsPerRound = callsIn(roundSeconds, warm)
    const round = Effect.gen(function*() {
      const before = yield* Server.cpu(server)
      const { calls, seconds } = yield* run(callsPerRound, concurrency)
      return { rate: calls / seconds, cpu: ((yield* Server.cpu(server)) - before) / calls }
    })
    return { name, operation, round } satisfies Load
  })

/** Starts a server and its loads, or returns why it cannot. */
const start = (name: Name) => {
  const { operations, start }: MockServer = mockServers[name]
  return Effect.gen(function*() {
    const server = yield* start
    return { server, loads: yield* Effect.forEach(operations, loadOf(name, server)) }
  }).pipe(
    Effect.mapError((error) => error instanceof Unavailable ? error.reason : `failed: ${String(error)}`),
    Effect.either
  )
}

const perSecond = (values: ReadonlyArray<number>) => Report.range(Report.spread([...values]))

/** Milliseconds until each is ready, in new processes, interleaved. */
const readiness = Effect.gen(function*() {
  const program = yield* Program.compile("workloads/readiness.ts")
  const inProcess = (layer: string) =>
    Effect.map(
      Effect.scoped(Server.startAndReadLine(process.execPath, program, layer)),
      ({ line }) => Number(line)
    )
  const byCommand = (...args: ReadonlyArray<string>) =>
    Effect.scoped(Effect.gen(function*() {
      const startedAt = performance.now()
      yield* Server.startAndReadLine(process.execPath, ...args)
      return performance.now() - startedAt
    }))
  return yield* Rounds.run(startsPerServer, {
    socket: inProcess("socket"),
    inProcess: inProcess("inProcess"),
    empty: inProcess("empty"),
    command: byCommand(command, "serve", "--port", "0"),
    node: byCommand("-e", "console.log(1)")
  })
})

export const mockServer = Effect.gen(function*() {
  yield* buildCommand
  const ready = yield* readiness
  const starts = yield* Effect.forEach(
    Record.keys(mockServers),
    (name) => Effect.map(start(name), (started) => ({ name, started }))
  )
  const loads = starts.flatMap(({ started }) => Either.isRight(started) ? started.right.loads : [])
  const keyOf = ({ name, operation }: Pick<Load, "name" | "operation">) => `${name} ${operation}`
  const measured = yield* Rounds.run(rounds, Object.fromEntries(loads.map((load) => [keyOf(load), load.round])))
  const cells = yield* Effect.forEach(starts, ({ name, started }) => {
    const { title }: MockServer = mockServers[name]
    if (Either.isLeft(started)) return Effect.succeed([title, `not run: ${started.left}`, "", "", "", ""])
    const cell = (operation: Operation, field: "rate" | "cpu") => {
      const results = measured[keyOf({ name, operation })]
      return results === undefined ? "–" : perSecond(results.map((result) => result[field]))
    }
    return Effect.map(Server.memory(started.right.server), (memory) => [
      title,
      cell("token", "rate"),
      cell("token", "cpu"),
      cell("aml", "rate"),
      cell("aml", "cpu"),
      Report.number(memory)
    ])
  })

  const spread = (name: keyof typeof ready) => Report.spread([...ready[name]])
  const millis = (name: keyof typeof ready) => Report.range(spread(name))
  const times = (name: keyof typeof ready, other: keyof typeof ready) =>
    Report.number(Report.ratio(ready[name], ready[other]).median)
  const inProcessReason =
    "CPU profile: mostly the first, uncompiled run of Effect's fiber runtime and layers, and garbage collection. With a " +
    `socket it takes ${times("socket", "empty")} times, and without one ${
      times("inProcess", "empty")
    } times, as long ` +
    "as an empty HttpServer of the platform"
  const commandReason =
    `Node alone prints a line ${times("command", "node")} times as fast. CPU profile: half of the ` +
    "time compiles and evaluates modules, a fifth is the first run of Effect, and the rest is Node itself"
  const report: Report.Report = {
    columns: ["mock server", "tokens/s", "CPU µs per token", "checks/s", "CPU µs per check", "resident MiB"],
    cells,
    goals: [
      {
        what: "ready in process, on a socket (MockServer.layerTest)",
        measured: spread("socket"),
        is: "at most",
        limit: 20,
        unit: " ms",
        reason: inProcessReason
      },
      {
        what: "ready in process, without a socket (MockServer.layerHttpClient)",
        measured: spread("inProcess"),
        is: "at most",
        limit: 20,
        unit: " ms",
        reason: inProcessReason
      },
      {
        what: "command ready, from the start of the process",
        measured: spread("command"),
        is: "at most",
        limit: 400,
        unit: " ms",
        reason: commandReason
      }
    ],
    notes: [
      `Start-up: ${startsPerServer} interleaved runs, each in a new process. For comparison, Node alone prints a line ` +
      `after ${millis("node")} ms, and an empty HttpServer of the platform is ready after ${millis("empty")} ms.`,
      `Requests: ${rounds} interleaved rounds of about ${roundSeconds} s, ${concurrency} concurrent requests. The load comes ` +
      "from Undici in another process on the same machine, so CPU times are more reliable than rates.",
      "CPU and memory are those of the server process, the memory after all rounds. They are available only on Linux.",
      "idv-mock validates credentials, token and person, and keeps a journal. oauth2-mock-server signs a JWT with RSA. " +
      "The stubs of WireMock and node:http validate nothing."
    ]
  }
  return report
})
