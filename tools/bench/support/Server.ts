/** Starts servers as processes, and reads their CPU time and memory. */
import { Command, FileSystem } from "@effect/platform"
import { Chunk, Effect, Option, Schedule, Stream } from "effect"
import { request } from "undici"
import { freePort } from "../../test-services/freePort.ts"

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
    Effect.orDieWith(() => "the program ended without output")
  )

/** Starts a program until the scope closes, and returns its process id and the first line that it prints. */
export const startAndReadLine = (program: string, ...args: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const child = yield* Command.make(program, ...args).pipe(Command.stderr("inherit"), Command.start)
    return { pid: Number(child.pid), line: yield* firstLine(child.stdout) }
  })

/** Starts a server on a free port until the scope closes, and waits until it responds to a request. */
export const startOnPort = (command: (port: number) => readonly [program: string, ...args: Array<string>]) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const url = `http://127.0.0.1:${port}`
    const child = yield* Command.start(Command.make(...command(port)))
    // A full pipe would block the server.
    yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(child.stdout)))
    yield* Effect.forkScoped(Effect.ignore(Stream.runDrain(child.stderr)))
    yield* Effect.tryPromise(() => request(`${url}/nothing`).then(({ body }) => body.dump())).pipe(
      Effect.retry(Schedule.spaced("100 millis")),
      Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => `${command(port).join(" ")} does not respond` }),
      Effect.orDie
    )
    return { pid: Number(child.pid), url }
  })

/** Reads a file, if it exists. Only Linux has `/proc`. */
const read = (path: string) => Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.option(fs.readFileString(path)))

/** The CPU time of all threads of the server so far, in microseconds, or NaN if it is not available. */
export const cpu = ({ pid }: Pick<Server, "pid">) =>
  Effect.map(
    read(`/proc/${pid}/stat`),
    Option.match({
      onNone: () => NaN,
      onSome: (text) => {
        // The fields start after the program name, which may contain any character. The unit is 10 ms.
        const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
        return (Number(fields[11]) + Number(fields[12])) * 10_000
      }
    })
  )

/** The resident memory of the server in MiB, or NaN if it is not available. */
export const memory = ({ pid }: Pick<Server, "pid">) =>
  Effect.map(
    read(`/proc/${pid}/status`),
    Option.match({ onNone: () => NaN, onSome: (text) => Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1]) / 1024 })
  )
