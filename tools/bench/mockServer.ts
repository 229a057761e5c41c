/** Measures the start-up and the requests of the mock server, and compares it with other mock servers. */
import { Effect, Either, Record, Stream } from "effect"
import { request } from "undici"
import {
  bothOperations,
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

const concurrency = 16
const startsPerServer = 3

/** The first second after the start, while the code is still being compiled. */
const coldSeconds = 1
const coldStarts = 2
/** Before the steady state, a server handles this many requests, or as many as it can in this time. */
const warmUp = { requests: 5000, seconds: 2 }
/** Seconds of a round in the steady state, the same for fast and slow servers. */
const roundSeconds = 0.5
const rounds = 3

const both = ["cold", "steady"] as const

type Phase = typeof both[number]

/** `cpu` is in microseconds per request. */
interface Result {
  readonly rate: number
  readonly cpu: number
}

const startLoad = (server: Server.Server, operation: Operation) =>
  Effect.map(
    Program.startWorkload("workloads/load.ts", operation, server.url),
    (run) => (calls: number) => run(calls, concurrency)
  )

type Load = Effect.Effect.Success<ReturnType<typeof startLoad>>

/** Sends requests until either limit is reached. */
const sendUntil = (run: Load, requests: number, seconds: number) =>
  Effect.iterate({ calls: 0, seconds: 0 }, {
    while: (sent) => sent.calls < requests && sent.seconds < seconds,
    body: (sent) =>
      Effect.map(run(Math.min(50, requests)), (batch) => ({
        calls: sent.calls + batch.calls,
        seconds: sent.seconds + batch.seconds
      }))
  })

const measure = <E, R>(
  server: Server.Server,
  send: Effect.Effect<{ readonly calls: number; readonly seconds: number }, E, R>
) =>
  Effect.gen(function*() {
    const before = yield* Server.cpu(server)
    const { calls, seconds } = yield* send
    return { rate: calls / seconds, cpu: ((yield* Server.cpu(server)) - before) / calls } satisfies Result
  })

const explain = (error: unknown) => error instanceof Unavailable ? error.reason : `failed: ${String(error)}`

/** Starts a new process and measures its first second. */
const cold = (name: Name, operation: Operation) =>
  Effect.scoped(Effect.gen(function*() {
    const { start }: MockServer = mockServers[name]
    const server = yield* start
    return yield* measure(server, sendUntil(yield* startLoad(server, operation), Infinity, coldSeconds))
  }))

/** Warms a server up, and returns its measurement of one round. */
const steady = (server: Server.Server, operation: Operation) =>
  Effect.gen(function*() {
    const run = yield* startLoad(server, operation)
    const { calls, seconds } = yield* sendUntil(run, warmUp.requests, warmUp.seconds)
    return measure(server, run(Math.ceil(roundSeconds * calls / seconds)))
  })

const keyOf = (name: Name, operation: Operation, phase: Phase) => `${name} ${operation} ${phase}`

/** Starts a server and its loads, or returns why it cannot. */
const start = (name: Name) => {
  const { operations, start }: MockServer = mockServers[name]
  return Effect.gen(function*() {
    const server = yield* start
    const steadyRounds = yield* Effect.forEach(
      operations,
      (operation) =>
        Effect.map(steady(server, operation), (round) => [keyOf(name, operation, "steady"), round] as const)
    )
    return {
      server,
      coldRounds: operations.map((operation) => [keyOf(name, operation, "cold"), cold(name, operation)] as const),
      steadyRounds
    }
  }).pipe(Effect.mapError(explain), Effect.either)
}

const rangeOf = (values: ReadonlyArray<number>) => Report.range(Report.spread([...values]))

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

/** The limit of the goals in each phase. There are no goals relative to the other servers. */
const limits = { cold: 0.8, steady: 1 }

const cpuReason =
  "An earlier CPU profile: a quarter is the system call that sends the response, an eighth garbage collection, and the rest the " +
  "steps of the handling, none above 7 %"

const compare = Effect.fnUntraced(function*(names: ReadonlyArray<Name>) {
  yield* buildCommand
  const ready = yield* readiness
  const starts = yield* Effect.forEach(
    names,
    (name) => Effect.map(start(name), (started) => ({ name, started }))
  )
  const started = starts.flatMap(({ started }) => Either.isRight(started) ? [started.right] : [])
  const measured = {
    ...(yield* Rounds.run(rounds, Object.fromEntries(started.flatMap(({ steadyRounds }) => steadyRounds)))),
    ...(yield* Rounds.run(coldStarts, Object.fromEntries(started.flatMap(({ coldRounds }) => coldRounds))))
  }
  const results = (name: Name, operation: Operation, phase: Phase, field: keyof Result) =>
    measured[keyOf(name, operation, phase)]?.map((result) => result[field])
  const cells = yield* Effect.forEach(starts, ({ name, started }) => {
    const { title }: MockServer = mockServers[name]
    if (Either.isLeft(started)) return Effect.succeed([title, `not run: ${started.left}`, "", "", "", ""])
    const cell = (operation: Operation, phase: Phase, field: keyof Result) => {
      const values = results(name, operation, phase, field)
      return values === undefined ? "–" : rangeOf(values)
    }
    return Effect.map(Server.memory(started.right.server), (memory) => [
      title,
      cell("token", "cold", "cpu"),
      cell("token", "steady", "cpu"),
      cell("token", "steady", "rate"),
      cell("aml", "cold", "cpu"),
      cell("aml", "steady", "cpu"),
      cell("aml", "steady", "rate"),
      Report.number(memory)
    ])
  })
  const phases = { cold: "in the first second", steady: "in the steady state" }
  const cpuGoals = both.flatMap((phase) =>
    bothOperations.flatMap((operation): Array<Report.Goal> => {
      const own = results("idvMock", operation, phase, "cpu")
      const prism = results("prism", operation, phase, "cpu")
      return own === undefined || prism === undefined ? [] : [{
        what: `CPU per ${operation === "token" ? "token" : "check"} ${phases[phase]}, relative to Prism`,
        measured: Report.ratio(own, prism),
        is: "at most",
        limit: limits[phase],
        unit: "×",
        reason: cpuReason
      }]
    })
  )

  const spread = (name: keyof typeof ready) => Report.spread([...ready[name]])
  const millis = (name: keyof typeof ready) => Report.range(spread(name))
  const times = (name: keyof typeof ready, other: keyof typeof ready) =>
    Report.number(Report.ratio(ready[name], ready[other]).median)
  const inProcessReason =
    "An earlier CPU profile: mostly the first, uncompiled run of Effect's fiber runtime and layers, and garbage collection. With a " +
    `socket it takes ${times("socket", "empty")} times, and without one ${
      times("inProcess", "empty")
    } times, as long ` +
    "as an empty HttpServer of the platform"
  const commandReason =
    "An earlier CPU profile: 30 % loads and compiles modules, 25 % evaluates them, mostly schemas, 20 % is the first run of Effect, " +
    "and 17 % is garbage collection"
  const report: Report.Report = {
    columns: [
      "mock server",
      "CPU µs per token, first second",
      "steady",
      "tokens/s",
      "CPU µs per check, first second",
      "steady",
      "checks/s",
      "resident MiB"
    ],
    cells,
    goals: [
      ...cpuGoals,
      {
        what: "ready in process, on a socket (MockServer.layerTest)",
        measured: spread("socket"),
        is: "at most",
        limit: 15,
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
        what: "command ready, from the start of the process, relative to Node alone",
        measured: Report.ratio(ready.command, ready.node),
        is: "at most",
        limit: 2.5,
        unit: "×",
        reason: commandReason
      }
    ],
    notes: [
      `Start-up: ${startsPerServer} interleaved runs, each in a new process. For comparison, Node alone prints a line ` +
      `after ${millis("node")} ms, the command after ${
        millis("command")
      } ms, and an empty HttpServer of the platform is ready after ${millis("empty")} ms.`,
      `First second: ${coldStarts} new processes, ${coldSeconds} s each. Steady state: ${rounds} interleaved rounds of about ` +
      `${roundSeconds} s, after ${warmUp.requests} requests or ${warmUp.seconds} s. ${concurrency} concurrent requests. The load ` +
      "comes from Undici in another process on the same machine, so CPU times are more reliable than rates.",
      "CPU and memory are those of the server process, the memory after all rounds. They are available only on Linux.",
      "idv-mock validates credentials, token and person, and keeps a journal. oauth2-mock-server signs a JWT with RSA. " +
      "The stubs of WireMock and node:http validate nothing."
    ]
  }
  return report
})

/** With Prism only, which takes a minute. */
export const mockServer = compare(["idvMock", "prism"])

export const mockServerPeers = compare(Record.keys(mockServers))

/** Whether the memory of the server grows: only by name, because it takes a minute. */
export const mockServerMemory = Effect.gen(function*() {
  yield* buildCommand
  const server = yield* mockServers.idvMock.start
  // Each load starts anew, because the server forgets the oldest of many tokens, such as that of an earlier load.
  const memoryAfter = (calls: number) =>
    Effect.forEach(
      bothOperations,
      (operation) =>
        Effect.scoped(Effect.flatMap(startLoad(server, operation), (run) => run(calls / bothOperations.length)))
    ).pipe(
      Effect.zipRight(Server.memory(server))
    )
  const early = yield* memoryAfter(40_000)
  const late = yield* memoryAfter(160_000)
  const report: Report.Report = {
    columns: ["requests", "resident MiB"],
    cells: [["40,000", Report.number(early)], ["200,000", Report.number(late)]],
    goals: [{
      what: "memory after 200,000 requests, relative to after 40,000",
      measured: Report.ratio([late], [early]),
      is: "at most",
      limit: 1.1,
      unit: "×"
    }],
    notes: [`Half of the requests are tokens, half are checks. ${concurrency} concurrent requests.`]
  }
  return report
})

/** Reads the live updates of a page until the scope closes. */
const openPage = ({ url }: Server.Server) =>
  Effect.tryPromise(() => request(`${url}/_mock/ui/demo-customer/events`)).pipe(
    Effect.flatMap(({ body }) => Stream.runDrain(Stream.fromAsyncIterable(body, () => "the page ended"))),
    Effect.forkScoped
  )

/** What two open pages cost for each request, and whether memory grows: only by name, because it takes minutes. */
export const mockServerPages = Effect.gen(function*() {
  yield* buildCommand
  const server = yield* mockServers.idvMock.start
  const checks = (calls: number) => Effect.flatMap(startLoad(server, "aml"), (run) => measure(server, run(calls)))
  const withPages = Effect.zipRight(Effect.all([openPage(server), openPage(server)]), checks(10_000))
  yield* Effect.scoped(checks(5000))
  const memories: Array<number> = []
  const measured = yield* Rounds.run(10, {
    without: Effect.scoped(checks(10_000)),
    with: Effect.tap(
      Effect.scoped(withPages),
      () => Effect.map(Server.memory(server), (memory) => void memories.push(memory))
    )
  })
  const cpuOf = (name: keyof typeof measured) => measured[name].map(({ cpu }) => cpu)
  const report: Report.Report = {
    columns: ["open pages", "CPU µs per check", "resident MiB after 20,000 and 200,000"],
    cells: [
      ["0", rangeOf(cpuOf("without")), ""],
      ["2", rangeOf(cpuOf("with")), `${Report.number(memories[0] ?? NaN)}, ${Report.number(memories.at(-1) ?? NaN)}`]
    ],
    goals: [
      {
        what: "CPU per check with two open pages, relative to none",
        measured: Report.ratio(cpuOf("with"), cpuOf("without")),
        is: "at most",
        limit: 1.2,
        unit: "×"
      },
      {
        what: "memory after 200,000 checks, relative to after 20,000",
        measured: Report.ratio([memories.at(-1) ?? NaN], [memories[0] ?? NaN]),
        is: "at most",
        limit: 1.1,
        unit: "×"
      }
    ],
    notes: [`10 interleaved rounds of 10,000 checks each. ${concurrency} concurrent requests.`]
  }
  return report
})
