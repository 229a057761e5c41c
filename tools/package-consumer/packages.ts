/** Builds and packs the packages as they are published, and checks them with publint and attw. */
import { FileSystem, Path } from "@effect/platform"
import { Array as Arr, Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { run } from "./command.ts"
import { step, Unexpected } from "./step.ts"

export const root = fileURLToPath(new URL("../../", import.meta.url))

export interface Package {
  readonly name: string
  readonly version: string
  readonly readme: string
  readonly peers: Readonly<Record<string, string>>
  readonly tarball: string
  /** The modules that a user can import, such as `AmlClient`. */
  readonly modules: ReadonlyArray<string>
  /** Some modules that a user cannot import. */
  readonly closed: ReadonlyArray<string>
}

const Manifest = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  peerDependencies: Schema.Record({ key: Schema.String, value: Schema.String })
}))

const closed = {
  "core": ["internal/check/check", "internal/wire/exchange"],
  "contract": ["internal/judge", "internal/run/runner"],
  "mock-server": ["internal/server/app", "internal/command/main", "bin"],
  "rescreening": ["internal/worker/worker", "bin"]
} as const

const names = ["core", "contract", "mock-server", "rescreening"] as const

/** Its tests need folders without Effect 3. */
const effect4 = "effect-4"

const selection = ["--recursive", ...[...names, effect4].flatMap((name) => ["--filter", `./packages/${name}`])]

const build = run(root, "pnpm", ...selection, "build").pipe(step("build"))

const pack = (destination: string) =>
  run(root, "pnpm", ...selection, "pack", "--pack-destination", destination).pipe(step("pack"))

const read = Effect.fnUntraced(function*(name: keyof typeof closed, destination: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, "packages", name)
  const manifest = yield* Schema.decode(Manifest)(yield* fs.readFileString(path.join(folder, "package.json")))
  const tarball = path.join(destination, `effect-idv-${name}-${manifest.version}.tgz`)
  const files = (yield* run(destination, "tar", "-tzf", tarball)).split("\n")
  const modules = files.flatMap((file) => /^package\/dist\/([A-Z]\w+)\.js$/.exec(file)?.slice(1) ?? [])
  // README and LICENSE are not in `files`, and the source maps refer to the sources.
  const missing = ["LICENSE", "README.md", "src/index.ts"].filter((file) => !files.includes(`package/${file}`))
  if (missing.length > 0) return yield* new Unexpected({ message: `${missing.join(", ")} is not in ${tarball}` })
  const compiled = files.flatMap((file) => /^package\/dist\/(.+)\.js$/.exec(file)?.slice(1) ?? [])
  const hasSource = (module: string) => files.some((file) => /^package\/src\/(.+)\.tsx?$/.exec(file)?.[1] === module)
  const stale = compiled.filter((module) => !hasSource(module))
  if (stale.length > 0) {
    return yield* new Unexpected({ message: `${stale.join(", ")} has no source: delete packages/${name}/dist` })
  }
  const readme = yield* fs.readFileString(path.join(folder, "README.md"))
  return { ...manifest, readme, peers: manifest.peerDependencies, tarball, modules, closed: closed[name] }
})

/** All packages, from the tarballs in this folder. */
export const readAll = (folder: string) =>
  Effect.forEach(names, (name) => read(name, folder)).pipe(step("contents of the tarballs"))

/** The tarball of the package for Effect 4, beside that of another package. */
export const effect4Beside = ({ tarball, version }: Package) =>
  tarball.replace(/[^/]+$/, `effect-idv-${effect4}-${version}.tgz`)

/** All packages, built and packed into a folder. */
export const make = (destination: string) =>
  build.pipe(Effect.zipRight(pack(destination)), Effect.zipRight(readAll(destination)))

export type Packages = Effect.Effect.Success<ReturnType<typeof make>>

/** Checks the `exports` of a package, and their types too. They are for ES modules only, so `require` is not checked. */
export const judge = ({ modules, name, tarball }: Package, withTypes: boolean) =>
  Effect.all([
    run(root, "node_modules/.bin/publint", "--strict", tarball).pipe(step(`publint ${name}`)),
    !withTypes ? Effect.void : run(
      root,
      "node_modules/.bin/attw",
      ...[tarball, "--profile", "esm-only", "--format", "ascii", "--no-emoji", "--no-color"],
      ...["--entrypoints", ".", ...modules]
    ).pipe(step(`attw ${name}, ${Arr.length(modules) + 1} entries`))
  ], { concurrency: "unbounded", discard: true })
