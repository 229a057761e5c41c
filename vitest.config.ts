import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts"],
    reporters: ["verbose"],
    // The TestClock takes 10 ms for every timer that it passes, and some tests pass a thousand.
    testTimeout: 60_000,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**"],
      // Run as programs of their own, by tests that start them.
      exclude: ["packages/mock-server/src/bin.ts", "packages/examples/src/**"],
      thresholds: { statements: 95, branches: 90, functions: 95, lines: 95 }
    }
  }
})
