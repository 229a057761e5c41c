/** The mock servers, each as a process of its own that plays `/oauth/service` and `/api/aml`. */
import { Command, type CommandExecutor } from "@effect/platform"
import { Data, Effect, Option, type Scope } from "effect"
import { readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Program from "../support/Program.ts"
import * as Server from "../support/Server.ts"

const fileOf = (path: string) => fileURLToPath(new URL(`../../../packages/mock-server/${path}`, import.meta.url))

/** The command as it is built for the package. */
export const command = fileOf("bundle/idv-mock.js")

export class NotRun extends Data.TaggedError("NotRun")<{ readonly why: string }> {}

const succeeds = (...words: readonly [string, ...Array<string>]) =>
  Command.exitCode(Command.stderr(Command.make(...words), "pipe")).pipe(
    Effect.map((code) => code === 0),
    Effect.orElseSucceed(() => false)
  )

export const built = Effect.filterOrDieMessage(
  succeeds(process.execPath, fileOf("bundle.mjs")),
  (isBuilt) => isBuilt,
  "the command of the mock server cannot be built"
)

/** Too heavy to be installed with this repository: npx fetches them into its cache, the first time. */
const fetched = (specifier: string, bin: string) =>
  Command.make("npx", "-y", "-p", specifier, "-c", `command -v ${bin}`).pipe(
    Command.stderr("pipe"),
    Command.lines,
    Effect.timeout("90 seconds"),
    Effect.flatMap((lines) => Option.fromNullable(lines.find((line) => line.startsWith("/")))),
    Effect.mapError(() => new NotRun({ why: `npx could not fetch ${specifier}` }))
  )

const contract = fileOf("contract/openapi.yaml")

const json = { "Content-Type": "application/json" }

const stubbed = (url: string, path: string, jsonBody: object) =>
  Effect.tryPromise(() =>
    fetch(`${url}/__admin/mappings`, {
      method: "POST",
      body: JSON.stringify({
        request: { method: "POST", urlPath: path },
        response: { status: 200, headers: json, jsonBody }
      })
    })
  )

const wireMock = Effect.gen(function*() {
  if (!(yield* succeeds("java", "-version"))) return yield* new NotRun({ why: "no java" })
  const folder = join(dirname(yield* fetched("wiremock@3.13.2", "wiremock")), "../wiremock/build")
  const jar = join(folder, readdirSync(folder).find((file) => file.endsWith(".jar")) ?? "")
  const server = yield* Server.answering((port) => [
    "java",
    ...["-jar", jar, "--port", String(port), "--bind-address", "127.0.0.1", "--disable-banner"],
    // As many as the journal of this project keeps.
    ...["--max-request-journal-entries", "1000"]
  ])
  yield* stubbed(server.url, "/oauth/service", { access_token: "token", token_type: "Bearer", expires_in: 3600 })
  yield* stubbed(server.url, "/api/aml", { credentials: { attributes: { match_found: "No" } } })
  return server
})

export type Operation = "token" | "aml"

export interface Contender {
  readonly title: string
  readonly operations: ReadonlyArray<Operation>
  readonly start: Effect.Effect<Server.Server, unknown, Scope.Scope | CommandExecutor.CommandExecutor>
}

const both = ["token", "aml"] as const

const program = (name: string) =>
  Effect.flatMap(Program.compiled(name), (program) => Server.announced(process.execPath, program)).pipe(
    Effect.map(({ line, pid }) => ({ pid, url: line }))
  )

export const contenders = {
  own: {
    title: "idv-mock serve",
    operations: both,
    start: Effect.map(
      Server.announced(process.execPath, command, "serve", "--port", "0"),
      ({ line, pid }) => ({ pid, url: String(JSON.parse(line).baseUrl) })
    )
  },
  oauth2MockServer: {
    title: "oauth2-mock-server",
    operations: ["token"],
    start: program("contenders/oauth2MockServer.ts")
  },
  prism: {
    title: "Prism, with contract/openapi.yaml",
    operations: both,
    start: Server.answering((port) => {
      const prism = createRequire(import.meta.url).resolve("@stoplight/prism-cli")
      return [process.execPath, prism, "mock", contract, "-p", String(port), "-v", "silent"]
    })
  },
  mockoon: {
    title: "Mockoon CLI, with contract/openapi.yaml",
    operations: both,
    start: Effect.flatMap(fetched("@mockoon/cli@9.9.0", "mockoon-cli"), (mockoon) =>
      Server.answering((port) => [
        process.execPath,
        ...[mockoon, "start", "--data", contract, "--port", String(port), "--hostname", "127.0.0.1"],
        ...["--repair", "--disable-log-to-file", "--disable-admin-api"]
      ]))
  },
  wireMock: { title: "WireMock, with two stubs", operations: both, start: wireMock },
  bare: { title: "node:http alone: the limit", operations: both, start: program("stub.ts") }
} satisfies Record<string, Contender>

export type Name = keyof typeof contenders
