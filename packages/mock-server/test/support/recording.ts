/** `idv-mock record`, started in this process. */
import { FileSystem } from "@effect/platform"
import { Effect, Fiber } from "effect"
import { PassThrough } from "node:stream"
import { eventually } from "../../../core/test/support/eventually.ts"
import { main } from "../../src/internal/command/main.ts"

export const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Starts `idv-mock record`. `stop` ends it as Ctrl-C does, and returns what it wrote and printed. */
export const start = (upstream: string, ...words: ReadonlyArray<string>) => startOn({}, upstream, ...words)

export const startOn = (stdout: { readonly isTTY?: boolean }, upstream: string, ...words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* folder
    const files = { output: `${path}/observed.yaml`, har: `${path}/seen.har` }
    const lines: Array<string> = []
    const run = main(
      ["record", "--upstream-auth", upstream, "--port", "0", "--output", files.output, "--har", files.har, ...words],
      { stdout: Object.assign(new PassThrough(), stdout), version: "1.2.3" }
    )
    const log = (text: unknown) => Effect.sync(() => void lines.push(String(text)))
    const fiber = yield* Effect.forkScoped(
      Effect.consoleWith((console) => Effect.withConsole(run, { ...console, log, error: log }))
    )
    const started = eventually(
      "a line that tells that the proxy listens",
      () => lines.find((line) => /^{|^The proxy/.test(line)),
      (line) => line !== undefined
    )
    const line = yield* Effect.raceFirst(started, Effect.as(Fiber.join(fiber), undefined))
    const read = (file: string) => Effect.orElseSucceed(fs.readFileString(file), () => "")
    const [url = ""] = /http:[/][/][\d.:]+\d/.exec(line ?? "") ?? []
    return {
      url,
      ...files,
      stop: Effect.zipRight(
        Fiber.interrupt(fiber),
        Effect.all({ profile: read(files.output), har: read(files.har), lines: Effect.sync(() => lines) })
      )
    }
  })
