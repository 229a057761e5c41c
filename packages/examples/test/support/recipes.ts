/** The sources of the recipes, which the pages in docs link or show. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../src/recipes", import.meta.url))

const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))
  .filter((path) => /\.(ts|yml)$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, "utf8") }))

/** The files of the recipes. */
export const paths = files.map(({ path }) => path)

/** Returns the file of which the code is a part. */
export const fileOf = (code: string): string | undefined => files.find(({ text }) => text.includes(code))?.path

/** Changes the relative imports of a recipe so that a copy of it works in another folder. */
export const importedFrom = (target: string, code: string): string => {
  const file = fileOf(code)
  return file === undefined ? code : code.replaceAll(
    /(?<= from ")\.[^"]+/g,
    (specifier) => relative(target, join(dirname(file), specifier))
  )
}
