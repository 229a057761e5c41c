/** Runs programs until they end, at most three at once: they share two cores and the network. */
import { Command } from "@effect/platform"
import { Data, Effect, Stream } from "effect"

/** A program failed. The message has the last lines of its output. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly command: string
  readonly ending: string
  readonly output: string
}> {
  override get message() {
    return `${this.command}: ${this.ending}\n${this.output.trim().split("\n").slice(-30).join("\n")}`
  }
}

/** Outside the workspace, the variables by which it finds its modules are not set. */
const environment = { NODE_OPTIONS: undefined, NODE_PATH: undefined, npm_config_loglevel: "error" }

export const make = (folder: string, program: string, args: ReadonlyArray<string>) =>
  Command.make(program, ...args).pipe(Command.workingDirectory(folder), Command.env(environment))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const concurrency = Effect.unsafeMakeSemaphore(3)

const timeout = "4 minutes"

/** Runs a program and returns its standard output. */
export const run = (folder: string, program: string, ...args: ReadonlyArray<string>) => {
  const command = [program, ...args].join(" ").slice(0, 200)
  const failed = (ending: string, output = "") => new CommandFailed({ command, ending, output })
  return Command.start(make(folder, program, args)).pipe(
    Effect.flatMap(({ exitCode, stderr, stdout }) =>
      Effect.all({ exitCode, stderr: text(stderr), stdout: text(stdout) }, { concurrency: "unbounded" })
    ),
    Effect.scoped,
    Effect.mapError((error) => failed(error.message)),
    Effect.timeoutFail({ duration: timeout, onTimeout: () => failed(`not ended after ${timeout}`) }),
    Effect.filterOrFail(
      ({ exitCode }) => Number(exitCode) === 0,
      ({ exitCode, stderr, stdout }) => failed(`ended with ${exitCode}`, `${stdout}\n${stderr}`)
    ),
    Effect.map(({ stdout }) => stdout),
    concurrency.withPermits(1)
  )
}
