/** A server as a process of its own, and what it takes of the machine. */
import { Command, FileSystem } from "@effect/platform"
import { Chunk, Effect, Option, Schedule, Stream } from "effect"
import { createServer } from "node:net"
import { request } from "undici"

export interface Server {
  readonly url: string
  readonly pid: number
}

const firstLine = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.take(1),
    Stream.runCollect,
    Effect.flatMap(Chunk.head),
    Effect.orDieWith(() => "the program ended without a word")
  )

/** Until the scope is closed. What it prints first is given too. */
export const announced = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const running = yield* Command.make(program, ...args).pipe(Command.stderr("inherit"), Command.start)
    return { pid: Number(running.pid), line: yield* firstLine(running.stdout) }
  })

const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** One that says in its own words that it listens: it does when it answers anything. */
export const answering = (command: (port: number) => readonly [program: string, ...args: Array<string>]) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const url = `http://127.0.0.1:${port}`
    const running = yield* Command.start(Command.make(...command(port)))
    // What it prints has to go somewhere, or it waits.
    yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(running.stdout)))
    yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(running.stderr)))
    yield* Effect.tryPromise(() => request(`${url}/nothing`).then(({ body }) => body.dump())).pipe(
      Effect.retry(Schedule.spaced("100 millis")),
      Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => `${command(port).join(" ")} does not answer` }),
      Effect.orDie
    )
    return { pid: Number(running.pid), url }
  })

/** Linux tells them of any process; elsewhere they are not known. */
const read = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.option(fs.readFileString(path)))

/** Of all its threads, so far, in microseconds. */
export const cpu = ({ pid }: Pick<Server, "pid">) =>
  Effect.map(
    read(`/proc/${pid}/stat`),
    Option.match({
      onNone: () => NaN,
      onSome: (text) => {
        // The name of the program before them may hold anything. They count hundredths of a second.
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
        return (Number(fields[11]) + Number(fields[12])) * 10_000
      }
    })
  )

/** Its resident memory, in MiB. */
export const memory = ({ pid }: Pick<Server, "pid">) =>
  Effect.map(
    read(`/proc/${pid}/status`),
    Option.match({ onNone: () => NaN, onSome: (text) => Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) / 1024 })
  )
