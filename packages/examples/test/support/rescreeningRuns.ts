/** Runs of the example `rescreening` as a process, in a directory of its own, against a mock server of the test. */
import { Fault, MockServer } from "@effect-idv/mock-server"
import { Command, type CommandExecutor, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { parse } from "csv-parse/sync"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { fileURLToPath } from "node:url"
import * as Program from "../../../mock-server/test/support/program.ts"

export const main = new URL("../../src/rescreening/main.ts", import.meta.url)

const bundled = Effect.map(Program.bundled(main), (path) => [path])

/** As `pnpm rescreening` starts it. */
export const withTsx = Effect.succeed(["--import", "tsx/esm", fileURLToPath(main)])

/** Without a variable it takes its own mock server. */
export const noVariables = {
  IDV_AUTH_URL: undefined,
  IDV_BASE_URL: undefined,
  IDV_CUSTOMER_ID: undefined,
  IDV_CUSTOMER_KEY: undefined,
  IDV_ALLOW_INSECURE: undefined
}

export type Variables = { readonly [name: string]: string | undefined }

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

/** What it printed and how it ended; `exitCode` is -1 after a signal that killed it. */
const ended = (process: CommandExecutor.Process) =>
  Effect.all({
    stdout: text(process.stdout),
    stderr: text(process.stderr),
    exitCode: Effect.orElseSucceed(process.exitCode, () => -1)
  }, { concurrency: "unbounded" })

/** A process that runs until the scope closes. */
export const start = (args: ReadonlyArray<string>, variables: Variables, program = bundled) =>
  Effect.gen(function*() {
    const command = Command.env(Command.make("node", ...yield* program, ...args), { ...noVariables, ...variables })
    const process = yield* Command.start(command)
    const end = yield* Effect.forkScoped(ended(process))
    return { process, end }
  })

export const run = (args: ReadonlyArray<string>, variables: Variables, program = bundled) =>
  Effect.scoped(Effect.flatMap(start(args, variables, program), ({ end }) => end)).pipe(
    Effect.provide(NodeContext.layer)
  )

/** What the mock server was asked: names in the order in which they came, and how many tokens. */
export interface Asked {
  readonly names: Array<string>
  tokens: number
}

const Body = Schema.decodeSync(Schema.parseJson(Schema.Struct({ name: Schema.String })))

/** A mock server until the scope closes, the variables for it, and what it is asked. */
export const service = (faults: ReadonlyArray<typeof Fault.Fault.Encoded> = []) =>
  Effect.gen(function*() {
    const asked: Asked = { names: [], tokens: 0 }
    const decoded = yield* Effect.forEach(faults, (fault) => Schema.decode(Fault.Fault)(fault))
    const context = yield* Layer.build(MockServer.layer({
      port: 0,
      reveal: true,
      faults: decoded,
      onExchange: ({ operation, request }) =>
        Effect.sync(() => {
          if (operation === "token") asked.tokens++
          if (operation === "aml") asked.names.push(Body(request.body).name)
        })
    }))
    const { url } = Context.get(context, MockServer.MockServer)
    const variables = {
      IDV_AUTH_URL: url,
      IDV_BASE_URL: url,
      IDV_CUSTOMER_ID: "demo-customer",
      IDV_CUSTOMER_KEY: "demo-key"
    }
    return { asked, variables, context }
  })

/** A directory with `people.csv` in it, and what is written beside it. */
export const directory = (csv: string | Uint8Array) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempDirectoryScoped({ prefix: "rescreening-" })
    const input = `${path}/people.csv`
    yield* files.writeFile(input, typeof csv === "string" ? new TextEncoder().encode(csv) : csv)
    const read = (name: string) => files.readFileString(`${path}/${name}`)
    const recordPath = `${path}/people-report.record.jsonl`
    return {
      path,
      input,
      files,
      recordPath,
      lock: `${path}/people-report.lock`,
      csv: Effect.map(read("people-report.csv"), (text) => parse<Record<string, string>>(text, { columns: true })),
      csvText: read("people-report.csv"),
      jsonl: read("people-report.jsonl"),
      record: files.readFileString(recordPath),
      listing: Effect.map(files.readDirectory(path), (names) => names.toSorted())
    }
  })

export const header = "id,name,date_of_birth"

/** The number before some words of the reconciliation. */
export const counted = (stdout: string, words: string): number =>
  Number(new RegExp(`^ *(\\d+)  ${words}`, "m").exec(stdout)?.[1] ?? Number.NaN)

const Event = Schema.decodeSync(Schema.parseJson(Schema.Struct({
  event: Schema.String,
  line: Schema.optional(Schema.Number),
  id: Schema.optional(Schema.String)
})))

/** The ids that were begun and have no outcome after it, by the whole lines of a record. */
export const underWay = (record: string): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (const line of record.split("\n").slice(0, -1)) {
    const { event, id = "" } = Event(line)
    if (event === "started") ids.add(id)
    else ids.delete(id)
  }
  return ids
}
