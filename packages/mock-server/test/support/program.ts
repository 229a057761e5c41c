/**
 * Programs of this repository, to be started as processes of their own. Each is bundled once for a
 * run of the tests: to start one with `tsx` takes seconds, because every module is found, read and
 * translated again.
 */
import { Effect } from "effect"
import { build, type Plugin } from "esbuild"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, rename } from "node:fs/promises"
import { basename, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { inject } from "vitest"

/** A module that looks for a file beside itself finds it beside its source. */
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

/** Some packages are CommonJS, and require what belongs to Node. */
const banner =
  "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"

/**
 * The path of a bundle of a TypeScript program, for `node` alone. Another worker may bundle it at
 * the same time: then the last one wins, with the same text.
 */
export const bundled = (entry: URL): Effect.Effect<string> =>
  Effect.suspend(() => {
    const source = fileURLToPath(entry)
    const digest = createHash("sha256").update(source).digest("hex").slice(0, 8)
    const outfile = join(inject("programs"), `${basename(source, ".ts")}-${digest}.mjs`)
    if (existsSync(outfile)) return Effect.succeed(outfile)
    const draft = `${outfile}.${process.pid}`
    return Effect.promise(() =>
      build({
        entryPoints: [source],
        outfile: draft,
        bundle: true,
        platform: "node",
        format: "esm",
        target: "node20",
        logLevel: "error",
        banner: { js: banner },
        plugins: [atHome]
      }).then(() => rename(draft, outfile))
    ).pipe(Effect.as(outfile))
  })

/** The command `idv-mock`, bundled. */
export const idvMock = bundled(new URL("../../src/bin.ts", import.meta.url))
