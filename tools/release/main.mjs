/**
 * `pnpm release` writes everything of a release into a folder, and publishes nothing. The workflow `release` tests and
 * publishes these files. Two runs on one commit write the same bytes.
 */
import { Command } from "commander"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { env, exit } from "node:process"
import { fileURLToPath } from "node:url"

const print = (line) => process.stdout.write(`${line}\n`)
const refuse = (reason) => {
  process.stderr.write(`Nothing was packed: ${reason}\n`)
  exit(1)
}

const args = new Command("pnpm release")
  .description("Writes everything of a release into a folder, and publishes nothing")
  .option("--out <folder>", "An empty folder, or one that does not exist", "release")
  .option("--dry-run", "Do not ask npm whether the version exists: needs no network", false)
  .parse().opts()
const out = resolve(args.out)

// Commands of npm need a shell on Windows.
const shell = process.platform === "win32"
const run = (command, ...args) =>
  execFileSync(command, args, { encoding: "utf8", shell, stdio: ["ignore", "pipe", "inherit"] })

const folder = resolve("packages")
const packages = readdirSync(folder)
  .map((name) => ({
    home: join(folder, name),
    ...JSON.parse(readFileSync(join(folder, name, "package.json"), "utf8"))
  }))
  .filter((manifest) => manifest.private !== true)
// All packages have the same version, and a release has one tag.
const [{ version }] = packages
const tag = `v${version}`

/** Every reason not to release, before anything is built. */
const refuseWhatCannotBeReleased = () => {
  const repository = env.REPOSITORY_URL ?? ""
  if (!/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(repository) || repository.endsWith(".git")) {
    refuse("REPOSITORY_URL should be the address of the repository, such as https://github.com/owner/name")
  }
  if (run("git", "status", "--porcelain") !== "") {
    refuse("the working tree has changes: commit or remove them")
  }
  const notes = readdirSync(".changeset").filter((name) => name.endsWith(".md") && name !== "README.md")
  if (notes.length > 0) {
    const notesHave = notes.length === 1 ? "change note has" : "change notes have"
    const names = notes.slice(0, 3).join(", ")
    refuse(`${notes.length} ${notesHave} no version yet (${names}): run pnpm set-version, and commit`)
  }
  const existing = run("git", "tag", "--list").split("\n").find((name) => name === tag || name.endsWith(`@${version}`))
  if (existing !== undefined) {
    refuse(`the version exists as the tag ${existing}: add a change note, and run pnpm set-version`)
  }
  if (version === "0.0.0") refuse("the packages have no version yet: add a change note, and run pnpm set-version")
  if (args.dryRun) return
  for (const { name } of packages) {
    const { status, stdout } = spawnSync("npm", ["view", `${name}@${version}`, "version", "--json"], {
      encoding: "utf8",
      shell
    })
    // npm prints nothing about a version that does not exist, and E404 about a package that does not exist.
    const answer = JSON.parse(stdout.trim() || "{}")
    if (status === 0 && typeof answer === "string") {
      refuse(`${name} ${version} exists on npm: add a change note, and run pnpm set-version`)
    }
    const code = answer.error?.code
    if (code !== undefined && code !== "E404") refuse(`npm did not say whether ${name} ${version} exists (${code})`)
  }
}

/** What npm says of a tarball: its size, and those of its files. */
const contentOf = (tarball) => JSON.parse(run("npm", "pack", "--dry-run", "--json", "--silent", tarball))[0]

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
}

/** The part about this version of the changelog of each package. */
const changelog = () =>
  packages.map(({ home, name }) => {
    const text = readFileSync(join(home, "CHANGELOG.md"), "utf8")
    const [, section = ""] = text.split(`## ${version}\n`)
    return `# ${name} ${version}\n\n${section.split(/\n## /)[0].trim() || "No changes of its own."}\n`
  }).join("\n")

refuseWhatCannotBeReleased()
if (existsSync(out) && readdirSync(out).length > 0) refuse(`${out} is not empty: name another folder with --out`)

// The compiler would keep the outputs of deleted sources.
for (const name of readdirSync(folder)) {
  for (const old of ["dist", "tsconfig.tsbuildinfo"]) rmSync(join(folder, name, old), { recursive: true, force: true })
}
run("pnpm", "build")
mkdirSync(out, { recursive: true })
const pnpmfile = fileURLToPath(new URL("pnpmfile.cjs", import.meta.url))
const tarballOf = ({ name, version }) => `${name.replace("@", "").replace("/", "-")}-${version}.tgz`
for (const manifest of packages) {
  run("pnpm", "--filter", manifest.name, `--config.pnpmfile=${pnpmfile}`, "pack", "--pack-destination", out)
  show(manifest, join(out, tarballOf(manifest)))
}

const Components = await import("./components.mjs")
const date = new Date(run("git", "log", "-1", "--format=%cI").trim())
const write = (name, text) => writeFileSync(join(out, name), text)
for (const manifest of packages) {
  write(tarballOf(manifest).replace(/-[^-]*\.tgz$/, ".cdx.json"), Components.ofTarball(manifest.home, date))
}
const [, node] = /^FROM node:([\d.]+)/m.exec(readFileSync("packages/mock-server/Dockerfile", "utf8"))
write("idv-mock-image.cdx.json", Components.ofImageOf(node, date))
write("CHANGELOG.md", changelog())
write("packages.txt", packages.map((manifest) => `${manifest.name}@${version} ${tarballOf(manifest)}\n`).join(""))
write("tags.txt", `${tag}\n`)
const sums = readdirSync(out).sort().map((name) =>
  `${createHash("sha256").update(readFileSync(join(out, name))).digest("hex")}  ${name}\n`
)
write("SHA256SUMS", sums.join(""))
print(`\n${out}:`)
print(sums.join("").trimEnd())
print("\nNothing was published.")
