/**
 * Writes the import graphs of docs/architecture.md. With `--check`, fails if the page is out of date, or if an import
 * breaks a rule.
 */
import { cruise, format } from "dependency-cruiser"
import { readFileSync, writeFileSync } from "node:fs"
import config from "../../.dependency-cruiser.mjs"

const page = new URL("../../docs/architecture.md", import.meta.url)

const packageOf = (path) => /^packages\/([^/]+)\/src\//.exec(path)?.[1]
const coreRoomOf = (path) => /^packages\/core\/src\/internal\/([^/]+)\//.exec(path)?.[1]

const { options, ...ruleSet } = config
const { output } = await cruise(["packages"], { ...options, ruleSet, validate: true })
const { modules } = output

/** A Mermaid graph of the imports between groups of modules. */
const graph = (groupOf) => {
  const edges = new Set(modules.flatMap(({ dependencies, source }) =>
    dependencies.flatMap(({ resolved }) => {
      const [from, to] = [groupOf(source), groupOf(resolved)]
      return from === undefined || to === undefined || from === to ? [] : [`  ${from} --> ${to}`]
    })
  ))
  return ["```mermaid", "flowchart TD", ...[...edges].sort(), "```"].join("\n")
}

const graphs = { packages: graph(packageOf), coreRooms: graph(coreRoomOf) }

const before = readFileSync(page, "utf8")
const after = before.replace(
  /(<!-- graph: (\w+) -->\n).*?(<!-- end -->)/gs,
  (_, start, name, end) => `${start}${graphs[name]}\n${end}`
)
if (!process.argv.includes("--check")) writeFileSync(page, after)
else {
  const rules = await format(output, { outputType: "err-long" })
  process.stdout.write(rules.output)
  process.exitCode = rules.exitCode
  if (before !== after) {
    process.stderr.write("docs/architecture.md is out of date: run pnpm graph\n")
    process.exitCode = 1
  }
}
