import { defineConfig } from "vitest/config"
import config from "../../vitest.config.ts"

/** The tests that need a Redis server, which no npm package contains. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["packages/core/test/TokenStoreRedis.test.ts"],
    exclude: [],
    reporters: ["verbose", ["json", { outputFile: "node_modules/.cache/tests-redis.json" }]]
  }
})
