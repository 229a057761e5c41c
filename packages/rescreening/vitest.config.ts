import { defineConfig } from "vitest/config"
import config from "../../vitest.config.ts"

/** The tests that depend on real time or take long, which the default command excludes. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ["packages/rescreening/test/{Engine,Page,Rate,Workers,cli}.test.ts"],
    exclude: [],
    reporters: ["verbose", ["json", { outputFile: "node_modules/.cache/tests-rescreening.json" }]]
  }
})
