import { defineConfig } from "vitest/config"

// Effect is loaded once, and not once for each file.
export default defineConfig({
  test: { include: ["*.test.ts"], testTimeout: 60_000, isolate: false, minWorkers: 1, maxWorkers: 1 }
})
