import { defineConfig } from "vitest/config"

/** As a team would have it that keeps a service of its own to the contract; here, broken ones. */
export default defineConfig({ test: { include: ["broken.ts"], root: import.meta.dirname, maxWorkers: 1 } })
