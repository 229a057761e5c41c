import { defineConfig } from "vitest/config"

// One worker without isolation loads Effect once for all files.
export default defineConfig({
  test: { include: ["**/*.test.ts"], testTimeout: 60_000, isolate: false, minWorkers: 1, maxWorkers: 1 }
})
