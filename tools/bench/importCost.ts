/** 7. What it costs a program to import `@effect-idv/core`, beyond Effect, which it has anyway. */
import { Effect } from "effect"
import { build } from "esbuild"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import ts from "typescript"
import * as Report from "./support/Report.ts"
import * as Rounds from "./support/Rounds.ts"
import * as Server from "./support/Server.ts"

const source = fileURLToPath(new URL("../../packages/core/src", import.meta.url))
const folder = fileURLToPath(new URL("../node_modules/.cache/bench/core", import.meta.url))

const compilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true
}

/** As `pnpm build` does it, file by file, only that types are not looked at. */
const compiled = Effect.sync(() => {
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

/** The examples in comments begin with an asterisk. */
const imported = /^(?! \*).* from "((?:effect|@effect\/platform)(?:\/[^"]*)?)"/gm

/** What core has of Effect itself: its own imports, and nothing else. */
const importsOf = (isMeant: (specifier: string) => boolean) => {
  const specifiers = new Set<string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".js")) continue
    for (
      const [, specifier = ""] of readFileSync(join(folder, file), "utf8").matchAll(imported)
    ) {
      if (isMeant(specifier)) specifiers.add(specifier)
    }
  }
  return Array.from(specifiers).sort()
}

/** A program that imports these, says how long that took, and ends. */
const program = (name: string, specifiers: ReadonlyArray<string>) =>
  Effect.sync(() => {
    const file = join(folder, `../import-${name}.mjs`)
    const lines = [
      "const started = performance.now()",
      ...specifiers.map((specifier) => `await import(${JSON.stringify(specifier)})`),
      "console.log(performance.now() - started)"
    ]
    writeFileSync(file, lines.join("\n"))
    return Effect.map(Effect.scoped(Server.announced(process.execPath, file)), ({ line }) => Number(line))
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

const rounds = 3

const kib = (bytes: number) => `${Report.number(bytes / 1024)} KiB`

export const importCost = Effect.gen(function*() {
  const entry = yield* compiled
  const { gzipped, minified } = yield* size(entry)
  const effect = importsOf((specifier) => specifier.startsWith("effect"))
  const both = importsOf(() => true)
  const subjects = {
    effect: yield* program("effect", effect),
    platform: yield* program("platform", both),
    core: yield* program("core", [entry])
  }
  const times = yield* Rounds.run(rounds, subjects)
  const cell = (name: keyof typeof subjects) => Report.range(Report.spread([...times[name]]))
  const beyond = (name: keyof typeof subjects, other: keyof typeof subjects) =>
    Report.range(Report.spread(times[name].map((time, round) => time - (times[other][round] ?? NaN))))
  const report: Report.Report = {
    columns: ["import", "ms", "core beyond it, ms"],
    cells: [
      ["@effect-idv/core", cell("core"), ""],
      ["the modules of effect that core imports", cell("effect"), beyond("core", "effect")],
      ["the same, and those of @effect/platform", cell("platform"), beyond("core", "platform")]
    ],
    goals: [],
    notes: [
      `Its own code, bundled, with effect and @effect/* outside: ${kib(minified)} minified, ${kib(gzipped)} with gzip.`,
      `${rounds} rounds, each import in a fresh process and in turns; what is beyond is the difference in a round.`
    ]
  }
  return report
})
