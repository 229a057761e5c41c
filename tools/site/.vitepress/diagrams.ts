/** A plugin of markdown-it that draws the Mermaid diagrams of the pages as SVG during the build. */
import { renderMermaidSVG } from "beautiful-mermaid"
import type { MarkdownRenderer } from "vitepress"

/** The colours follow the scheme of the page. */
const colors = {
  bg: "var(--vp-c-bg)",
  fg: "var(--vp-c-text-1)",
  muted: "var(--vp-c-text-2)",
  font: "inherit",
  transparent: true
}

/** Without the import of a font from another host. */
const svg = (source: string): string =>
  renderMermaidSVG(source, colors).replace(/@import url\([^)]*\);/, "")
    .replace("<svg ", "<svg role=\"img\" aria-label=\"Diagram\" ")

export const diagrams = (md: MarkdownRenderer): void => {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token?.info.trim() !== "mermaid") return fence?.(tokens, index, ...rest) ?? ""
    // The compiler of Vue would remove the style of an SVG in the page.
    return `<div class="diagram" tabindex="0" v-html="${
      md.utils.escapeHtml(JSON.stringify(svg(token.content)))
    }"></div>\n`
  }
}
