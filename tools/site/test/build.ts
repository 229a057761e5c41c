/** The global setup: builds the site, as `pnpm docs:build` does, but into a directory of the tests. */
import { execFile } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** The directory of the built site. */
    readonly site: string
    /** The address for links to the repository. */
    readonly repositoryUrl: string
  }
}

const site = fileURLToPath(new URL("..", import.meta.url))
const dist = fileURLToPath(new URL("../../../node_modules/.cache/site", import.meta.url))
const vitepress = join(dirname(createRequire(import.meta.url).resolve("vitepress/package.json")), "bin", "vitepress.js")
const repositoryUrl = "https://code.example.com/effect-idv/blob/main"

export default ({ provide }: TestProject) => {
  provide("site", dist)
  provide("repositoryUrl", repositoryUrl)
  return promisify(execFile)(process.execPath, [vitepress, "build", site, "--outDir", dist], {
    env: { NODE_ENV: "production", DOCS_REPOSITORY_URL: repositoryUrl }
  }).then(() => undefined)
}
