/**
 * `pnpm advisories <file>` compares the components of a release with advisories: `{ "name": [{ "id", "title", "severity",
 * "url", "vulnerable_versions" }] }`. One about a component of a tarball or of the image is a failure. One about another
 * package of the lock file concerns only the development.
 */
import { Command } from "commander"
import * as Either from "effect/Either"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { exit } from "node:process"
import semver from "semver"
import { parse } from "yaml"

const print = (line) => process.stdout.write(`${line}\n`)
const fail = (message) => {
  process.stderr.write(`${message}\n`)
  exit(2)
}
const command = new Command("pnpm advisories")
  .description("Compares the components of a release with advisories, without a network")
  .argument("[file]", "What npm's bulk endpoint responds")
  .option("--in <folder>", "The folder of the release", "release")
  .option("--request", "Print the request to the bulk endpoint instead", false)
  .parse()
const [file] = command.args
const values = command.opts()

/** The versions of every package of the lock file. */
const locked = new Map()
for (const key of Object.keys(parse(readFileSync("pnpm-lock.yaml", "utf8")).packages)) {
  const at = key.lastIndexOf("@")
  const name = key.slice(0, at)
  locked.set(name, [...locked.get(name) ?? [], key.slice(at + 1)])
}

/** A JSON document of this file, or an end with its name. */
const read = (path) => {
  if (!existsSync(path)) return fail(`${path} does not exist`)
  const text = readFileSync(path, "utf8")
  return Either.getOrElse(Either.try(() => JSON.parse(text)), () => fail(`${path} is not JSON`))
}

if (values.request) {
  print(JSON.stringify(Object.fromEntries(locked)))
  exit(0)
}
if (file === undefined) fail("Name a file with advisories: pnpm advisories --help")
if (!existsSync(values.in)) fail(`${values.in} does not exist: run pnpm release, or name its folder with --in`)

const lists = readdirSync(values.in).filter((name) => name.endsWith(".cdx.json"))
if (lists.length === 0) fail(`${values.in} has no list of components (*.cdx.json)`)
const released = lists.flatMap((list) =>
  (read(join(values.in, list)).components ?? []).map(({ group, name, properties = [], version }) => ({
    isBundled: properties.some(({ name }) => name === "cdx:npm:package:bundled"),
    list: list.replace(/\.cdx\.json$/, ""),
    name: group === undefined ? name : `${group}/${name}`,
    version
  }))
)

const advisories = Object.entries(read(file)).flatMap(([name, list]) => {
  if (!Array.isArray(list)) return fail(`${file}: ${name} should be a list of advisories`)
  return list.map((advisory) => {
    if (semver.validRange(advisory.vulnerable_versions) === null) {
      fail(`${file}: an advisory about ${name} has no range in vulnerable_versions`)
    }
    return { ...advisory, name }
  })
})

let failures = 0
let developmentOnly = 0
for (const { name, severity = "unknown", title = "", url = "", vulnerable_versions: range } of advisories) {
  const concerns = (entry) => entry.name === name && semver.satisfies(entry.version, range, { includePrerelease: true })
  const hits = released.filter(concerns)
  const versions = (locked.get(name) ?? []).filter((version) => concerns({ name, version }))
  if (hits.length > 0) {
    failures++
    for (const { isBundled, list, version } of hits) {
      print(
        `RELEASED     ${name} ${version} ${
          isBundled ? "bundled in" : "installed with"
        } ${list}: ${severity}, ${title} ${url}`
      )
    }
  } else if (versions.length > 0) {
    developmentOnly++
    print(`development  ${name} ${versions.join(", ")}: ${severity}, ${title} ${url}`)
  }
}
print(
  `${released.length} components of ${lists.length} lists, ${advisories.length} advisories: ${failures} about what is ` +
    `released, ${developmentOnly} only about the development`
)
exit(failures === 0 ? 0 : 1)
