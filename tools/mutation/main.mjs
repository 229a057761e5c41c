/**
 * Mutation tests by StrykerJS: `pnpm mutation` for all files, `pnpm mutation tokenState` for some, `pnpm mutation --sample`
 * for a sample of which every mutant must be killed. It changes the sources in place while it runs.
 */

import { Stryker } from "@stryker-mutator/core"

const core = (name) => `packages/core/src/${name}.ts`
const mock = (name) => `packages/mock-server/src/internal/dataPlane/${name}.ts`

/** Each file with the tests that should kill its mutants, the fastest first: names in the test folder of its package. */
const groups = {
  [core("AmlCredential")]: "AmlCredential AmlResponse NameEcho",
  [core("DateOfBirth")]: "DateOfBirth Person",
  [core("Person")]: "Person HttpApi PeopleFile Evidence",
  [core("PersonName")]: "PersonName PeopleFile InvisibleCharacters Placeholders",
  [core("Screening")]: "ScreeningEnd Screening",
  [core("internal/acquisition")]: "TokenRequest TokenAcquisition TokenRetry TokenProvider",
  [core("internal/acquisitions")]:
    "TokenProvider TokenMetrics TokenAcquisition TokenExpiry TokenBackground TokenBackoff Unauthorized",
  [core("internal/amlResponse")]: "AmlResponse NameEcho RetryAfter Unauthorized",
  [core("internal/attempts")]: "CheckSent CheckRetry Screening",
  [core("internal/cachedToken")]: "CachedToken TokenExpiry",
  [core("internal/endOfRun")]: "ScreeningEnd Screening",
  [core("internal/invisible")]: "InvisibleCharacters PersonName",
  [core("internal/placeholders")]: "Placeholders PersonName",
  [core("internal/tokenState")]:
    "TokenProvider TokenAcquisition TokenCooldown TokenExpiry TokenBackground RenewalLimit TokenBackoff TokenState",
  [mock("applyFault")]: "applyFault FaultWire",
  [mock("amlEndpoint")]: "decision DataPlane DataPlaneStrict",
  [mock("dataPlane")]: "decision Session SessionBoundaries DataPlaneStrict DataPlane Robust",
  [mock("decision")]: "decision",
  [mock("gateway")]: "decision applyFault",
  [mock("responseFormat")]: "responseFormat Profile",
  [mock("retryAfter")]: "responseFormat Profile applyFault",
  [mock("tokenEndpoint")]: "decision DataPlane DataPlaneStrict"
}

const cache = "node_modules/.cache/mutation"

const run = (file, tests, { breakBelow = null, lines = "" } = {}) => {
  const folder = `${file.split("/src/")[0]}/test`
  // eslint-disable-next-line no-restricted-syntax -- StrykerJS loads the configuration in other processes.
  process.env.MUTATION_TESTS = tests.split(" ").map((name) => `${folder}/${name}.test.ts`).join()
  return new Stryker({
    packageManager: "pnpm",
    plugins: ["@stryker-mutator/vitest-runner"],
    testRunner: "vitest",
    vitest: { configFile: "tools/mutation/vitest.config.mjs", related: false },
    coverageAnalysis: "perTest",
    // The packages of the workspace find their dependencies beside their sources only.
    inPlace: true,
    disableTypeChecks: false,
    concurrency: 2,
    timeoutMS: 5_000,
    reporters: ["clear-text"],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: false },
    tempDirName: `${cache}/stryker`,
    thresholds: { high: 95, low: 90, break: breakBelow },
    mutate: [`${file}${lines}`]
  }).runMutationTest()
}

const words = process.argv.slice(2)
if (words.includes("--sample")) {
  await run(core("internal/cachedToken"), "CachedToken", { breakBelow: 100 })
} else {
  const scores = []
  for (const [file, tests] of Object.entries(groups)) {
    if (words.length > 0 && !words.some((word) => file.endsWith(`/${word}.ts`))) continue
    const results = await run(file, tests)
    const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length
    const [killed, alive] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")]
    scores.push(`| ${file} | ${killed + alive} | ${alive} | ${(100 * killed / (killed + alive)).toFixed(1)} % |`)
  }
  process.stdout.write(["", "| file | mutants | survivors | score |", "|---|---|---|---|", ...scores, ""].join("\n"))
}
