/**
 * Publishes the packages whose version is not on npm yet, in CI by trusted publishing. With `--dry-run` it builds and
 * packs them, prints what would be published, and publishes nothing.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"

const { "dry-run": isDryRun } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } }).values

// Commands of npm need a shell on Windows.
const shell = process.platform === "win32"
const run = (command, ...args) =>
  execFileSync(command, args, { encoding: "utf8", shell, stdio: ["ignore", "pipe", "inherit"] })
const pnpm = (...args) => run("pnpm", ...args)

const root = new URL("../../packages/", import.meta.url)
const packages = readdirSync(root)
  .map((folder) => JSON.parse(readFileSync(new URL(`${folder}/package.json`, root), "utf8")))
  .filter((manifest) => manifest.private !== true)

/** What npm says of a tarball: its size, and those of its files. */
const contentOf = (tarball) => JSON.parse(run("npm", "pack", "--dry-run", "--json", "--silent", tarball))[0]

const print = (line) => process.stdout.write(`${line}\n`)

const kib = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`

const show = (manifest, tarball) => {
  const { entryCount, files, size, unpackedSize } = contentOf(tarball)
  const { access, exports, provenance } = manifest.publishConfig
  const paths = new Set(files.map(({ path }) => path))
  const untyped = [
    ...Object.entries(exports).filter(([, target]) => target?.default?.endsWith(".js") && target.types === undefined)
      .map(([path]) => path),
    ...[...paths].filter((path) => /^dist\/.+\.js$/.test(path) && !paths.has(path.replace(/\.js$/, ".d.ts")))
  ]
  print(`\n${manifest.name} ${manifest.version}`)
  print(`  tarball     ${kib(size)}, ${entryCount} files, unpacked ${kib(unpackedSize)}`)
  const folderOf = ({ path }) => path.includes("/") ? path.split("/")[0] : "."
  for (const folder of [...new Set(files.map(folderOf))].sort()) {
    const inside = files.filter((file) => folderOf(file) === folder)
    const bytes = inside.reduce((total, file) => total + file.size, 0)
    print(`  ${folder.padEnd(11)} ${inside.length} files, ${kib(bytes)}`)
  }
  print(`  types       ${untyped.length === 0 ? "every module has types" : `missing for ${untyped.join(", ")}`}`)
  print(`  access      ${access}, provenance ${provenance === true ? "on" : "off"}`)
  print(`  repository  ${manifest.repository?.url ?? "missing: npm refuses provenance without it"}`)
}

// The compiler would keep the outputs of deleted sources.
for (const folder of readdirSync(root)) {
  for (const old of ["dist", "tsconfig.tsbuildinfo"]) {
    rmSync(new URL(`${folder}/${old}`, root), { recursive: true, force: true })
  }
}
pnpm("build")
if (isDryRun) {
  const folder = mkdtempSync(join(tmpdir(), "release-"))
  for (const manifest of packages) {
    pnpm("--filter", manifest.name, "pack", "--pack-destination", folder)
    const [name] = readdirSync(folder)
    show(manifest, join(folder, name))
    rmSync(join(folder, name))
  }
  rmSync(folder, { recursive: true })
  print("\nNothing was published.")
} else {
  print(pnpm("changeset", "publish"))
}
