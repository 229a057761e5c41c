/**
 * Bundles the recipe of Fastify with the installed packages, and runs the one file in a folder with a private CA, as in its
 * container: behind a proxy with a password, while the token endpoint is down and after it.
 */
import { Command, FetchHttpClient, FileSystem, HttpClient, Path } from "@effect/platform"
import { Effect, Redacted, Schedule } from "effect"
import { build } from "esbuild"
import { createServer } from "node:https"
import * as ConnectProxy from "../../packages/core/test/support/connectProxy.ts"
import { listening } from "../../packages/core/test/support/listening.ts"
import * as SelfSigned from "../../packages/mock-server/src/internal/wire/selfSigned.ts"
import { freePort } from "../test-services/freePort.ts"
import { root } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tool } from "./tools.ts"

const login = "acme:a-password"

const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

export const test = Effect.fnUntraced(
  function*(project: string, node: Tool, manager: string) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const container = yield* fs.makeTempDirectoryScoped({ prefix: `container-${manager}-` })
    const recipes = path.join(root, "packages", "examples", "src", "recipes")
    // Not beside the sources of the project, which are compiled with other options.
    const app = path.join(project, "recipes")
    yield* fs.makeDirectory(path.join(app, "fastify"), { recursive: true })
    for (const file of ["screening.ts", "operations.ts", "fastify/app.ts", "fastify/main.ts"]) {
      yield* fs.copyFile(path.join(recipes, file), path.join(app, file))
    }
    yield* Effect.tryPromise({
      try: () =>
        build({
          absWorkingDir: app,
          entryPoints: ["fastify/main.ts"],
          outfile: path.join(container, "main.mjs"),
          bundle: true,
          platform: "node",
          format: "esm",
          logLevel: "error",
          banner: { js: banner }
        }),
      catch: () => new Unexpected({ message: "the recipe cannot be bundled" })
    })
    const { ca, keyPair } = yield* SelfSigned.make(["idv.test"], Date.now())
    yield* fs.writeFileString(path.join(container, "ca.pem"), ca)

    let isDown = true
    const port = yield* listening(
      createServer({ cert: keyPair.cert, key: Redacted.value(keyPair.key) }, (_, response) => {
        response.writeHead(isDown ? 503 : 200, { "content-type": "application/json" })
        response.end(isDown ? "" : "{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
      })
    )
    const proxy = yield* ConnectProxy.make({ target: port, login })
    const operationsPort = yield* freePort
    const running = yield* Command.start(
      Command.make(node.path, "main.mjs").pipe(
        Command.workingDirectory(container),
        Command.env({
          NODE_PATH: undefined,
          NODE_OPTIONS: undefined,
          NODE_EXTRA_CA_CERTS: "ca.pem",
          NODE_ENV: "production",
          HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}`,
          IDV_AUTH_URL: `https://idv.test:${port}`,
          IDV_BASE_URL: `https://idv.test:${port}`,
          IDV_CUSTOMER_ID: "acme",
          IDV_CUSTOMER_KEY: "a-key",
          PORT: String(yield* freePort),
          OPERATIONS_PORT: String(operationsPort)
        })
      )
    )
    const until = (expected: string) =>
      HttpClient.get(`http://127.0.0.1:${operationsPort}/ready`).pipe(
        Effect.flatMap(({ text }) => text),
        Effect.filterOrFail(
          (text) => text === expected,
          (text) => new Unexpected({ message: `/ready responds ${text} instead of ${expected}` })
        ),
        Effect.retry(Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(300))),
        Effect.provide(FetchHttpClient.layer)
      )
    yield* until("TokenEndpointUnavailable")
    isDown = false
    yield* until("ready")
    if (proxy.connects.length === 0) return yield* new Unexpected({ message: "the app did not use the proxy" })
    yield* running.kill("SIGTERM")
    const exitCode = Number(yield* running.exitCode)
    if (exitCode !== 0) return yield* new Unexpected({ message: `the app ended with ${exitCode}` })
  },
  Effect.scoped,
  (self, _project, { version }, manager) =>
    step(`the recipe of Fastify behind a proxy, installed with ${manager}, Node ${version}`)(self)
)
