/** Every snippet of the documents is compiled and run, and every link leads somewhere. */
import { Idv } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import ts from "typescript"
import * as Program from "../../mock-server/test/support/program.ts"
import { broken, documents, root, type Snippet } from "./support/documents.ts"

const folder = fileURLToPath(new URL(".documents", import.meta.url))

const snippets = documents.flatMap(({ snippets }) => snippets)
const typescript = snippets.filter(({ language }) => language === "ts")

const fileOf = ({ at }: Snippet) => join(folder, `${at.replaceAll(/[^\w]+/g, "-")}.ts`)

const isTest = ({ code }: Snippet) => /from "@effect\/vitest"|describeConformance\(/.test(code)
/** It would ask a sandbox, spaced out and for minutes. The same function goes to the mock server in another snippet. */
const isForSandbox = ({ code }: Snippet) => /kind: "sandbox"/.test(code)

const isMain = ({ code }: Snippet) => /NodeRuntime\.runMain/.test(code)

/** What it calls `program` can be run from here. */
const exported = (code: string) =>
  /^const program\b/m.test(code) ? `${code}\n\nexport { program }\n` : `${code}\n\nexport {}\n`

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const snippet of typescript) writeFileSync(fileOf(snippet), exported(snippet.code))
const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const run = (program: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.scoped(Effect.gen(function*() {
    const process = yield* Command.start(
      Command.make(program, ...args).pipe(Command.workingDirectory(root), Command.env(env))
    )
    const [stdout, stderr, code] = yield* Effect.all([text(process.stdout), text(process.stderr), process.exitCode], {
      concurrency: "unbounded"
    })
    return { code, output: stdout + stderr }
  }))

/** The mock server that the documents have on port 4010. */
const Served = Layer.merge(MockServer.layerTest, NodeContext.layer)

const atItsPort = (text: string) =>
  Effect.map(MockServer.MockServer, ({ url }) => text.replaceAll("4010", new URL(url).port))

const variables = Effect.map(MockServer.MockServer, ({ url }) => ({
  IDV_AUTH_URL: url,
  IDV_BASE_URL: url,
  IDV_CUSTOMER_ID: "demo-customer",
  IDV_CUSTOMER_KEY: "demo-key"
}))

const IdvServed = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options))).pipe(
  Layer.provide(NodeHttpClient.layerUndici)
)

describe("documents", () => {
  it("have links that lead somewhere", () => {
    assert.deepStrictEqual(broken(existsSync), [])
  })

  it("have snippets in languages that are looked at here", () => {
    assert.deepStrictEqual(
      [...new Set(snippets.map(({ language }) => language))].sort(),
      ["", "json", "mermaid", "promql", "sh", "ts", "yaml"].filter((known) =>
        snippets.some(({ language }) => language === known)
      )
    )
  })

  it("have TypeScript that compiles", () => {
    const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile)
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
    // A snippet may show what it does not use.
    const lenient = { composite: false, incremental: false, noUnusedLocals: false, noUnusedParameters: false }
    const program = ts.createProgram(typescript.map(fileOf), { ...options, ...lenient, noEmit: true })
    // Only the snippets are checked here: `typecheck` checks what they import.
    const diagnostics = typescript.map(fileOf).flatMap((file) => {
      const source = program.getSourceFile(file)
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    })
    assert.strictEqual(
      ts.formatDiagnostics(diagnostics, {
        getCanonicalFileName: (path) => path,
        getCurrentDirectory: () => root,
        getNewLine: () => "\n"
      }),
      ""
    )
  }, 120_000)

  for (const snippet of typescript.filter((snippet) => isTest(snippet) && !isForSandbox(snippet))) {
    describe(snippet.at, () => import(/* @vite-ignore */ fileOf(snippet)))
  }
})

const Package = Schema.parseJson(
  Schema.Struct({
    packageManager: Schema.String,
    scripts: Schema.Record({ key: Schema.String, value: Schema.String })
  })
)

const { packageManager, scripts } = Schema.decodeSync(Package)(readFileSync(join(root, "package.json"), "utf8"))

const shell = snippets.filter(({ language }) => language === "sh")

describe("commands of the documents", () => {
  it("are scripts that there are, by the pnpm of this repository", () => {
    const commands = documents.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/npx -y (pnpm@\S+) (?:-s )?([\w-]+|--filter)/g), ([, pnpm, script = ""]) => ({
        path,
        pnpm,
        script
      }))
    )
    const known = new Set([...Object.keys(scripts), "--filter"])
    assert.isAbove(commands.length, 20)
    assert.deepStrictEqual(
      commands.filter(({ pnpm, script }) => pnpm !== packageManager || !known.has(script)),
      []
    )
  })

  it("have no output that is still to come", () => {
    assert.deepStrictEqual(
      documents.filter(({ text }) => /TODO|FIXME|TESTOUTPUT/.test(text)).map(({ path }) => path),
      []
    )
  })
})

layer(Served, { excludeTestServices: true })("documents, against the mock server", (it) => {
  for (const snippet of typescript.filter((snippet) => !isTest(snippet))) {
    it.effect(`${snippet.at} runs`, () => isMain(snippet) ? runs(snippet) : isImported(snippet))
  }

  for (const { at, code } of shell.filter(({ code }) => /\bcurl\b[^]*\b4010\b/.test(code))) {
    it.effect(`${at} runs`, () =>
      Effect.gen(function*() {
        const script = `set -euo pipefail; curl() { command curl -fsS "$@"; }\n${yield* atItsPort(code)}`
        const { code: exitCode, output } = yield* run("bash", ["-c", script])
        assert.strictEqual(exitCode, 0, output)
      }))
  }

  const runs = (snippet: Snippet) =>
    Effect.gen(function*() {
      const file = fileOf(snippet)
      writeFileSync(file, yield* atItsPort(readFileSync(file, "utf8")))
      const program = yield* Program.bundled(pathToFileURL(file))
      const { code, output } = yield* run(process.execPath, [program], yield* variables)
      assert.strictEqual(code, 0, output)
    })

  const isImported = (snippet: Snippet) =>
    Effect.gen(function*() {
      const module: { readonly program?: unknown } = yield* Effect.promise(
        () => import(/* @vite-ignore */ fileOf(snippet))
      )
      const { program } = module
      if (!Effect.isEffect(program)) return
      const context = yield* Layer.build(IdvServed)
      yield* Effect.provide(program as Effect.Effect<unknown, unknown>, context)
    }).pipe(Effect.scoped)
})
