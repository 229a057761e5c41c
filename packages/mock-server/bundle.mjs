/**
 * The command `idv-mock` for the package, in a few files: to find and read the modules of Effect one
 * by one takes most of its start. Right below the package, as its modules look for files there.
 */
import { build } from "esbuild"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const home = fileURLToPath(new URL(".", import.meta.url))
const outdir = join(home, "bundle")
const { dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"))

/** What is installed with the package, and seldom needed, or by itself. */
const external = Object.keys(dependencies).filter((name) => ["htmx.org", "jose", "prom-client", "yaml"].includes(name))

/** The command makes no random values of schemas, so `serve` need not load what makes them. */
const withoutFastCheck = {
  name: "without-fast-check",
  setup: ({ onLoad }) => onLoad({ filter: /node_modules\/fast-check\// }, () => ({ contents: "" }))
}

rmSync(outdir, { recursive: true, force: true })

const { metafile: { inputs } } = await build({
  absWorkingDir: home,
  entryPoints: { "idv-mock": "src/bin.ts" },
  outdir,
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  platform: "node",
  format: "esm",
  target: "node20",
  legalComments: "none",
  logLevel: "error",
  metafile: true,
  external,
  plugins: [withoutFastCheck],
  // Some packages are CommonJS, and require what belongs to Node.
  banner: {
    js: "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"
  }
})

/** What is copied comes with its licence. */
const rootOf = (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
const roots = new Set(Object.keys(inputs).map(rootOf).filter((root) => root !== undefined))
const notices = Array.from(roots, (root) => {
  const folder = join(home, root)
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8")
  return `${name} ${version} (${license})\n\n${text.trim()}\n`
})
writeFileSync(join(outdir, "LICENSES.txt"), notices.sort().join(`\n${"-".repeat(80)}\n\n`))
