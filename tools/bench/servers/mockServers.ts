/** The mock servers to compare. Each runs as a process and serves `/oauth/service` and `/api/aml`. */
import { Command, type CommandExecutor } from "@effect/platform"
import { Data, Effect, Option, type Scope } from "effect"
import { readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Program from "../support/Program.ts"
import * as Server from "../support/Server.ts"

const fileOf = (path: string) => fileURLToPath(new URL(`../../../packages/${path}`, import.meta.url))

/** The bundled command that the package publishes. */
export const command = fileOf("mock-server/bundle/idv-mock.js")

/** The mock server cannot run on this machine. */
export class Unavailable extends Data.TaggedError("Unavailable")<{ readonly reason: string }> {}

const succeeds = (...words: readonly [string, ...Array<string>]) =>
  Command.exitCode(Command.stderr(Command.make(...words), "pipe")).pipe(
    Effect.map((code) => code === 0),
    Effect.orElseSucceed(() => false)
  )

export const buildCommand = Effect.filterOrDieMessage(
  succeeds(process.execPath, fileOf("mock-server/bundle.mjs")),
  (isBuilt) => isBuilt,
  "the command of the mock server could not be built"
)

/** Fetches a package into the cache of npx, because it is too large to install with this repository. */
const fetchWithNpx = (specifier: string, bin: string) =>
  Command.make("npx", "-y", "-p", specifier, "-c", `command -v ${bin}`).pipe(
    Command.stderr("pipe"),
    Command.lines,
    Effect.timeout("90 seconds"),
    Effect.flatMap((lines) => Option.fromNullable(lines.find((line) => line.startsWith("/")))),
    Effect.mapError(() => new Unavailable({ reason: `npx could not fetch ${specifier}` }))
  )

const contract = fileOf("contract/contract/openapi.yaml")

const json = { "Content-Type": "application/json" }

const addStub = (url: string, path: string, jsonBody: object) =>
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
  if (!(yield* succeeds("java", "-version"))) return yield* new Unavailable({ reason: "Java is not installed" })
  const folder = join(dirname(yield* fetchWithNpx("wiremock@3.13.2", "wiremock")), "../wiremock/build")
  const jar = join(folder, readdirSync(folder).find((file) => file.endsWith(".jar")) ?? "")
  const server = yield* Server.startOnPort((port) => [
    "java",
    ...["-jar", jar, "--port", String(port), "--bind-address", "127.0.0.1", "--disable-banner"],
    // The same limit as the journal of idv-mock.
    ...["--max-request-journal-entries", "1000"]
  ])
  yield* addStub(server.url, "/oauth/service", { access_token: "token", token_type: "Bearer", expires_in: 3600 })
  yield* addStub(server.url, "/api/aml", { credentials: { attributes: { match_found: "No" } } })
  return server
})

export type Operation = "token" | "aml"

export interface MockServer {
  readonly title: string
  readonly operations: ReadonlyArray<Operation>
  readonly start: Effect.Effect<Server.Server, unknown, Scope.Scope | CommandExecutor.CommandExecutor>
}

export const bothOperations = ["token", "aml"] as const

const startProgram = (name: string) =>
  Effect.flatMap(Program.compile(name), (program) => Server.startAndReadLine(process.execPath, program)).pipe(
    Effect.map(({ line, pid }) => ({ pid, url: line }))
  )

export const mockServers = {
  idvMock: {
    title: "idv-mock serve",
    operations: bothOperations,
    start: Effect.map(
      Server.startAndReadLine(process.execPath, command, "serve", "--port", "0"),
      ({ line, pid }) => ({ pid, url: String(JSON.parse(line).baseUrl) })
    )
  },
  oauth2MockServer: {
    title: "oauth2-mock-server",
    operations: ["token"],
    start: startProgram("servers/oauth2MockServer.ts")
  },
  prism: {
    title: "Prism, with contract/openapi.yaml",
    operations: bothOperations,
    start: Server.startOnPort((port) => {
      const prism = createRequire(import.meta.url).resolve("@stoplight/prism-cli")
      return [process.execPath, prism, "mock", contract, "-p", String(port), "-v", "silent"]
    })
  },
  mockoon: {
    title: "Mockoon CLI, with contract/openapi.yaml",
    operations: bothOperations,
    start: Effect.flatMap(fetchWithNpx("@mockoon/cli@9.9.0", "mockoon-cli"), (mockoon) =>
      Server.startOnPort((port) => [
        process.execPath,
        ...[mockoon, "start", "--data", contract, "--port", String(port), "--hostname", "127.0.0.1"],
        ...["--repair", "--disable-log-to-file", "--disable-admin-api"]
      ]))
  },
  wireMock: { title: "WireMock, with two stubs", operations: bothOperations, start: wireMock },
  nodeHttp: { title: "node:http alone (limit)", operations: bothOperations, start: startProgram("servers/stub.ts") }
} satisfies Record<string, MockServer>

export type Name = keyof typeof mockServers
