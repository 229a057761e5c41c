/** Checks the terms of the pages, and of the comments and messages in the sources: `pnpm prose`. */
import { readdirSync, readFileSync } from "node:fs"
import { createLinter, loadTextlintrc } from "textlint"
import ts from "typescript"

const skipped = /(^|\/)(node_modules|dist|bundle|\.documents|\.git|\.changeset|test)(\/|$)|^docs\/reference\//

const files = [
  ...readdirSync("."),
  ...["docs", "packages", "tools"].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`)
  )
].filter((file) => !skipped.test(file) && (file.endsWith(".md") || /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file)))

const { SyntaxKind } = ts
const texts = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.JsxText
])

/** The comments and the messages of a source file (strings of several words), each on its line, as Markdown. */
const proseOf = (file, text) => {
  const lines = text.split("\n").map(() => "")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const add = (from, to) => {
    const first = source.getLineAndCharacterOfPosition(from).line
    text.slice(from, to).split("\n").forEach((line, i) => {
      // What a comment begins with, and the tags of JSDoc, are not prose.
      lines[first + i] += ` ${line.trim().replace(/^\/?\*+\/?|\*\/|^\/\//g, "").replace(/@\w+/g, "")}`
    })
  }
  const comments = new Set()
  const visit = (node) => {
    for (const { end, pos } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      if (!comments.has(pos)) add(pos, end)
      comments.add(pos)
    }
    if (texts.has(node.kind) && node.getText().trim().includes(" ")) add(node.getStart(), node.end)
    node.getChildren(source).filter(({ kind }) => kind < SyntaxKind.FirstJSDocNode || kind > SyntaxKind.LastJSDocNode)
      .forEach(visit)
  }
  visit(source)
  return lines.map((line) => line.trim()).join("\n\n")
}

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: "tools/prose/textlintrc.json" }) })

let problems = 0
for (const file of files) {
  const text = readFileSync(file, "utf8")
  const isMarkdown = file.endsWith(".md")
  const { messages } = await linter.lintText(isMarkdown ? text : proseOf(file, text), `${file}.md`)
  for (const { line, message } of messages) {
    problems += 1
    process.stdout.write(`${file}:${isMarkdown ? line : Math.ceil(line / 2)} ${message}\n`)
  }
}
process.stdout.write(`${files.length} files, ${problems} problems\n`)
process.exitCode = problems === 0 ? 0 : 1
