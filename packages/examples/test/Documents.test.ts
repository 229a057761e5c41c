/** Compiles and runs every snippet of the documents, and checks that every link has a target. */
import { Idv } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import ts from "typescript"
import { vi } from "vitest"
import * as Program from "../../mock-server/test/support/program.ts"
import { assertPrinted } from "./support/documentedOutput.ts"
import { brokenLinks, documents, root, type Snippet, sources } from "./support/documents.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"
import * as Recipes from "./support/recipes.ts"

const folder = fileURLToPath(new URL(".documents", import.meta.url))

const snippets = documents.flatMap(({ snippets }) => snippets)
/** `packages/effect-4/test/Documents.test.ts` runs those for Effect 4. */
const typescript = snippets.filter(({ code, language }) => language === "ts" && !code.includes("@effect-idv/effect-4"))

const fileOf = ({ location }: Snippet) => join(folder, `${location.replaceAll(/[^\w]+/g, "-")}.ts`)

const isTest = ({ code }: Snippet) => /from "(@effect\/)?vitest"/.test(code)
/**
 * True if the snippet runs the whole conformance suite as tests or as a function. It is only compiled: contractTesting.nightly.test.ts
 * and Conformance.test.ts run the same calls.
 */
const isWholeSuite = ({ code }: Snippet) => /describeConformance\(|verify\(\{ kind: "mock"/.test(code)

/** True if only Playwright can run the snippet. recipesPlaywright.test.ts does. */
const isForPlaywright = ({ code }: Snippet) => /from "@playwright\/test"/.test(code)

const isMain = ({ code }: Snippet) => /NodeRuntime\.runMain/.test(code)

/** Exports the constant `program`, if there is one, so that this test can run it. */
const withExport = (code: string) =>
  /^const program\b/m.test(code) ? `${code}\n\nexport { program }\n` : `${code}\n\nexport {}\n`

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const snippet of typescript) writeFileSync(fileOf(snippet), withExport(Recipes.importedFrom(folder, snippet.code)))

/** Runs a command in the root of the repository, asserts that it succeeds, and returns its output. */
const succeeds = (command: Command.Command) =>
  Effect.map(
    ExampleProcess.run(Command.workingDirectory(command, root)),
    ({ exitCode, stderr, stdout }) => {
      assert.strictEqual(exitCode, 0, stdout + stderr)
      return stdout
    }
  )

/** Replaces port 4010 of the documents by the port of the test's mock server. */
const withMockPort = (text: string) =>
  Effect.map(MockServer.MockServer, ({ url }) => text.replaceAll("4010", new URL(url).port))

const layerIdv = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options))).pipe(
  Layer.provide(NodeHttpClient.layerUndici)
)

