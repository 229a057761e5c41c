/** Runs the snippets of the documents for Effect 4. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, it } from "vitest"

const docs = fileURLToPath(new URL("../../../docs", import.meta.url))
const folder = fileURLToPath(new URL(".documents", import.meta.url))
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const snippets = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"))
  .flatMap((path) =>
    Array.from(readFileSync(join(docs, path), "utf8").matchAll(/^```ts\n(.*?)^```/gms), ([, code = ""], index) => ({
      name: `${path.replaceAll(/[^\w]+/g, "-")}-${index}.ts`,
      code
    }))
  ).filter(({ code }) => code.includes("@effect-idv/effect-4"))

describe("documents for Effect 4", () => {
  it.each(snippets)("$name can be loaded", ({ code, name }) => {
    // Without variables, `runPromise` would fail.
    writeFileSync(join(folder, name), code.replaceAll("void Effect.runPromise(main)", "export { main }"))
    return import(/* @vite-ignore */ join(folder, name))
  })
})
