/** Writes the version of the manifest into the source that puts it into the evidence of a check. */
import { readFileSync, writeFileSync } from "node:fs"

const core = new URL("../../packages/core/", import.meta.url)
const { name, version } = JSON.parse(readFileSync(new URL("package.json", core), "utf8"))
const file = new URL("src/internal/wire/version.ts", core)
writeFileSync(file, readFileSync(file, "utf8").replace(/"[^"]*"/, `"${name} ${version}"`))
