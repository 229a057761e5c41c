/**
 * Checks the terms of the pages, and of the comments and texts in the sources, the tests and the code of the pages:
 * `pnpm prose`. ESLint checks names (`id-denylist`).
 */
import { readdirSync, readFileSync } from "node:fs"
import { createLinter, loadTextlintrc } from "textlint"
import ts from "typescript"

const skipped = /(^|\/)(node_modules|dist|bundle|\.documents|\.git|\.changeset)(\/|$)|^docs\/reference\//

/** The files of a folder and of its folders. */
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    return skipped.test(path) ? [] : entry.isDirectory() ? filesIn(path) : [path]
  })

const files = [...readdirSync("."), ...["docs", "packages", "tools"].flatMap(filesIn)].filter((file) =>
  file.endsWith(".md") || /^packages\/[^/]+\/(src|test)\/.*\.tsx?$/.test(file)
)

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
  const add = (from, prose) => {
    const first = source.getLineAndCharacterOfPosition(from).line
    prose.split("\n").forEach((line, i) => {
      // The start of a comment, and the tags of JSDoc, are not prose.
      lines[first + i] += ` ${line.trim().replace(/^\/?\*+\/?|\*\/|^\/\//g, "").replace(/@\w+/g, "")}`
    })
  }
  const comments = new Set()
  const visit = (node) => {
    for (const { end, pos } of ts.getLeadingCommentRanges(text, node.pos) ?? []) {
      if (!comments.has(pos)) add(pos, text.slice(pos, end))
      comments.add(pos)
    }
    // The quotes of a template are not those of code in Markdown.
    if (texts.has(node.kind) && node.getText().trim().includes(" ")) {
      add(node.getStart(), node.getText().replaceAll("`", ""))
    }
    node.getChildren(source).filter(({ kind }) => kind < SyntaxKind.FirstJSDocNode || kind > SyntaxKind.LastJSDocNode)
      .forEach(visit)
  }
  visit(source)
  return lines.map((line) => line.trim()).join("\n\n")
}

/** The comments and texts of the code blocks, on their lines, as Markdown. */
const codeOf = (text) => {
  const lines = text.split("\n").map(() => "")
  for (const { 1: language, 2: code, index } of text.matchAll(/^```(\w*)\n(.*?)^```/gms)) {
    const first = text.slice(0, index).split("\n").length
    const prose = language === "ts"
      ? proseOf("block.ts", code).split("\n\n")
      : code.split("\n").map((line) => ["", "sh"].includes(language) ? line.replace(/^.*?# |^ +/, "") : "")
    prose.forEach((line, i) => {
      lines[first + i] = line
    })
  }
  return lines.join("\n\n")
}

const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: "tools/prose/textlintrc.json" }) })

let problems = 0
for (const file of files) {
  const text = readFileSync(file, "utf8")
  const isMarkdown = file.endsWith(".md")
  const texts = isMarkdown ? [text, codeOf(text)] : [proseOf(file, text)]
  for (const prose of texts) {
    const { messages } = await linter.lintText(prose, `${file}.md`)
    for (const { line, message } of messages) {
      problems += 1
      process.stdout.write(`${file}:${prose === text ? line : Math.ceil(line / 2)} ${message}\n`)
    }
  }
}
process.stdout.write(`${files.length} files, ${problems} problems\n`)
process.exitCode = problems === 0 ? 0 : 1
