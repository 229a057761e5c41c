import { defineConfig } from "vitest/config"
import config from "./vitest.config.ts"

/** `pnpm test:slow`: the tests that measure real time or take long. They run one after the other, on a quiet machine. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["packages/*/test/**/*.nightly.test.ts"],
    exclude: [],
    reporters: ["verbose", ["json", { outputFile: "node_modules/.cache/tests-nightly.json" }]],
    minWorkers: 1,
    maxWorkers: 1
  }
})
