/** The TypeScript in the documents for Effect 4, also in the reference, which shows the examples of the docstrings. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const docs = fileURLToPath(new URL("../../../../docs", import.meta.url))

export const all = readdirSync(docs, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"))
  .flatMap((path) =>
    Array.from(readFileSync(join(docs, path), "utf8").matchAll(/^```ts\n(.*?)^```/gms), ([, code = ""], index) => ({
      path,
      name: `${path.replaceAll(/[^\w]+/g, "-")}-${index}.ts`,
      code
    }))
  ).filter(({ code }) => code.includes("@effect-idv/effect-4"))
