/** Tests a project: each TypeScript compiles it, and each Node runs the results. */
import { FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"
import * as BehindProxy from "./behindProxy.ts"
import { run } from "./command.ts"
import type { Project } from "./install.ts"
import type { Package, Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tool, Tools } from "./tools.ts"

const out = ({ version }: Tool) => `out-${version}`

/** TypeScript 7 also checks every imported declaration, which would take too long with 5.9. */
const compile = ({ effect, folder }: Project, typescript: Tool) =>
  run(
    folder,
    typescript.path,
    ...["--outDir", out(typescript), "--skipLibCheck", String(!typescript.version.startsWith("7."))]
  ).pipe(step(`compile: effect ${effect}, TypeScript ${typescript.version}`))

/** Checks the types as a bundler resolves the packages. The other compilations resolve them as Node does. */
const compileForBundler = ({ effect, folder }: Project, typescript: Tool) =>
  run(
    folder,
    typescript.path,
    ...["--module", "ESNext", "--moduleResolution", "bundler", "--noEmit", "--skipLibCheck"]
  ).pipe(step(`compile for a bundler: effect ${effect}, TypeScript ${typescript.version}`))

/** Runs the results of all compilers in one process, because loading Effect takes most of the time. */
const execute = ({ effect, folder }: Project, { otherTypescripts, typescript }: Tools, node: Tool) => {
  const main = (compiler: Tool) => `./${out(compiler)}/main.js`
  const imported = otherTypescripts.flatMap((compiler) => ["--import", main(compiler)])
  return run(folder, node.path, ...imported, main(typescript)).pipe(
    Effect.filterOrFail(
      (printed) => printed === `v${node.version} Ada: No, Zoë: Potential match\n`.repeat(1 + otherTypescripts.length),
      (printed) => new Unexpected({ message: `the program printed ${JSON.stringify(printed)}` })
    ),
    Effect.as("ok"),
    step(`run: effect ${effect}, Node ${node.version}`)
  )
}

const Loaded = Schema.parseJson(Schema.Array(Schema.Struct({ specifier: Schema.String, loaded: Schema.String })))

/** Imports every public module but `Vitest`, which works in a test run only, and some private ones. */
const imports = ({ folder, optionalPeers }: Project, packages: Packages, typescript: Tool, node: Tool) => {
  const of = ({ name }: Package, paths: ReadonlyArray<string>) => paths.map((path) => `${name}/${path}`)
  const open = packages.flatMap((each) => [each.name, ...of(each, each.modules)])
    .filter((specifier) => !specifier.endsWith("/Vitest"))
  const closed = packages.flatMap((each) => of(each, each.closed))
  const expected = (specifier: string) => {
    if (closed.includes(specifier)) return "ERR_PACKAGE_PATH_NOT_EXPORTED"
    // It has only the type of a store.
    if (specifier.endsWith("/TokenStore")) return "empty"
    // No other module needs ioredis or pg-boss, so all of them can be imported without these.
    return /\/(TokenStoreRedis|EnginePgBoss)$/.test(specifier) && !optionalPeers ? "ERR_MODULE_NOT_FOUND" : "yes"
  }
  return run(folder, node.path, `${out(typescript)}/exports.js`, ...open, ...closed).pipe(
    Effect.flatMap(Schema.decode(Loaded)),
    Effect.map((modules) => modules.filter(({ loaded, specifier }) => loaded !== expected(specifier))),
    Effect.filterOrFail(
      (wrong) => wrong.length === 0,
      (wrong) => new Unexpected({ message: JSON.stringify(wrong) })
    ),
    step(`${open.length} modules can be imported, ${closed.length} cannot`)
  )
}

const SourceMap = Schema.parseJson(Schema.Struct({ sources: Schema.NonEmptyArray(Schema.String) }))

/** Checks that each source map refers to a packed source. */
const sourceMaps = Effect.fnUntraced(function*(folder: string, { name }: Package) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const dist = path.join(folder, "node_modules", name, "dist")
  const maps = (yield* fs.readDirectory(dist, { recursive: true })).filter((file) => file.endsWith(".map"))
  const lost = yield* Effect.filter(maps, (file) =>
    fs.readFileString(path.join(dist, file)).pipe(
      Effect.flatMap(Schema.decode(SourceMap)),
      Effect.flatMap(({ sources: [source] }) => fs.exists(path.join(dist, path.dirname(file), source))),
      Effect.map((there) => !there)
    ))
  if (maps.length === 0 || lost.length > 0) {
    return yield* new Unexpected({ message: `of ${maps.length} source maps of ${name}, these have no source: ${lost}` })
  }
})

const conformance = ({ folder }: Project) =>
  run(folder, "node_modules/.bin/vitest", "run", "conformance.test.ts").pipe(
    step("the conformance suite under vitest")
  )

/** Returns a row of the table: the version of Effect, the compilers, and the result with each Node. */
export const test = Effect.fnUntraced(function*(project: Project, packages: Packages, tools: Tools) {
  const { isAll, node, otherNodes, otherTypescripts, typescript } = tools
  const typescripts = [typescript, ...otherTypescripts]
  yield* Effect.forEach(typescripts, (compiler) => compile(project, compiler), {
    concurrency: "unbounded",
    discard: true
  })
  const { runs } = yield* Effect.all({
    runs: Effect.forEach([node, ...otherNodes], (each) => execute(project, tools, each), {
      concurrency: "unbounded"
    }),
    imports: imports(project, packages, typescript, node),
    sourceMaps: Effect.forEach(packages, (each) => sourceMaps(project.folder, each)).pipe(
      step("source maps refer to their sources")
    ),
    behindProxy: isAll && !project.optionalPeers ? BehindProxy.test(project.folder, node, "npm") : Effect.void,
    bundler: project.optionalPeers
      ? Effect.void
      : Effect.forEach(otherTypescripts, (compiler) => compileForBundler(project, compiler)),
    conformance: isAll && project.optionalPeers ? conformance(project) : Effect.void
  }, { concurrency: "unbounded" })
  return [project.effect, typescripts.map(({ version }) => version).join(" and "), ...runs]
})
