/**
 * Builds the native part of `better-sqlite3`, if it is not there. The workspace does not do it when
 * it installs, because where there is no binary to download it is compiled, which takes minutes.
 * `--debug` compiles it without optimising, in half the time, and downloads nothing.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const { resolve } = createRequire(import.meta.resolve("@effect/sql-sqlite-node"))
const folder = dirname(resolve("better-sqlite3/package.json"))

const run = (command, args) => spawnSync(command, args, { cwd: folder, encoding: "utf8", stdio: "pipe" })
const isThere = () => run(process.execPath, ["-e", "new (require('.'))(':memory:')"]).status === 0

/** The headers beside this Node, where it has them: they need not be downloaded. */
const installed = dirname(dirname(process.execPath))
const headers = existsSync(join(installed, "include/node/node.h")) ? [`--nodedir=${installed}`] : []

if (!isThere()) {
  process.stderr.write("better-sqlite3 has no binary yet: getting one, which may take minutes.\n")
  const script = process.argv.includes("--debug") ? "build-debug" : "install"
  const { error, stderr } = run("npm", ["run", script, ...headers])
  if (!isThere()) {
    process.stderr.write(`${stderr ?? ""}${error ?? ""}\nSQLite cannot be used: see above.\n`)
    process.exitCode = 1
  }
}
