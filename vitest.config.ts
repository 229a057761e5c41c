import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** What takes longest begins first, so that nothing is waited for at the end. */
class LongestFirst extends BaseSequencer {
  override sort(files: Array<TestSpecification>) {
    const long =
      /(Conformance|ConformanceReport|Documents|Inspector|Learning|Ledger|MutantGate|Pairwise|Rescreening|TokenStoreSql|Vitest|cliVerify|observability|onboardingApi)\.test\.ts$/
    const rank = ({ moduleId }: TestSpecification) => long.test(moduleId) ? 0 : 1
    return super.sort(files).then((sorted) => sorted.toSorted((a, b) => rank(a) - rank(b)))
  }
}

export default defineConfig({
  test: {
    // The suite of an example also runs here, because a process of its own takes three times as long.
    include: ["packages/*/test/**/*.test.ts", "packages/examples/src/contract-testing/**/*.test.ts"],
    exclude: [
      // contractTesting.nightly.test.ts runs this: Conformance.test.ts runs the same cases on the mock server.
      "packages/examples/src/contract-testing/conformance.test.ts",
      // `pnpm test:nightly` runs these: they measure real time, take long, or need a browser for half a minute.
      "**/*.nightly.test.ts",
      "packages/examples/test/recipesPlaywright.test.ts",
      // `pnpm test:redis` runs this: it needs a Redis server, which no npm package contains.
      "packages/core/test/TokenStoreRedis.test.ts"
    ],
    setupFiles: "packages/core/test/support/setup.ts",
    globalSetup: "packages/mock-server/test/support/programs.ts",
    // `.ci/run` reads the JSON report: it counts the tests and names the slowest files.
    reporters: ["verbose", ["json", { outputFile: "node_modules/.cache/tests.json" }]],
    // These limits only end a test that hangs: on a busy machine every test takes many times longer.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    sequence: { sequencer: LongestFirst },
    // Each worker loads Effect once, and not once for each file.
    isolate: false,
    // A larger young generation: an eighth of the processor time was garbage collection.
    poolOptions: { forks: { execArgv: ["--max-semi-space-size=64"] } },
    // Twice the two cores of CI: many tests wait for a process or a deadline.
    minWorkers: 4,
    maxWorkers: 4,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**"],
      // Run as programs of their own, by tests that start them.
      exclude: ["packages/*/src/bin.ts", "packages/rescreening/src/internal/command/**", "packages/examples/src/**"],
      thresholds: { statements: 95, branches: 90, functions: 95, lines: 95 }
    }
  }
})
