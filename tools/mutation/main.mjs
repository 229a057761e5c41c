/**
 * Mutation tests by StrykerJS: `pnpm mutation` for all files, `pnpm mutation tokenState` for some, `pnpm mutation --sample`
 * for a sample of which every mutant must be killed. It changes the sources in place while it runs.
 */

import { Stryker } from "@stryker-mutator/core"
import { mkdirSync, writeFileSync } from "node:fs"

const core = (name) => `packages/core/src/${name}.ts`
const mock = (name) => `packages/mock-server/src/internal/dataPlane/${name}.ts`

/** Each file with the tests that should kill its mutants: names in the test folder of its package. */
const groups = {
  [core("AmlCredential")]: "{AmlCredential,AmlResponse,Schemas,NameEcho}",
  [core("DateOfBirth")]: "{DateOfBirth,Person,Schemas}",
  [core("Person")]: "{Person,DateOfBirth,Schemas,Options}",
  [core("PersonName")]: "{PersonName,InvisibleCharacters,Placeholders,Person}",
  [core("Screening")]: "Screening*",
  [core("internal/acquisition")]: "Token*",
  [core("internal/acquisitions")]: "Token*",
  [core("internal/amlResponse")]: "{AmlResponse,AmlClient,Unauthorized,NameEcho,ErrorBodies,CheckSent,RetryAfter}",
  [core("internal/attempts")]: "{Check*,RetryAfter,Screening}",
  [core("internal/cachedToken")]: "{CachedToken,Token*,Unauthorized}",
  [core("internal/endOfRun")]: "Screening*",
  [core("internal/invisible")]: "{InvisibleCharacters,PersonName}",
  [core("internal/placeholders")]: "{Placeholders,PersonName}",
  [core("internal/tokenState")]: "{Token*,Unauthorized,RenewalLimit}",
  [mock("applyFault")]: "{applyFault,FaultWire}",
  [mock("amlEndpoint")]: "{DataPlane*,Profile*}",
  [mock("dataPlane")]: "{DataPlane*,Fault*,Session*,TestPersons}",
  [mock("decision")]: "DataPlane*",
  [mock("gateway")]: "{DataPlane*,Fault*}",
  [mock("responseFormat")]: "{responseFormat,Profile*}",
  [mock("retryAfter")]: "{responseFormat,FaultWire,applyFault}",
  [mock("tokenEndpoint")]: "{DataPlane*,Profile*}"
}

const cache = "node_modules/.cache/mutation"

const run = (file, tests, breakBelow) => {
  const folder = `${file.split("/src/")[0]}/test`
  const configFile = `${cache}/vitest.config.ts`
  mkdirSync(cache, { recursive: true })
  writeFileSync(
    configFile,
    `import config from "../../../vitest.config.ts"
export default { ...config, test: { ...config.test, include: ["${folder}/${tests}.test.ts"], reporters: [] } }
`
  )
  return new Stryker({
    packageManager: "pnpm",
    plugins: ["@stryker-mutator/vitest-runner"],
    testRunner: "vitest",
    vitest: { configFile, related: false },
    coverageAnalysis: "perTest",
    // The packages of the workspace find their dependencies beside their sources only.
    inPlace: true,
    disableTypeChecks: false,
    // A constant of a module is evaluated once for all tests, so its mutants would need a process each.
    ignoreStatic: true,
    concurrency: 2,
    timeoutMS: 20_000,
    reporters: ["clear-text"],
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: false },
    tempDirName: `${cache}/stryker`,
    thresholds: { high: 95, low: 90, break: breakBelow },
    mutate: [file]
  }).runMutationTest()
}

const words = process.argv.slice(2)
if (words.includes("--sample")) {
  await run(core("internal/cachedToken"), "CachedToken", 100)
} else {
  const scores = []
  for (const [file, tests] of Object.entries(groups)) {
    if (words.length > 0 && !words.some((word) => file.endsWith(`/${word}.ts`))) continue
    const results = await run(file, tests, null)
    const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length
    const [killed, alive] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")]
    scores.push(`| ${file} | ${killed + alive} | ${alive} | ${(100 * killed / (killed + alive)).toFixed(1)} % |`)
  }
  process.stdout.write(["", "| file | mutants | survivors | score |", "|---|---|---|---|", ...scores, ""].join("\n"))
}
