/**
 * Mutation tests by StrykerJS: `pnpm mutation` for all files, `pnpm mutation tokenState` for some, `pnpm mutation --sample`
 * for a sample of which every mutant must be killed. It changes the sources in place while it runs.
 */

import { Stryker } from "@stryker-mutator/core"

const core = (name) => `packages/core/src/${name}.ts`
const mock = (name) => `packages/mock-server/src/internal/${name}.ts`

/** Each file with the tests that should kill its mutants, the fastest first: names in the test folder of its package. */
const groups = {
  [core("AmlCredential")]: "AmlCredential AmlResponse NameEcho",
  [core("DateOfBirth")]: "DateOfBirth Person",
  [core("Person")]: "Person HttpApi PeopleFile AmlCheck",
  [core("PersonName")]: "PeopleFile PersonName Placeholders InvisibleCharacters",
  [core("Screening")]: "ScreeningSummary Screening ScreeningEnd",
  [core("internal/token/tokenRequests")]: "TokenRequest TokenAcquisition TokenRetry",
  [core("internal/token/acquisitions")]:
    "TokenProvider TokenMetrics TokenAcquisition TokenCooldown TokenExpiry TokenBackground",
  [core("internal/check/amlResponse")]: "AmlResponse NameEcho RetryAfter Unauthorized",
  [core("internal/check/attempts")]: "CheckSent CheckRetry Screening",
  [core("internal/token/cachedToken")]: "CachedToken TokenExpiry",
  [core("internal/screening/endOfRun")]: "ScreeningEnd",
  [core("internal/names/invisible")]: "InvisibleCharacters PersonName",
  [core("internal/names/placeholders")]: "Placeholders PersonName",
  [core("internal/token/tokenState")]: "TokenTransitions TokenProvider TokenAcquisition TokenCooldown",
  [mock("faults/damage")]: "applyFault",
  [mock("service/amlEndpoint")]: "amlEndpoint DataPlane DataPlaneStrict",
  [mock("service/dataPlane")]: "requestFaults gateway tokenEndpoint amlEndpoint DataPlaneStrict Robust",
  [mock("service/decision")]: "tokenEndpoint amlEndpoint",
  [mock("service/gateway")]: "gateway",
  [mock("service/responseFormat")]: "responseFormat Profile",
  [mock("faults/retryAfter")]: "responseFormat Profile applyFault",
  [mock("service/tokenEndpoint")]: "tokenEndpoint DataPlane DataPlaneStrict"
}

const cache = "node_modules/.cache/mutation"

const run = (file, tests, options) => {
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
    timeoutMS: 10_000,
    timeoutFactor: 1,
    reporters: ["clear-text", "progress-append-only"],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: false },
    tempDirName: `${cache}/stryker`,
    mutate: [file],
    ...options
  }).runMutationTest()
}

/** A mutant that ran out of time was detected too. */
const isDetected = ({ status }) => status === "Killed" || status === "Timeout"

/** Prints each mutant on a line, and fails unless each was detected. */
const report = (file, results) => {
  for (const { location: { start }, mutatorName, replacement, status } of results) {
    const change = `${mutatorName} ${replacement.replaceAll(/\s+/g, " ")}`
    process.stdout.write(`${status} ${file}:${start.line}:${start.column} ${change}\n`)
  }
  if (results.length === 0 || !results.every(isDetected)) process.exitCode = 1
}

const words = process.argv.slice(2)
if (words.includes("--sample")) {
  // Every token depends on this file, and its tests take milliseconds.
  const file = core("internal/token/cachedToken")
  const options = { concurrency: 1, ignoreStatic: true, logLevel: "error", reporters: [] }
  const results = await run(file, "CachedToken", options)
  report(file, results.filter(({ status }) => status !== "Ignored"))
} else {
  const scores = []
  for (const [file, tests] of Object.entries(groups)) {
    if (words.length > 0 && !words.some((word) => file.endsWith(`/${word}.ts`))) continue
    const results = await run(file, tests)
    const detected = results.filter(isDetected).length
    const survivors = results.filter(({ status }) => status === "Survived" || status === "NoCoverage").length
    const score = 100 * detected / (detected + survivors)
    scores.push(`| ${file} | ${detected + survivors} | ${survivors} | ${score.toFixed(1)} % |`)
  }
  process.stdout.write(["", "| file | mutants | survivors | score |", "|---|---|---|---|", ...scores, ""].join("\n"))
}
