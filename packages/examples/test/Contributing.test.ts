/** Compares the recipes of CONTRIBUTING.md with the code. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { documents, root } from "./support/documents.ts"

const packages = join(root, "packages")

const filesIn = (folder: string) =>
  readdirSync(join(packages, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|yaml)$/.test(entry.name))
    .map(({ name, parentPath }) => join(parentPath, name))

/** The files outside of the tests, and the wrong servers of the contract. */
const files = [
  ...readdirSync(packages).map((name) => join(name, "src")),
  "contract/contract",
  "contract/test/mutants"
].flatMap(filesIn).map((path) => ({ path: relative(packages, path), text: readFileSync(path, "utf8") }))

const page = documents.find(({ path }) => path === "CONTRIBUTING.md")?.text ?? ""
const section = page.split("\n## ").find((text) => text.startsWith("Recipes\n")) ?? ""

const recipes = Array.from(
  section.matchAll(/^[^\n]*such as `([^`]+)`[^\n]*:\n\n((?:- [^\n]+\n)+)/gm),
  ([, example = "", list = ""]) => ({
    example,
    paths: list.split("\n").flatMap((item) =>
      Array.from(item.split(": ")[0]?.matchAll(/`([^`]+)`/g) ?? [], ([, path = ""]) => path)
    )
  })
)

describe("The recipes of CONTRIBUTING.md", () => {
  it("exist for an option, a per-call option, an error, a session option, a fault, a header and a case", () => {
    assert.strictEqual(recipes.length, 7)
  })

  it.each(recipes)("list each file that has $example, and no other", ({ example, paths }) => {
    const word = new RegExp(`(?<![\\w-])${example.replaceAll(".", "\\.")}(?![\\w-]|\\.\\w)`)
    assert.sameMembers(files.filter(({ text }) => word.test(text)).map(({ path }) => path), paths)
  })

  it("name files that exist", () => {
    const all = readdirSync(packages).flatMap((name) => ["src", "test"].map((folder) => join(name, folder)))
      .flatMap((folder) =>
        readdirSync(join(packages, folder), { recursive: true }).map((name) => join(folder, String(name)))
      )
    const named = Array.from(section.matchAll(/`([\w/.-]+\.tsx?)`/g), ([, path = ""]) => path)
    assert.isAbove(named.length, 40)
    assert.deepStrictEqual(named.filter((path) => !all.some((file) => `/${file}`.endsWith(`/${path}`))), [])
  })
})
