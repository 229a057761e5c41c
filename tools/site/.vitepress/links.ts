/**
 * A plugin of markdown-it that changes the links of the pages for the site. Pages link to files of the repository, so
 * that the links also work on a code host.
 */
import { existsSync, statSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"
import type { MarkdownRenderer } from "vitepress"

export interface Options {
  /** The folder of the repository. */
  readonly root: string
  /**
   * The address of the repository's files, such as `https://github.com/acme/effect-idv/blob/main`. Without it, a link
   * to a file that is not part of the site becomes text.
   *
   * @default undefined
   */
  readonly repositoryUrl?: string | undefined
}

/** The page of a Markdown file of the repository: `docs/errors.md` is `errors.md`, and a README the index of its folder. */
export const pageOf = (file: string): string =>
  file.replace(/^docs\//, "").replace(/^packages\/examples\/src\//, "examples/")
    .replace(/^((?:packages|examples)\/[^/]+)\/README\.md$/, "$1.md").replace(/README\.md$/, "index.md")
    .replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase())

const isPage = (file: string): boolean =>
  /^(README|SECURITY|CONTRIBUTING|docs\/.+|packages\/([^/]+|examples\/src\/[^/]+)\/README)\.md$/.test(file)

/** Returns the target on the site or in the repository. Undefined drops the link and keeps its text. */
const targetOf = (href: string, page: string, { repositoryUrl, root }: Options): string | undefined => {
  if (/^(\w+:|#|\/)/.test(href)) return href
  const [path = "", anchor] = href.split("#")
  const file = normalize(join(dirname(page), path)).replace(/\/$/, "")
  const isFolder = existsSync(join(root, file)) && statSync(join(root, file)).isDirectory()
  const source = isFolder ? join(file, "README.md") : file
  const fragment = anchor === undefined ? "" : `#${anchor}`
  if (isPage(source) && existsSync(join(root, source))) {
    return `/${pageOf(source).replace(/(index)?\.md$/, "")}${fragment}`
  }
  return repositoryUrl === undefined ? undefined : `${repositoryUrl.replace(/\/$/, "")}/${file}${fragment}`
}

export const links = (md: MarkdownRenderer, options: Options): void => {
  md.core.ruler.push("links of the repository", ({ env, tokens }) => {
    const source = relative(options.root, env.realPath ?? env.path)
    for (const { children } of tokens) {
      let dropped = false
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const target = targetOf(token.attrGet("href") ?? "", source, options)
          dropped = target === undefined
          if (target === undefined) {
            token.type = "dropped_open"
            token.tag = "span"
            token.attrs = null
          } else token.attrSet("href", target)
        } else if (token.type === "link_close" && dropped) {
          token.type = "dropped_close"
          token.tag = "span"
          dropped = false
        }
      }
    }
  })
}
