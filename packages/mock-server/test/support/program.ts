/**
 * Bundles programs of this repository, so that tests can start them as processes. Each is bundled once per test run,
 * because a start with `tsx` takes seconds.
 */
import { Effect } from "effect"
import { build, type Plugin } from "esbuild"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, rename } from "node:fs/promises"
import { createRequire } from "node:module"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { inject } from "vitest"

/** Lets a module find files beside its source. */
const atHome: Plugin = {
  name: "at home",
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /packages\/[a-z-]+\/(src|test)\/.*\.tsx?$/ },
      ({ path }) =>
        readFile(path, "utf8").then((source) => ({
          contents: source.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
          loader: path.endsWith("x") ? "tsx" : "ts"
        }))
    )
}

/** Leaves the native part of SQLite where it is installed. */
const native: Plugin = {
  name: "native",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^libsql$/ }, ({ importer }) => ({
      path: createRequire(importer).resolve("libsql"),
      external: true
    }))
}

/** CommonJS packages require modules of Node. */
const banner =
  "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"

const bundles = new Map<string, Promise<string>>()

/** Another worker may write the same bundle at the same time, with the same content. */
const bundle = (source: string): Promise<string> => {
  const digest = createHash("sha256").update(source).digest("hex").slice(0, 8)
  const outfile = join(inject("programs"), `${basename(source, ".ts")}-${digest}.mjs`)
  if (existsSync(outfile)) return Promise.resolve(outfile)
  const draft = `${outfile}.${process.pid}`
  return build({
    entryPoints: [source],
    outfile: draft,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    banner: { js: banner },
    plugins: [atHome, native]
  }).then(() => rename(draft, outfile)).then(() => outfile)
}

/** Bundles a TypeScript program for `node`, and returns its path. */
export const bundled = (entry: URL): Effect.Effect<string> =>
  Effect.promise(() => {
    const source = fileURLToPath(entry)
    const made = bundles.get(source) ?? bundle(source)
    bundles.set(source, made)
    return made
  })

/** The bundled command `idv-mock`. */
export const idvMock = bundled(new URL("../../src/bin.ts", import.meta.url))
