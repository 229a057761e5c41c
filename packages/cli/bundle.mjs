/**
 * Bundles a command, or the modules, of a package into a few files, because a start with separate modules of Effect
 * spends most of its time on finding and reading them. `bundle/` is directly below the package, where the command finds `package.json`.
 */
import { build } from "esbuild"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The commands make no random values of schemas, so they need not load the library that makes them. */
const withoutFastCheck = {
  name: "without-fast-check",
  setup: ({ onLoad }) => onLoad({ filter: /node_modules\/fast-check\// }, () => ({ contents: "" }))
}

/**
 * `home` is the folder of the package, `entries` the module of each command or public module, and `external` names the
 * packages that are installed with the package instead of bundled.
 */
export const bundle = ({ entries, external, home, plugins = [], ...options }) => {
  const outdir = join(home, "bundle")
  rmSync(outdir, { recursive: true, force: true })

  return build({
    absWorkingDir: home,
    entryPoints: entries,
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
    ...options,
    plugins: [withoutFastCheck, ...plugins],
    // Some packages are CommonJS, and require modules of Node.
    banner: {
      js: "import { createRequire as requireFrom } from \"node:module\"; const require = requireFrom(import.meta.url);"
    }
  }).then(({ metafile: { inputs } }) => {
    const rootOf = (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
    const roots = new Set(Object.keys(inputs).map(rootOf).filter((root) => root !== undefined))
    const packages = Array.from(roots, (root) => {
      const folder = join(home, root)
      const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      return { folder, license, name, version }
    }).sort((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1))
    // For the list of components of the release: what is bundled is not in any `node_modules`.
    const list = packages.map(({ license, name, version }) => ({ name, version, license }))
    writeFileSync(join(outdir, "packages.json"), `${JSON.stringify(list, null, 2)}\n`)
    // Bundled code comes with its licence.
    const notices = packages.map(({ folder, license, name, version }) => {
      const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
      const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8")
      return `${name} ${version} (${license})\n\n${text.trim()}\n`
    })
    writeFileSync(join(outdir, "LICENSES.txt"), notices.join(`\n${"-".repeat(80)}\n\n`))
  })
}
