/** Tests the built site: its links in the files, and its pages and its search in Chromium. */
import { layer } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { describe, inject, it } from "vitest"
import * as Browser from "../../../packages/mock-server/test/support/browser.ts"
import { fileFor, serve } from "./server.ts"

const docs = fileURLToPath(new URL("../../../docs", import.meta.url))
const dist = inject("site")
const repositoryUrl = inject("repositoryUrl")

const pages = readdirSync(dist, { recursive: true }).map(String).filter((name) => name.endsWith(".html"))
  .map((name) => {
    const html = readFileSync(`${dist}/${name}`, "utf8")
    return {
      path: `/${name.replace(/(index)?\.html$/, "")}`,
      main: /<main[^]*<\/main>/.exec(html)?.[0] ?? "",
      ids: new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id)),
      hrefs: Array.from(html.matchAll(/<a [^>]*href="([^"]+)"/g), ([, href = ""]) => href.replaceAll("&amp;", "&"))
    }
  })

const byPath = new Map(pages.map((page) => [page.path, page]))

/** The links of a page that lead nowhere. */
const deadLinks = ({ hrefs, path }: typeof pages[number]) =>
  hrefs.filter((href) => {
    const url = new URL(href, `http://site${path}`)
    if (url.host !== "site") return false
    const target = byPath.get(url.pathname) ?? byPath.get(`${url.pathname}/`)
    if (target === undefined) return fileFor(dist, url.pathname) === undefined
    return url.hash !== "" && !target.ids.has(decodeURIComponent(url.hash.slice(1)))
  }).map((href) => `${path}: ${href}`)

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const serious = `axe.run().then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ": " + html + " " + failureSummary)))`

const open = (url: string, colorScheme: "light" | "dark" = "light", width = 1280) =>
  Browser.open(url, { colorScheme, viewport: { width, height: 900 } })

describe("The site", () => {
  it("has a page for each document", () => {
    assertTrue(pages.length > 90, `${pages.length} pages`)
    const first = byPath.get("/")?.main.replaceAll(/<[^>]+>/g, "") ?? ""
    for (const text of ["identity verification service", "pnpm@10.34.9 demo", "4 people, 1 token request."]) {
      assertInclude(first, text)
    }
  })

  it("has no dead link", () => {
    deepStrictEqual(pages.flatMap(deadLinks), [])
  })

  it("draws each diagram, and shows the source of none", () => {
    const drawn = pages.flatMap(({ main }) => main.match(/<svg [^>]*aria-label="Diagram"/g) ?? [])
    const sources = readdirSync(docs, { recursive: true }).map(String).filter((name) => name.endsWith(".md"))
      .flatMap((name) => readFileSync(`${docs}/${name}`, "utf8").match(/^```mermaid$/gm) ?? [])
    assertTrue(sources.length > 0)
    deepStrictEqual(drawn.length, sources.length)
    deepStrictEqual(
      pages.filter(({ main }) => /class="lang">mermaid|fonts\.googleapis/.test(main)).map(({ path }) => path),
      []
    )
  })

  it("has the security page and the packages as pages, which need no address of the repository", () => {
    const hrefs = new Set(byPath.get("/")?.hrefs)
    for (
      const path of [
        "/security",
        "/contributing",
        "/packages/core",
        "/packages/mock-server",
        "/examples/onboarding-api"
      ]
    ) {
      assertTrue(byPath.has(path) && hrefs.has(path), path)
    }
  })

  it("links to files of the repository at the address of DOCS_REPOSITORY_URL", () => {
    const external = pages.flatMap(({ hrefs }) => hrefs).filter((href) => href.startsWith(repositoryUrl))
    assertTrue(external.includes(`${repositoryUrl}/packages/core/test/FailClosed.test.ts`))
    assertTrue(external.length > 50, `${external.length} links`)
  })
})

layer(Browser.layer, { excludeTestServices: true })("The site in Chromium", (it) => {
  for (const [query, page] of [["sent", "/errors"], ["429", "/"], ["potential match", "/"]] as const) {
    it.scoped(`finds "${query}"`, () =>
      Effect.gen(function*() {
        const tab = yield* open(yield* serve(dist))
        // Before Vue has started, the page does not listen to keys.
        yield* tab.act((page) => page.waitForFunction("document.querySelector('#app').__vue_app__ !== undefined"))
        yield* tab.act((page) => page.keyboard.press("Control+k"))
        yield* tab.act((page) => page.locator("#localsearch-input").fill(query))
        yield* tab.sees("#localsearch-list .result")
        const results = yield* tab.act((page) =>
          page.locator("#localsearch-list a.result").evaluateAll((links) =>
            links.map((link) => link.getAttribute("href") ?? "")
          )
        )
        assertTrue(results.length > 3, `${results.length} results`)
        assertInclude(results.join("\n"), page)
        yield* tab.act((page) => page.keyboard.press("Enter"))
        yield* tab.act((page) => page.waitForURL((url) => url.pathname !== "/" || url.hash !== ""))
      }))
  }

  for (const colorScheme of ["light", "dark"] as const) {
    for (const path of ["/", "/getting-started", "/errors", "/architecture", "/reference/core/src/AmlError"]) {
      it.scoped(`${path} has no serious finding of axe in the ${colorScheme} scheme`, () =>
        Effect.gen(function*() {
          const tab = yield* open(`${yield* serve(dist)}${path}`, colorScheme)
          yield* tab.sees(".VPDoc h1")
          yield* tab.act((page) => page.evaluate(axe))
          deepStrictEqual(yield* tab.act((page) => page.evaluate(serious)), [])
        }))
    }
  }

  it.scoped("fits a screen of 390 px, and prints its weight", () =>
    Effect.gen(function*() {
      const url = yield* serve(dist)
      const lines: Array<string> = []
      for (const path of ["/", "/errors", "/recipes/web", "/reference/core/src/AmlError"]) {
        const tab = yield* open(`${url}${path}`, "light", 390)
        yield* tab.sees(".VPDoc h1")
        yield* tab.act((page) => page.waitForLoadState("networkidle"))
        const width = yield* tab.act((page) => page.evaluate("document.documentElement.scrollWidth"))
        deepStrictEqual(width, 390)
        const bytes = yield* tab.act((page) =>
          page.evaluate(
            "performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)"
          )
        )
        lines.push(`${path} ${Math.round(Number(bytes) / 1024)} KiB`)
      }
      process.stdout.write(`Not compressed, without the search index:\n${lines.join("\n")}\n`)
    }))
})
