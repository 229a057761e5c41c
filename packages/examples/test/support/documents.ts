/** Parses the Markdown documents: their code, headings and links. */
import { Array as Arr, Option } from "effect"
import GithubSlugger from "github-slugger"
import { marked, type Token } from "marked"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../../..", import.meta.url))

export interface Snippet {
  /** Path and line, such as `README.md:59`. */
  readonly location: string
  readonly language: string
  readonly code: string
  /** The text of the document after the snippet. */
  readonly after: string
}

export interface Document {
  readonly path: string
  readonly text: string
  readonly snippets: ReadonlyArray<Snippet>
  /** The fragments that a link may use after `#`. */
  readonly anchors: ReadonlySet<string>
  readonly links: ReadonlyArray<string>
}

const read = (path: string): Document => {
  const text = readFileSync(join(root, path), "utf8")
  const slugger = new GithubSlugger()
  const snippets: Array<Snippet> = []
  const anchors = new Set<string>()
  const links: Array<string> = []
  let offset = 0
  marked.walkTokens(marked.lexer(text), (token: Token) => {
    switch (token.type) {
      case "code": {
        offset = text.indexOf(token.raw, offset)
        const line = text.slice(0, offset).split("\n").length
        snippets.push({
          location: `${path}:${line}`,
          language: token["lang"] ?? "",
          code: token["text"],
          after: text.slice(offset + token.raw.length).trimStart()
        })
        return
      }
      case "heading":
        anchors.add(slugger.slug(token["text"].replaceAll("`", "")))
        return
      case "html":
        // The rows of a table in the reference.
        for (const [, id = ""] of token.raw.matchAll(/<a id="([^"]+)">/g)) anchors.add(id)
        return
      case "link":
      case "image":
        links.push(token["href"])
    }
  })
  return { path, text, snippets, anchors, links }
}

const markdownIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder)).filter((name) => name.endsWith(".md")).map((name) => join(folder, name))

const folders = [
  ".",
  "docs",
  "docs/decisions",
  "docs/recipes",
  ...["packages", "packages/examples/src", "tools"].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) =>
      join(folder, name)
    )
  )
]

export const readme = (example: string) => `packages/examples/src/${example}/README.md`

/** All documents except the generated reference. */
export const documents: ReadonlyArray<Document> = folders.flatMap(markdownIn).sort().map(read)

/** The blocks without a language show outputs. */
export const outputs = documents.flatMap(({ path, snippets }) =>
  snippets.filter(({ language }) => language === "").map(({ code }) => ({ path, code }))
)

/** The first output that a document shows. */
export const outputOf = (document: string) => outputs.find(({ path }) => path === document)?.code ?? ""

/** The modules of the packages. */
export const sources: ReadonlyArray<Pick<Document, "path" | "text">> = readdirSync(join(root, "packages"))
  .map((name) => join("packages", name, "src")).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, String(name)))
  )
  .filter((path) => /\.tsx?$/.test(path)).sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

/** The pages of the generated reference. */
export const reference: ReadonlyArray<Document> = readdirSync(join(root, "docs/reference"), { recursive: true })
  .map(String).filter((name) => name.endsWith(".md")).sort().map((name) => read(join("docs/reference", name)))

const byPath = new Map([...documents, ...reference].map((document) => [document.path, document]))

/** Returns the links to missing files and headings. Does not follow links to other hosts. */
export const brokenLinks = (exists: (path: string) => boolean): ReadonlyArray<string> =>
  [...byPath.values()].flatMap(({ links, path }) =>
    Arr.filterMap(links, (link) => {
      const [file = "", anchor] = link.split("#")
      const target = file === "" ? path : normalize(join(dirname(path), file))
      const isValid = /^https?:/.test(link) ||
        (exists(join(root, target)) && (anchor === undefined || byPath.get(target)?.anchors.has(anchor) === true))
      return isValid ? Option.none() : Option.some(`${path}: ${link}`)
    })
  )
