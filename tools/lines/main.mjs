/** Prints the code lines of each package: `pnpm lines`. A line counts if it holds code, not only a comment. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import ts from "typescript"

const codeLines = (file) => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const lines = new Set()
  const visit = (node) => {
    const children = node.getChildren(source).filter(({ kind }) =>
      kind < ts.SyntaxKind.FirstJSDocNode || kind > ts.SyntaxKind.LastJSDocNode
    )
    children.forEach(visit)
    if (children.length > 0 || node.getWidth(source) === 0) return
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    const last = source.getLineAndCharacterOfPosition(node.end).line
    for (let line = first; line <= last; line++) lines.add(line)
  }
  visit(source)
  return lines.size
}

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "packages", "tools"], {
  encoding: "utf8"
}).split("\n").filter((file) => /\.(m?ts|tsx|mjs)$/.test(file))

/** `src`, `tests` (with type tests), or undefined for what is neither. */
const kindOf = (file) =>
  /^packages\/[^/]+\/src\//.test(file) ? "src" : /\/(test|typetest)\//.test(file) ? "tests" : undefined
const nameOf = (file) => file.startsWith("packages/") ? file.split("/")[1] : file.split("/").slice(0, 2).join("/")

const table = new Map()
for (const file of files) {
  const row = table.get(nameOf(file)) ?? { src: 0, tests: 0, other: 0 }
  row[kindOf(file) ?? "other"] += codeLines(file)
  table.set(nameOf(file), row)
}
const sum = (kind) => [...table.values()].reduce((total, row) => total + row[kind], 0)
table.set("all", { src: sum("src"), tests: sum("tests"), other: sum("other") })
const line = (cells) => cells.map((cell, i) => i === 0 ? cell.padEnd(24) : String(cell).padStart(8)).join("")
process.stdout.write(`${line(["", "src", "tests", "other"])}\n`)
for (const [name, { other, src, tests }] of table) process.stdout.write(`${line([name, src, tests, other])}\n`)
