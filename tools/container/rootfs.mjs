/**
 * Assembles the file system of the container image: Node with its libraries, the bundled command and the packages that
 * it loads. The Dockerfile and `pnpm container` run it, after a build: `node tools/container/rootfs.mjs <folder>`.
 * Two runs with the same sources write the same bytes, with the same times.
 */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const mockServer = fileURLToPath(new URL("../../packages/mock-server", import.meta.url))

/** The packages that are not in the bundle, besides the contract. */
const external = ["htmx.org", "jose", "prom-client", "yaml"]

const copy = (from, to, options = {}) => {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { dereference: true, recursive: true, ...options })
}

const packageFolder = (name, from) => {
  const folder = join(from, "node_modules", name)
  if (existsSync(folder)) return realpathSync(folder)
  if (dirname(from) === from) throw new Error(`${name} is not installed: run pnpm install`)
  return packageFolder(name, dirname(from))
}

/** The packages with these names, and those that they need when they run: `{ name, version, license, folder }`. */
export const installed = (names, from, found = new Map()) => {
  for (const name of names) {
    const folder = packageFolder(name, from)
    if (found.has(folder)) continue
    const { dependencies = {}, license, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    found.set(folder, { name, version, license, folder })
    installed(Object.keys(dependencies), folder, found)
  }
  return [...found.values()]
}

/** The packages of the image. Of the contract, the command reads only files. */
export const ofImage = () => [
  ...installed(["@effect-idv/contract"], mockServer).slice(0, 1),
  ...installed(external, mockServer)
]

/** The same time and the same permissions everywhere. */
const normalize = (path, time) => {
  const isFolder = lstatSync(path).isDirectory()
  if (isFolder) { for (const name of readdirSync(path)) normalize(join(path, name), time) }
  const isProgram = /(^|\/)(nodejs\/bin\/node|ld-linux[^/]*)$/.test(path)
  chmodSync(path, basename(path) === "tmp" && isFolder ? 0o1777 : isFolder || isProgram ? 0o755 : 0o644)
  utimesSync(path, time, time)
}

export const assemble = (root) => {
  if (existsSync(root) && readdirSync(root).length > 0) throw new Error(`${root} is not empty: name another folder`)
  const bundle = join(mockServer, "bundle")
  if (!existsSync(bundle)) throw new Error("packages/mock-server/bundle is missing: run pnpm build")

  copy(process.execPath, join(root, "nodejs/bin/node"))
  for (const [, library] of execFileSync("ldd", [process.execPath], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)) {
    copy(library, join(root, library))
  }
  const app = join(root, "app")
  copy(bundle, join(app, "bundle"))
  for (const name of ["package.json", "LICENSE"]) copy(join(mockServer, name), join(app, name))
  copy(fileURLToPath(new URL("healthcheck.mjs", import.meta.url)), join(app, "healthcheck.mjs"))
  for (const { folder, name } of ofImage()) {
    const to = join(app, "node_modules", name)
    if (existsSync(to)) throw new Error(`Two versions of ${name} are needed`)
    if (name === "@effect-idv/contract") {
      for (const path of ["package.json", "contract", "LICENSE"]) copy(join(folder, path), join(to, path))
    } else {
      copy(folder, to, { filter: (path) => basename(path) !== "node_modules" })
    }
  }
  for (const folder of ["etc", "tmp", "proc"]) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, "etc/passwd"), "nonroot:x:65532:65532:nonroot:/tmp:/sbin/nologin\n")
  writeFileSync(join(root, "etc/group"), "nonroot:x:65532:\n")
  normalize(root, 0)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder] = process.argv
  if (folder === undefined) throw new Error("<folder> is missing: expected the path of an empty folder")
  assemble(folder)
}
