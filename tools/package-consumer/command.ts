/** Programs that are run to their end: three at once, for two cores and the network. */
import { Command } from "@effect/platform"
import { Data, Effect, Stream } from "effect"

/** What ended otherwise than it should, and the end of what it printed. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly command: string
  readonly ending: string
  readonly output: string
}> {
  override get message() {
    return `${this.command}: ${this.ending}\n${this.output.trim().split("\n").slice(-30).join("\n")}`
  }
}

/** A stranger has none of the variables by which a workspace finds its modules. */
const stranger = { NODE_OPTIONS: undefined, NODE_PATH: undefined, npm_config_loglevel: "error" }

export const make = (folder: string, program: string, args: ReadonlyArray<string>) =>
  Command.make(program, ...args).pipe(Command.workingDirectory(folder), Command.env(stranger))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const turns = Effect.unsafeMakeSemaphore(3)

const patience = "4 minutes"

/** What it prints on its standard output. */
export const run = (folder: string, program: string, ...args: ReadonlyArray<string>) => {
  const command = [program, ...args].join(" ").slice(0, 200)
  const failed = (ending: string, output = "") => new CommandFailed({ command, ending, output })
  return Command.start(make(folder, program, args)).pipe(
    Effect.flatMap(({ exitCode, stderr, stdout }) =>
      Effect.all({ exitCode, stderr: text(stderr), stdout: text(stdout) }, { concurrency: "unbounded" })
    ),
    Effect.scoped,
    Effect.mapError((error) => failed(error.message)),
    Effect.timeoutFail({ duration: patience, onTimeout: () => failed(`not ended after ${patience}`) }),
    Effect.filterOrFail(
      ({ exitCode }) => Number(exitCode) === 0,
      ({ exitCode, stderr, stdout }) => failed(`ended with ${exitCode}`, `${stdout}\n${stderr}`)
    ),
    Effect.map(({ stdout }) => stdout),
    turns.withPermits(1)
  )
}
