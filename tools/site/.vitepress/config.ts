/** The site: the pages in `docs` as they are, with the README of the repository as the first page. */
import { slug } from "github-slugger"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type DefaultTheme, defineConfig } from "vitepress"
import { diagrams } from "./diagrams.ts"
import { links, pageOf } from "./links.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(`${root}/packages/core/package.json`, "utf8")
)

const current = version.replace(/\.\d+$/, "")

/**
 * The versions on the host, such as `0.2,0.1`, the newest first. It is at `DOCS_URL`, and each older one in a folder with
 * its name.
 */
const versions = process.env["DOCS_VERSIONS"]?.split(",") ?? [current]

/** Where the versions are published, such as `https://acme.example/effect-idv/`. */
const site = process.env["DOCS_URL"] ?? "http://localhost/"

const urlOf = (version: string) => new URL(versions.indexOf(version) > 0 ? `${version}/` : "", site)

const titleOf = (path: string) => /^# (.+)$/m.exec(readFileSync(`${root}/docs/${path}`, "utf8"))?.[1] ?? path

const page = (text: string, path: string): DefaultTheme.SidebarItem => ({
  text,
  link: `/${path}`.replace(/(README)?\.md$/, "")
})

const section = (text: string, items: ReadonlyArray<DefaultTheme.SidebarItem>) => ({ text, items: [...items] })

/** A section that is closed at first. Its title is a link, because a screen reader cannot reach a button in a button. */
const closed = (text: string, path: string, items: ReadonlyArray<DefaultTheme.SidebarItem>) => ({
  ...page(text, path),
  items: [...items],
  collapsed: true
})

const modules = (name: string, first: string) => {
  const folder = `reference/${name}/src`
  const files = readdirSync(`${root}/docs/${folder}`).sort()
  return closed(
    `@effect-idv/${name}`,
    `${folder}/${first}.md`,
    files.map((file) => page(file.replace(".md", ""), `${folder}/${file}`))
  )
}

const decisions = readdirSync(`${root}/docs/decisions`).filter((file) => /^\d/.test(file)).sort()

/** Pages that no section names are listed at the end, so that a new page is never without a link. */
const sections = [
  section("Start", [
    page("Overview", "README.md"),
    page("Getting started", "getting-started.md"),
    page("The service", "service.md"),
    page("How it differs", "comparison.md"),
    page("Options", "options.md"),
    page("Glossary", "glossary.md"),
    page("Troubleshooting", "troubleshooting.md")
  ]),
  section("Recipes", [
    page("All recipes", "recipes/README.md"),
    page("Web backends", "recipes/web.md"),
    page("Queue", "recipes/queue.md"),
    page("Tests", "recipes/testing.md")
  ]),
  section("Client", [
    page("Screening people", "checks.md"),
    page("Errors", "errors.md"),
    page("Access token", "tokens.md"),
    page("Sharing a token", "token-sharing.md"),
    page("Rescreening", "rescreening.md"),
    page("Reviewing and auditing", "rescreening-review.md"),
    page("Going live", "production.md"),
    page("Operating", "operating.md")
  ]),
  section("Tests", [
    page("Testing", "testing.md"),
    page("Test any client", "test-any-client.md"),
    page("Mock server", "mock-server.md"),
    page("Contract", "contract.md"),
    page("Assumptions", "assumptions.md")
  ]),
  section("Project", [
    page("Architecture", "architecture.md"),
    page("Performance", "performance.md"),
    page("Effect 4", "effect-4.md"),
    page("Support", "support.md"),
    page("Security", "security.md"),
    page("Contributing", "contributing.md")
  ]),
  section("API reference", [
    modules("core", "AmlClient"),
    modules("mock-server", "MockServer"),
    modules("contract", "Conformance"),
    modules("rescreening", "Rescreening"),
    modules("effect-4", "Idv")
  ]),
  closed(
    "Decisions",
    "decisions/README.md",
    decisions.map((file) => page(titleOf(`decisions/${file}`), `decisions/${file}`))
  )
]

const listed = new Set(sections.flatMap(({ items }) => items.map(({ link }) => link)))
const others = readdirSync(`${root}/docs`).filter((file) => file.endsWith(".md"))
  .map((file) => page(titleOf(file), file)).filter(({ link }) => !listed.has(link))

export default defineConfig({
  title: "effect-idv",
  description: "A typed Effect client, a mock server and a contract suite for an identity verification service",
  lang: "en",
  // No icon. Without this line, each reader's browser would request one that does not exist.
  head: [["link", { rel: "icon", href: "data:," }]],
  base: urlOf(current).pathname,
  srcDir: "../..",
  srcExclude: [
    "!(docs|packages)/**/*.md",
    "!(README|SECURITY|CONTRIBUTING).md",
    "packages/*/!(README).md",
    "packages/!(examples)/*/**/*.md",
    "packages/examples/!(src)/**/*.md",
    "packages/examples/src/**/!(README).md"
  ],
  rewrites: pageOf,
  outDir: "dist",
  cacheDir: "../../node_modules/.cache/vitepress",
  cleanUrls: true,
  // `pnpm docs:test` checks the links of the built pages, with their anchors.
  ignoreDeadLinks: true,
  vite: {
    // The search index, which is loaded when a reader opens the search.
    build: { chunkSizeWarningLimit: 2000 },
    resolve: { dedupe: ["vue"] },
    plugins: [{
      // The pages are outside of this package, so Vue is not found from them when they are rendered on the server.
      name: "vue of this package",
      enforce: "pre",
      resolveId: (id, _importer, { ssr = false }) => ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined
    }]
  },
  markdown: {
    anchor: { slugify: slug },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config: (md) => void md.use(diagrams).use(links, { root, repositoryUrl: process.env["DOCS_REPOSITORY_URL"] })
  },
  themeConfig: {
    nav: [
      { text: "Getting started", link: "/getting-started" },
      { text: "Recipes", link: "/recipes/" },
      { text: "Errors", link: "/errors" },
      { text: "API", link: "/reference/" },
      {
        text: `v${version}`,
        items: versions.map((version) => ({ text: `v${version}`, link: urlOf(version).href, target: "_self" }))
      }
    ],
    sidebar: others.length === 0 ? sections : [...sections, section("More", others)],
    outline: { level: [2, 3] },
    search: {
      provider: "local",
      options: {
        miniSearch: {
          // Pages that explain come before the reference and the decisions.
          searchOptions: { boostDocument: (id: string) => /^\/(reference|decisions)\//.test(id) ? 0.2 : 1 }
        }
      }
    },
    externalLinkIcon: true
  }
})
