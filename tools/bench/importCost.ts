/** Measures the import of `@effect-idv/core`, in addition to Effect, which a program imports anyway. */
import { Effect } from "effect"
import { build } from "esbuild"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import ts from "typescript"
import * as Program from "./support/Program.ts"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Server from "./support/Server.ts"

const core = fileURLToPath(new URL("../../packages/core", import.meta.url))
const source = join(core, "src")
/** Below the `node_modules` of core, so that the compiled modules find its dependencies. */
const folder = join(core, "node_modules/.cache/bench/core")

const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true
}

/** Compiles core file by file, as `pnpm build`, without checking types. Returns the path of its index. */
const compiledIndex = Effect.sync(() => {
  for (const file of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts")) continue
    const target = join(folder, file.replace(/ts$/, "js"))
    mkdirSync(dirname(target), { recursive: true })
    const { outputText } = ts.transpileModule(readFileSync(join(source, file), "utf8"), { compilerOptions })
    writeFileSync(target, outputText)
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", sideEffects: false }))
  return join(folder, "index.js")
})

/** Matches imports, but not those of examples in comments, whose lines start with an asterisk. */
const importPattern = /^(?! \*).* from "((?:effect|@effect\/platform)(?:\/[^"]*)?)"/gm

/** Returns the modules of Effect that core imports directly. */
const effectImports = (isIncluded: (specifier: string) => boolean) => {
  const specifiers = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".js")) continue
    for (
      const [, specifier = ""] of readFileSync(join(folder, file), "utf8").matchAll(importPattern)
    ) {
      if (isIncluded(specifier)) specifiers.add(specifier)
    }
  }
  return Array.from(specifiers).sort()
}

/** Writes a program that imports the modules and prints the milliseconds. Returns an effect that runs it. */
const importProgram = (name: string, specifiers: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const file = join(folder, `../import-${name}.mjs`)
    const lines = [
      "const startedAt = performance.now()",
      ...specifiers.map((specifier) => `await import(${JSON.stringify(specifier)})`),
      "console.log(performance.now() - startedAt)"
    ]
    writeFileSync(file, lines.join("\n"))
    return Effect.map(Effect.scoped(Server.startAndReadLine(process.execPath, file)), ({ line }) => Number(line))
  })

const size = (entry: string) =>
  Effect.map(
    Effect.promise(() =>
      build({
        entryPoints: [entry],
        bundle: true,
        minify: true,
        write: false,
        platform: "node",
        format: "esm",
        target: "es2022",
        external: ["effect", "@effect/*"],
        logLevel: "error"
      })
    ),
    ({ outputFiles: [bundle] }) => {
      const bytes = bundle?.contents ?? new Uint8Array()
      return { minified: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length }
    }
  )

/** The modules of Effect that every client over `HttpClient` loads. */
const base = ["effect/Effect", "effect/Schema", "@effect/platform/HttpClient"]

const rounds = 4

const kib = (bytes: number) => `${Report.number(bytes / 1024)} KiB`

export const importCost = Effect.gen(function*() {
  const entry = yield* compiledIndex
  const { gzipped, minified } = yield* size(entry)
  const bundled = readFileSync(yield* Program.bundleAll("workloads/coldStartDeep.ts"))
  const effect = effectImports((specifier) => specifier.startsWith("effect"))
  const both = effectImports(() => true)
  const programs = {
    effect: yield* importProgram("effect", effect),
    platform: yield* importProgram("platform", both),
    core: yield* importProgram("core", [entry]),
    base: yield* importProgram("base", base),
    client: yield* importProgram("client", ["AmlClient.js", "TokenProvider.js"].map((name) => join(folder, name)))
  }
  const times = yield* Rounds.run(rounds, programs)
  const cell = (name: keyof typeof programs) => Report.range(Report.spread([...times[name]]))
  const additional = (name: keyof typeof programs, other: keyof typeof programs) =>
    Report.range(Report.spread(times[name].map((time, round) => time - (times[other][round] ?? NaN))))
  const report: Report.Report = {
    columns: ["import", "ms", "additional time of core, ms"],
    cells: [
      ["@effect-idv/core", cell("core"), ""],
      ["the modules of effect that core imports", cell("effect"), additional("core", "effect")],
      ["the same, and of @effect/platform", cell("platform"), additional("core", "platform")],
      ["@effect-idv/core/AmlClient and TokenProvider", cell("client"), ""],
      [base.join(", "), cell("base"), ""]
    ],
    goals: [
      {
        what: "Import of AmlClient and TokenProvider, relative to the modules of Effect that every client loads",
        measured: Report.ratio(times.client, times.base),
        is: "at most",
        limit: 1.25,
        unit: "×"
      },
      {
        what: "Bundle of one check over fetch, minified",
        measured: Report.single(bundled.length / 1000),
        is: "at most",
        limit: 430,
        unit: " kB",
        isExact: true
      },
      {
        what: "The same, gzipped",
        measured: Report.single(gzipSync(bundled, { level: 9 }).length / 1000),
        is: "at most",
        limit: 145,
        unit: " kB",
        isExact: true
      }
    ],
    notes: [
      `core, bundled without effect and @effect/*: ${kib(minified)} minified, ${kib(gzipped)} gzipped.`,
      `${rounds} interleaved rounds, each import in a new process. The additional time is the difference within a round.`
    ]
  }
  return report
})