describe("documents", () => {
  it("have links whose targets exist", () => {
    assert.deepStrictEqual(brokenLinks(existsSync), [])
  })

  it("have every section of the service document that a docstring or a page cites", () => {
    const service = documents.find(({ path }) => path === "docs/service.md")
    const sections = new Set(Array.from(service?.text.matchAll(/^#+ ([\d.]+) /gm) ?? [], ([, number]) => number))
    const cited = [...sources, ...documents].flatMap(({ path, text }) =>
      Array.from(
        text.matchAll(/(RFC \d+,[\s*]+)?sections?[\s*]+(\d[\d.]*(?:(?:,| and)[\s*]+\d[\d.]*)*)/g),
        ([, rfc, numbers = ""]) => rfc === undefined ? numbers.match(/\d+(\.\d+)*/g) ?? [] : []
      ).flat().map((number) => ({ path, number }))
    )
    assert.isAbove(cited.length, 50)
    assert.deepStrictEqual(cited.filter(({ number }) => !sections.has(number)), [])
  })

  it("link every recipe, and show those that they repeat as they are in packages/examples/src/recipes", () => {
    const pages = documents.filter(({ path }) => path.startsWith("docs/"))
    const linked = new Set(pages.flatMap(({ links, path }) => links.map((link) => join(dirname(path), link))))
    assert.isAbove(Recipes.paths.length, 8)
    assert.deepStrictEqual(Recipes.paths.filter((path) => !linked.has(relative(root, path))), [])
    const shown = pages.filter(({ path }) => path.startsWith("docs/recipes/")).flatMap(({ snippets }) => snippets)
      .filter(({ language }) => language === "ts" || language === "yaml")
    assert.isNotEmpty(shown)
    assert.deepStrictEqual(
      shown.filter(({ code }) => Recipes.fileOf(code) === undefined).map(({ location }) => location),
      []
    )
  })

  it("have snippets only in known languages", () => {
    assert.deepStrictEqual(
      [...new Set(snippets.map(({ language }) => language))].sort(),
      ["", "json", "mermaid", "promql", "python", "sh", "sql", "ts", "yaml"].filter((known) =>
        snippets.some(({ language }) => language === known)
      )
    )
  })

  it.live("have TypeScript that compiles", () =>
    Effect.gen(function*() {
      const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile)
      const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
      // A snippet may declare values that it does not use.
      const lenient = { composite: false, incremental: false, noUnusedLocals: false, noUnusedParameters: false }
      const compilerOptions = { ...options, ...lenient, noEmit: true }
      const host = ts.createCompilerHost(compilerOptions)
      host.jsDocParsingMode = ts.JSDocParsingMode.ParseForTypeErrors
      const program = ts.createProgram(typescript.map(fileOf), compilerOptions, host)
      // Checks only the snippets, because `typecheck` checks the modules that they import.
      const diagnostics = yield* Effect.forEach(typescript.map(fileOf), (file) => {
        const source = program.getSourceFile(file)
        const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
        // Vitest stops the run if a worker does not respond for a minute.
        return Effect.delay(Effect.succeed(found), "1 millis")
      })
      assert.strictEqual(
        ts.formatDiagnostics(diagnostics.flat(), {
          getCanonicalFileName: (path) => path,
          getCurrentDirectory: () => root,
          getNewLine: () => "\n"
        }),
        ""
      )
    }))

  for (const snippet of typescript.filter(isTest)) {
    describe(snippet.location, () => import(/* @vite-ignore */ fileOf(snippet)))
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
  it("name existing scripts and the pnpm version of this repository", () => {
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

  it("have no placeholders", () => {
    assert.deepStrictEqual(
      documents.filter(({ text }) => /TODO|FIXME|TESTOUTPUT/.test(text)).map(({ path }) => path),
      []
    )
  })
})

layer(MockServer.layerTest, { excludeTestServices: true })("documents, against the mock server", (it) => {
  const isRun = (snippet: Snippet) => ![isTest, isWholeSuite, isForPlaywright].some((is) => is(snippet))

  for (const snippet of typescript.filter(isRun)) {
    it.effect(`${snippet.location} runs`, () => isMain(snippet) ? runProcess(snippet) : runProgram(snippet))
  }

  for (const { code, location } of shell.filter(({ code }) => /\bcurl\b[^]*\b4010\b/.test(code))) {
    it.effect(`${location} runs`, () =>
      Effect.gen(function*() {
        const script = `set -euo pipefail; curl() { command curl -fsS "$@"; }\n${yield* withMockPort(code)}`
        const printed = yield* succeeds(Command.make("bash", "-c", script))
        const documented = code.split("\n").filter((line) => line.startsWith("# ")).map((line) => line.slice(2))
        if (documented.length > 0) assertPrinted(documented.join("\n"), printed)
      }))
  }

  it.effect("docs/getting-started.md bundles its program", () =>
    Effect.gen(function*() {
      const isOfPage = ({ location }: Snippet) => location.startsWith("docs/getting-started.md")
      const program = typescript.filter(isOfPage).find(isMain)
      const command = shell.filter(isOfPage).find(({ code }) => code.startsWith("npx esbuild"))
      assert(program !== undefined && command !== undefined)
      writeFileSync(join(folder, "screen.ts"), yield* withMockPort(program.code))
      const script = `cd '${folder}' && ${command.code} --log-level=warning && node screen.cjs`
      assertPrinted("a person should review", yield* succeeds(Command.make("bash", "-euc", script)))
    }))

  const runProcess = (snippet: Snippet) =>
    Effect.gen(function*() {
      const file = fileOf(snippet)
      // The suite waits between its requests to a sandbox, but the mock server does not need that.
      const source = readFileSync(file, "utf8").replace("kind: \"sandbox\"", "kind: \"sandbox\", spacing: 0")
      writeFileSync(file, yield* withMockPort(source))
      const program = yield* Program.bundled(pathToFileURL(file))
      const variables = yield* Effect.map(MockServer.MockServer, ExampleProcess.mockVariables)
      const printed = yield* succeeds(Command.env(Command.make("node", program), variables))
      const [, documented] = /^.*\bprints `(.+)`/.exec(snippet.after) ?? []
      if (documented !== undefined) assertPrinted(documented, printed)
    })

  const runProgram = (snippet: Snippet) =>
    Effect.gen(function*() {
      const log = vi.spyOn(console, "log").mockImplementation(() => {})
      yield* Effect.addFinalizer(() => Effect.sync(() => log.mockRestore()))
      const module: { readonly program?: unknown } = yield* Effect.promise(
        () => import(/* @vite-ignore */ fileOf(snippet))
      )
      const { program } = module
      if (Effect.isEffect(program)) {
        const context = yield* Layer.build(layerIdv)
        yield* Effect.provide(program as Effect.Effect<unknown, unknown>, context)
      }
    }).pipe(Effect.scoped)
})
