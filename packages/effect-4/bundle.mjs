/**
 * Bundles the public modules with their engine, which is the client for Effect 3 with its own copy of Effect 3. Effect 4 is
 * a peer dependency, and Undici an ordinary one.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "../cli/bundle.mjs"

const home = fileURLToPath(new URL(".", import.meta.url))
const modules = readdirSync(join(home, "src")).filter((file) => file.endsWith(".ts")).map((file) => file.slice(0, -3))

/** Imports of this package's own sources are Effect 4, which is not bundled. Those of the engine are Effect 3. */
const peer = {
  name: "effect-4-is-a-peer",
  setup: ({ onResolve }) =>
    onResolve(
      { filter: /^effect(\/|$)/ },
      ({ importer, path }) => importer.startsWith(join(home, "src")) ? { path, external: true } : undefined
    )
}

await bundle({
  home,
  entries: Object.fromEntries(modules.map((name) => [name, `src/${name}.ts`])),
  external: ["undici"],
  plugins: [peer],
  minifyIdentifiers: true,
  // Node prints the line of an error.
  lineLimit: 120
})

/**
 * With Effect 3, Node would end with a stack trace about a module that does not exist. So each file first imports a module
 * that fails with a sentence, and imports only `effect` itself, which both versions have.
 */
const guard = `import * as Effect from "effect"
if (!("SchemaIssue" in Effect)) {
  const error = new Error("@effect-idv/effect-4 needs Effect 4.1 or later, but Effect 3 is installed: run npm install effect@4")
  error.stack = error.message
  throw error
}
`
writeFileSync(join(home, "bundle/requireEffect4.js"), guard)
for (const file of readdirSync(join(home, "bundle")).filter((file) => /^(?!requireEffect4).*\.js$/.test(file))) {
  const code = readFileSync(join(home, "bundle", file), "utf8").replaceAll(
    /import\s*\*\s*as ([\w$]+) from\s*"effect\/(\w+)";?/g,
    (_, name, module) => `import*as ${name}_ from"effect";const ${name}=${name}_.${module};`
  )
  writeFileSync(join(home, "bundle", file), `import "./requireEffect4.js";${code}`)
}
