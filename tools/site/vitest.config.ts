import { defineConfig } from "vitest/config"

/** `pnpm docs:test`: builds the site and tests it in Chromium, and runs the recipe of Playwright. It takes minutes. */
export default defineConfig({
  test: {
    include: ["tools/site/test/*.test.ts", "packages/examples/test/recipesPlaywright.test.ts"],
    setupFiles: "packages/core/test/support/setup.ts",
    globalSetup: ["packages/mock-server/test/support/programs.ts", "tools/site/test/build.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    minWorkers: 1,
    maxWorkers: 1
  }
})
