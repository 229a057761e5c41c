/** The two packages as they would be published: built, packed, and judged by publint and attw. */
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
  /** The modules that a user can import, as `AmlClient`; and some that none should. */
  readonly modules: ReadonlyArray<string>
  readonly closed: ReadonlyArray<string>
}

const Manifest = Schema.parseJson(Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  peerDependencies: Schema.Record({ key: Schema.String, value: Schema.String })
}))

const closed = {
  "core": ["internal/check", "internal/exchange"],
  "mock-server": ["internal/app", "internal/cli/main", "bin", "Mutant"]
} as const

const names = ["core", "mock-server"] as const

const ofBoth = ["--recursive", ...names.flatMap((name) => ["--filter", `./packages/${name}`])]

const build = run(root, "pnpm", ...ofBoth, "build").pipe(step("build"))

const pack = (destination: string) =>
  run(root, "pnpm", ...ofBoth, "pack", "--pack-destination", destination).pipe(step("pack"))

const read = Effect.fnUntraced(function*(name: keyof typeof closed, destination: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, "packages", name)
  const manifest = yield* Schema.decode(Manifest)(yield* fs.readFileString(path.join(folder, "package.json")))
  const tarball = path.join(destination, `effect-idv-${name}-${manifest.version}.tgz`)
  const files = (yield* run(destination, "tar", "-tzf", tarball)).split("\n")
  const modules = files.flatMap((file) => /^package\/dist\/([A-Z]\w+)\.js$/.exec(file)?.slice(1) ?? [])
  // A README and a licence are not in `files`, and a source is what a source map leads to.
  const missing = ["LICENSE", "README.md", "src/index.ts"].filter((file) => !files.includes(`package/${file}`))
  if (missing.length > 0) return yield* new Unexpected({ message: `${missing.join(", ")} is not in ${tarball}` })
  const readme = yield* fs.readFileString(path.join(folder, "README.md"))
  return { ...manifest, readme, peers: manifest.peerDependencies, tarball, modules, closed: closed[name] }
})

/** Both, built and packed into a folder. */
export const make = (destination: string) =>
  build.pipe(
    Effect.zipRight(pack(destination)),
    Effect.zipRight(
      Effect.all({ core: read("core", destination), mock: read("mock-server", destination) }).pipe(
        step("what is packed")
      )
    )
  )

export type Packages = Effect.Effect.Success<ReturnType<typeof make>>

/** Whether the `exports` are right. They are for ES modules only: `require` is not judged. */
export const judge = ({ modules, name, tarball }: Package) =>
  Effect.all([
    run(root, "node_modules/.bin/publint", "--strict", tarball).pipe(step(`publint ${name}`)),
    run(
      root,
      "node_modules/.bin/attw",
      ...[tarball, "--profile", "esm-only", "--format", "ascii", "--no-emoji", "--no-color"],
      ...["--entrypoints", ".", ...modules]
    ).pipe(step(`attw ${name}, ${Arr.length(modules) + 1} entries`))
  ], { concurrency: "unbounded", discard: true })
