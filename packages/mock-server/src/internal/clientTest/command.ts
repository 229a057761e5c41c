/** A client that is a command: one process for each person. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { spawn } from "node:child_process"
import type * as Day from "./day.ts"
import { NotDriven } from "./firstRun.ts"
import * as Placeholders from "./placeholders.ts"
import type { Door } from "./run.ts"

/** How much of each output is read. */
const maxBytes = 256 * 1024

/** How long the output may stay open after the end of the process. */
const drainMillis = 300

interface Ended {
  readonly code: number | undefined
  readonly output: string
  readonly log: string
  readonly ended: boolean
}

/** Runs a program without a shell, and ends it with all its children after `patience`. */
const runProcess = (
  [program = "", ...words]: ReadonlyArray<string>,
  variables: Readonly<Record<string, string>>,
  patience: Duration.Duration
): Effect.Effect<Ended, NotDriven> =>
  Effect.async((resume) => {
    // A group of its own, so that its children end too.
    const child = spawn(program, words, {
      // eslint-disable-next-line no-restricted-syntax -- A command receives the whole environment, as from a shell.
      env: { ...process.env, ...variables },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true
    })
    let isLate = false
    // The group may have ended.
    const kill = () => Either.try(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"))
    const collect = (stream: NodeJS.ReadableStream) => {
      const chunks: Array<Buffer> = []
      let length = 0
      stream.on("data", (chunk: Buffer) => {
        length += chunk.length
        if (length <= maxBytes) chunks.push(chunk)
      })
      return () => Buffer.concat(chunks).toString()
    }
    const output = collect(child.stdout)
    const log = collect(child.stderr)
    const timer = setTimeout(() => {
      isLate = true
      kill()
    }, Duration.toMillis(patience))
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      resume(
        new NotDriven({
          text: `The command does not start: its first word is not a program (${error.code ?? "unknown error"})`,
          explanation: ""
        })
      )
    })
    child.on("exit", () => {
      clearTimeout(timer)
      // A child with a session of its own may keep the output open, and is not in the group.
      setTimeout(() => {
        kill()
        child.stdout.destroy()
        child.stderr.destroy()
      }, drainMillis)
    })
    child.on("close", (code, signal) =>
      resume(Effect.succeed({
        code: code ?? (signal === null ? undefined : 128),
        output: output(),
        log: log(),
        ended: !isLate
      })))
    return Effect.sync(() => {
      clearTimeout(timer)
      kill()
    })
  })

export interface Options {
  /** The words of the command, with placeholders. */
  readonly words: ReadonlyArray<string>
  /** Variables of the environment, with placeholders. */
  readonly variables: Readonly<Record<string, string>>
  readonly port: number
  readonly outcomeOf: (text: string, code: number | undefined) => Day.Outcome
}

/**
 * The variables that `Idv.layerEnv` reads, those that keep a proxy away from the mock server, and a locale in which a
 * program can read every name.
 */
export const defaultVariables = {
  IDV_AUTH_URL: "{auth_url}",
  IDV_BASE_URL: "{base_url}",
  IDV_CUSTOMER_ID: "{customer_id}",
  IDV_CUSTOMER_KEY: "{customer_key}",
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
  LC_ALL: "C.UTF-8"
}

export const door = ({ outcomeOf, port, variables, words }: Options): Door => ({
  isProcess: true,
  isEndpoint: false,
  isOperated: false,
  port,
  open: (service) => (person, { patience, variables: ofStep }) => {
    const fill = Placeholders.fill(service, person)
    const all = Object.entries({ ...defaultVariables, ...variables }).map(([name, value]) => [name, fill(value)])
    return Effect.map(
      runProcess(words.map(fill), { ...Object.fromEntries(all), ...ofStep }, patience),
      ({ code, ended, log, output }) => ({
        outcome: ended ? outcomeOf(output, code) : "error",
        texts: [{ where: "output", text: output }, { where: "log", text: log }],
        ended,
        ...(code !== undefined && { code })
      })
    )
  }
})
