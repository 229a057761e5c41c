/**
 * Runs the checks that take long or rarely find anything new, one after the other, and then names those that failed:
 * `pnpm test:nightly`. `pnpm test:nodes` runs only those on the supported versions of Node, which npm downloads, and
 * `pnpm test:nodes 24` on this version.
 */
import { spawnSync } from "node:child_process"

const [first, ...versions] = process.argv.slice(2)
/** `npx` hands its own options to the programs of the tests, which also call it. */
const withoutOptions = "unset npm_config_call npm_config_package"
const nodes = (versions.length > 0 ? versions : ["20.20", "22", "24", "26"]).map((version) => [
  `all tests on Node ${version}`,
  "npx",
  ["-y", "-p", `node@${version}`, "-c", `${withoutOptions} && node -v && vitest run`]
])
const pnpm = (...args) => [`pnpm ${args.join(" ")}`, "pnpm", args]

const steps = first === "--nodes" ? nodes : [
  pnpm("test:slow"),
  pnpm("check-reference"),
  pnpm("docs:test"),
  pnpm("mutation", "--sample"),
  // It builds the bundle that the container has.
  pnpm("package-consumer", "--all"),
  pnpm("container"),
  ...nodes
]

const failed = steps.filter(([name, command, args]) => {
  process.stdout.write(`\n== ${name}\n`)
  const started = Date.now()
  const { error, status } = spawnSync(command, args, { stdio: "inherit" })
  const isFailure = status !== 0
  const reason = error === undefined ? "" : `: ${error.message}`
  process.stdout.write(
    `${isFailure ? `FAILED: ${name}${reason} ` : ""}(${Math.round((Date.now() - started) / 1000)} s)\n`
  )
  return isFailure
})
process.stdout.write(`\n${steps.length - failed.length} of ${steps.length} passed\n`)
for (const [name] of failed) process.stdout.write(`  failed: ${name}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
