/** The processes of database servers. */
import { Effect } from "effect"
import { type ChildProcess, spawn, type SpawnOptions } from "node:child_process"
import { freePort } from "./freePort.ts"

const output = (child: ChildProcess, onText: (all: string) => void) => {
  let all = ""
  const add = (chunk: Buffer) => onText(all += chunk.toString())
  child.stdout?.on("data", add)
  child.stderr?.on("data", add)
  return () => all
}

/** Succeeds when the program prints `line`, or, without `line`, when it ends with 0. Fails with what it printed. */
export const run = (program: string, args: ReadonlyArray<string>, line?: string, options: SpawnOptions = {}) =>
  Effect.async<ChildProcess, string>((resume) => {
    const child = spawn(program, args, options)
    const all = output(child, (text) => {
      if (line !== undefined && text.includes(line)) resume(Effect.succeed(child))
    })
    const fail = (message: string) => resume(Effect.fail(`${program}: ${message}`))
    child.on("error", (error) => fail(error.message))
    child.on("exit", (code) => line === undefined && code === 0 ? resume(Effect.succeed(child)) : fail(all()))
  })

/** Starts a server at a free port. Another program may take the port before the server does, so it looks for one again. */
export const atFreePort = <E>(startAt: (port: number) => Effect.Effect<ChildProcess, E>) =>
  Effect.retry(Effect.flatMap(freePort, (port) => Effect.map(startAt(port), (child) => ({ child, port }))), {
    times: 3
  })

/** Ends the process without its own shutdown: its data directory is deleted anyway. */
export const stop = (signal: "SIGQUIT" | "SIGKILL") => (child: ChildProcess) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.on("exit", () => resume(Effect.void))
    child.kill(signal)
  })
