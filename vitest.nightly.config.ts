import { defineConfig } from "vitest/config"
import config from "./vitest.config.ts"

/** `pnpm test:slow`: the tests that measure real time or take long. They run one after the other, on a quiet machine. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: [
      "packages/*/test/**/*.nightly.test.ts",
      // With more cases.
      "packages/core/test/{AmlCheck,FailClosed,InvisibleCharacters,SchemaGuard,Schemas,TokenState}.test.ts",
      "packages/contract/test/Mutant.test.ts",
      "packages/mock-server/test/{ClientTest,Pairwise,masking}.test.ts",
      "packages/rescreening/test/{Ledger.property,Rescreening,Review,Turns}.test.ts"
    ],
    env: { CASES: "20" },
    exclude: [],
    reporters: ["verbose", ["json", { outputFile: "node_modules/.cache/tests-nightly.json" }]],
    minWorkers: 1,
    maxWorkers: 1
  }
})
