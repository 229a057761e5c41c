import { defineConfig } from "vitest/config"

/** The configuration of a team that tests its own service. Here, the services are a mutant, a sandbox and none. */
export default defineConfig({ test: { include: ["targets.ts"], root: import.meta.dirname, maxWorkers: 1 } })
