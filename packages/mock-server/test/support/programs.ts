/** The global setup of the tests: creates a directory for the programs that they start, and ends the shared database. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import * as Postgres from "../../../../tools/test-services/Postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly programs: string
  }
}

const cache = fileURLToPath(new URL("../../../../node_modules/.cache", import.meta.url))

/** Each test run has its own directory. */
export default ({ provide }: TestProject) => {
  mkdirSync(cache, { recursive: true })
  const programs = mkdtempSync(join(cache, "programs-"))
  provide("programs", programs)
  return () => {
    Postgres.stopShared(programs)
    rmSync(programs, { recursive: true, force: true })
  }
}
