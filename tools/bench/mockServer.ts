/** 6. How soon the mock server is ready, and what a request costs it, beside other mock servers. */
import type { FileSystem } from "@effect/platform"
import { Effect, Either, Record } from "effect"
import {
  built,
  command,
  type Contender,
  contenders,
  type Name,
  NotRun,
  type Operation
} from "./contenders/mockServers.ts"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Server from "./support/Server.ts"

/** How long a round of one is, in seconds, whatever its speed: then it counts as much as the others. */
const roundSeconds = 0.3
const warmUpSeconds = 0.5
const concurrency = 16
const rounds = 3
const starts = 3

interface Load {
  readonly name: Name
  readonly operation: Operation
  readonly round: Effect.Effect<{ readonly rate: number; readonly cpu: number }, unknown, FileSystem.FileSystem>
}

const loadOf = (name: Name, server: Server.Server) => (operation: Operation) =>
  Effect.gen(function*() {
    const run = yield* Program.subject("contenders/load.ts", operation, server.url)
    const lasting = (wanted: number, { calls, seconds }: { readonly calls: number; readonly seconds: number }) =>
      Math.ceil(wanted * calls / seconds)
    const cold = yield* run(100, concurrency)
    const warm = yield* run(lasting(warmUpSeconds, cold), concurrency)
    const some = lasting(roundSeconds, warm)
    const round = Effect.gen(function*() {
      const before = yield* Server.cpu(server)
      const { calls, seconds } = yield* run(some, concurrency)
      return { rate: calls / seconds, cpu: ((yield* Server.cpu(server)) - before) / calls }
    })
    return { name, operation, round } satisfies Load
  })

/** Its loads, or why there are none. */
const begun = (name: Name) => {
  const { operations, start }: Contender = contenders[name]
  return Effect.gen(function*() {
    const server = yield* start
    return { server, loads: yield* Effect.forEach(operations, loadOf(name, server)) }
  }).pipe(Effect.mapError((error) => error instanceof NotRun ? error.why : `it fails: ${String(error)}`), Effect.either)
}

const perSecond = (values: ReadonlyArray<number>) => Report.range(Report.spread([...values]))

/** In fresh processes, and in turns. */
const readiness = Effect.gen(function*() {
  const program = yield* Program.compiled("contenders/ready.ts")
  const inProcess = (layer: string) =>
    Effect.map(
      Effect.scoped(Server.announced(process.execPath, program, layer)),
      ({ line }) => Number(line)
    )
  const byCommand = (...args: ReadonlyArray<string>) =>
    Effect.scoped(Effect.gen(function*() {
      const started = performance.now()
      yield* Server.announced(process.execPath, ...args)
      return performance.now() - started
    }))
  return yield* Rounds.run(starts, {
    socket: inProcess("socket"),
    inProcess: inProcess("inProcess"),
    empty: inProcess("empty"),
    command: byCommand(command, "serve", "--port", "0"),
    node: byCommand("-e", "console.log(1)")
  })
})

export const mockServer = Effect.gen(function*() {
  yield* built
  const ready = yield* readiness
  const begins = yield* Effect.forEach(
    Record.keys(contenders),
    (name) => Effect.map(begun(name), (begun) => ({ name, begun }))
  )
  const loads = begins.flatMap(({ begun }) => Either.isRight(begun) ? begun.right.loads : [])
  const keyOf = ({ name, operation }: Pick<Load, "name" | "operation">) => `${name} ${operation}`
  const measured = yield* Rounds.run(rounds, Object.fromEntries(loads.map((load) => [keyOf(load), load.round])))
  const cells = yield* Effect.forEach(begins, ({ begun, name }) => {
    const { title }: Contender = contenders[name]
    if (Either.isLeft(begun)) return Effect.succeed([title, `not run: ${begun.left}`, "", "", "", ""])
    const of = (operation: Operation, what: "rate" | "cpu") => {
      const results = measured[keyOf({ name, operation })]
      return results === undefined ? "–" : perSecond(results.map((result) => result[what]))
    }
    return Effect.map(Server.memory(begun.right.server), (memory) => [
      title,
      of("token", "rate"),
      of("token", "cpu"),
      of("aml", "rate"),
      of("aml", "cpu"),
      Report.number(memory)
    ])
  })

  const spread = (name: keyof typeof ready) => Report.spread([...ready[name]])
  const millis = (name: keyof typeof ready) => Report.range(spread(name))
  const times = (name: keyof typeof ready, other: keyof typeof ready) =>
    Report.number(Report.ratio(ready[name], ready[other]).median)
  const inProcessReason =
    "By its profile most is the fiber runtime and the layers of Effect in their first run, not compiled yet, and their " +
    `garbage: on a socket ${times("socket", "empty")}, and without one ${times("inProcess", "empty")} times what the ` +
    "platform's own server takes with nothing behind it"
  const commandReason = `It is ${times("command", "node")} times what Node alone takes to print a line here. By its ` +
    "profile half is to compile and evaluate modules, a fifth to run Effect for the first time, and the rest Node itself"
  const report: Report.Report = {
    columns: ["mock server", "tokens/s", "CPU µs a token", "checks/s", "CPU µs a check", "resident MiB"],
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
        what: "ready in process, without one (MockServer.layerHttpClient)",
        measured: spread("inProcess"),
        is: "at most",
        limit: 20,
        unit: " ms",
        reason: inProcessReason
      },
      {
        what: "ready by its command, from the start of the process",
        measured: spread("command"),
        is: "at most",
        limit: 400,
        unit: " ms",
        reason: commandReason
      }
    ],
    notes: [
      `Each in fresh processes, ${starts} times and in turns. Beside them: ${
        millis("node")
      } ms until Node alone prints a ` +
      `line, and ${millis("empty")} ms until the platform's HttpServer, with nothing behind it, is ready.`,
      `${rounds} rounds of about ${roundSeconds} s, ${concurrency} requests at a time, in turns; the load comes from ` +
      "Undici in another process, on the same machine: what a server takes is rather seen in its CPU.",
      "CPU and memory are those of the server's process, the memory after all rounds; only Linux tells them.",
      "idv-mock checks credentials, token and person, and keeps a journal; oauth2-mock-server signs a JWT with RSA; " +
      "the stubs of WireMock and node:http look at nothing."
    ]
  }
  return report
})
