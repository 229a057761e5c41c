import { defineConfig } from "vitest/config"
import config from "../../vitest.config.ts"

/** All tests of this package, also those that depend on real time. */
export default defineConfig({
  ...config,
  test: { ...config.test, include: ["packages/rescreening/test/*.test.ts"], exclude: [] }
})
