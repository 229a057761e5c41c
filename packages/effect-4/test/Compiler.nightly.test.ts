/** What the compiler says about the documents and the public declarations, which takes it many seconds. */
import { deepStrictEqual, ok } from "node:assert"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { describe, it } from "vitest"
import * as Snippets from "./support/snippets.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const src = fileURLToPath(new URL("../src", import.meta.url))

/** Below this folder, a snippet finds the packages. Its files exist in memory only. */
const folder = fileURLToPath(new URL(".snippets", import.meta.url))
const snippets = new Map(Snippets.all.map(({ code, name }) => [join(folder, name), `${code}\nexport {}\n`]))
const modules = readdirSync(src).filter((file) => file.endsWith(".ts")).map((file) => join(src, file))

const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile)
const options: ts.CompilerOptions = {
  ...ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options,
  composite: false,
  incremental: false,
  // A snippet may declare values that it does not use.
  noUnusedLocals: false,
  noUnusedParameters: false,
  declaration: true,
  declarationMap: false,
  emitDeclarationOnly: true
}
const host = ts.createCompilerHost(options)
const { fileExists, getSourceFile, readFile } = host
host.fileExists = (file) => snippets.has(file) || fileExists(file)
host.readFile = (file) => snippets.get(file) ?? readFile(file)
host.getSourceFile = (file, version, ...others) => {
  const snippet = snippets.get(file)
  return snippet === undefined ? getSourceFile(file, version, ...others) : ts.createSourceFile(file, snippet, version)
}
const program = ts.createProgram([...snippets.keys(), ...modules], options, host)

describe("The compiler", () => {
  it("accepts each snippet of the documents", () => {
    ok(snippets.size > 8)
    const diagnostics = [...snippets.keys()].flatMap((file) => {
      const source = program.getSourceFile(file)
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    })
    deepStrictEqual(ts.formatDiagnostics(diagnostics, host), "")
  })

  it("finds only Effect 4, Undici and this package in the public declarations", () => {
    const specifiers = new Set<string>()
    const visited = new Set<string>()
    const visit = (file: string): void => {
      if (visited.has(file)) return
      visited.add(file)
      program.emit(
        program.getSourceFile(file),
        (_, text) => {
          for (const { fileName } of ts.preProcessFile(text).importedFiles) {
            if (!fileName.startsWith(".")) specifiers.add(fileName)
            else visit(join(dirname(file), fileName))
          }
          for (const [, name = ""] of text.matchAll(/import\("([^"]+)"\)/g)) {
            if (!name.startsWith(".")) specifiers.add(name)
            else visit(join(dirname(file), name))
          }
        },
        undefined,
        true
      )
    }
    for (const file of modules) visit(file)
    ok(visited.size > modules.length)
    deepStrictEqual([...visited].filter((file) => file.includes("/engine/")), [])
    deepStrictEqual([...specifiers].filter((name) => !/^(effect(\/|$)|undici$)/.test(name)), [])
    // The sources of the engine do import Effect 3, so the search would find it.
    ok(readFileSync(join(src, "internal/engine/values.ts"), "utf8").includes("from \"effect-3/"))
  })
})
