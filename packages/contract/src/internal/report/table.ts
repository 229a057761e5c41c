/** A report for people: plain text with aligned columns. */
import * as Arr from "effect/Array"
import type * as Contract from "../../Contract.ts"
import * as Preflight from "../preflight.ts"
import { namesField } from "../readings/wholeReadings.ts"
import type { Report, Result, RunInfo, Verdict } from "../results.ts"
import * as Summary from "./summary.ts"

/** Rows with their columns two blanks apart. */
const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  return rows.map((row) => row.map((text, column) => text.padEnd(width(column))).join("  ").trimEnd())
}

const headOf = (report: Report, contract: Contract.Contract, runInfo: RunInfo): ReadonlyArray<string> => {
  const shown = Summary.shownRunInfo(report, contract, runInfo)
  const { authUrl, baseUrl, budget, checks, claimsSha256, contractVersion, documentSha256 } = shown
  const { requests, startedAt, version } = shown
  const hasPersons = runInfo.persons !== undefined
  const sent = [
    `${Summary.quantity(requests, "request")}${budget === undefined ? "" : ` of a budget of ${budget}`}`,
    ...(checks === undefined || budget === undefined
      ? []
      : [`${Summary.quantity(checks, "check")} that may be billed`]),
    ...(budget === undefined || hasPersons ? [] : ["only about fictional people"])
  ].join(", ")
  const rows = [
    ["target", report.kind],
    ["token endpoint", authUrl],
    ["API", baseUrl],
    ["started", startedAt],
    ["version", version],
    ["contract", contractVersion === undefined ? undefined : `version ${contractVersion}`],
    ["claims", claimsSha256 && `SHA-256 ${claimsSha256}`],
    ["document", documentSha256 && `SHA-256 ${documentSha256}`],
    ["sent", sent]
  ].flatMap(([name = "", value]) => value === undefined ? [] : [[name, value]])
  return [...aligned(rows), ""]
}

/** The variables of the commands that are not those of the command line. */
const variables: ReadonlyArray<readonly [pattern: RegExp, meaning: string]> = [
  [/\$\{?TOKEN\b/, "$TOKEN is an access token"],
  [/\$\{?TOKEN_\d/, "$TOKEN_1 is the token of the first token request of the case, $TOKEN_2 of the second"],
  [
    /\$\{?(TOKEN(_\d+)?|IDV_CUSTOMER_ID|IDV_CUSTOMER_KEY|PERSON_NAME|LISTED(_\d)?_NAME)_[A-Z]/,
    "a longer name is that value, changed as the name says"
  ],
  [/\$\{?UNKNOWN_/, "$UNKNOWN_ID and $UNKNOWN_KEY are any texts"],
  [/\$\{?PERSON_/, "$PERSON_NAME and $PERSON_DOB (dd-mm-yyyy) are your first test person on no list"],
  [
    /\$\{?LISTED_/,
    "$LISTED_NAME and $LISTED_DOB (dd-mm-yyyy) are your first listed test person, $LISTED_2_NAME the second"
  ],
  [/\$AML_PROFILE/, "$AML_PROFILE is the profile of the last response"]
]

/** What the variables in these lines are. */
const legendOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const used = variables.filter(([pattern]) => lines.some((line) => pattern.test(line)))
  return used.length === 0 ? [] : [`In the commands, ${used.map(([, meaning]) => meaning).join("; ")}`, ""]
}

const commandsOf = ({ curl }: Result): ReadonlyArray<string> => curl?.split("\n").map((line) => `      ${line}`) ?? []

/** The results of a claim by their cause: those about every field that name the same one have one cause. */
const causesOf = (claim: string, results: ReadonlyArray<Result>): ReadonlyArray<Arr.NonEmptyArray<Result>> =>
  Object.values(
    Arr.groupBy(
      results,
      ({ id, observed = "" }) => claim === "aml.answer.every" && namesField(observed) ? observed : id
    )
  )

/**
 * Each violated claim once, with its sentence, and below it its cases: what was expected and observed, and a command that
 * shows it. A command stands once, below the first case that it shows.
 */
const violatedOf = (results: ReadonlyArray<Result>, contract: Contract.Contract): ReadonlyArray<string> => {
  const violated = results.filter(({ verdict }) => verdict === "violated")
  const claims = Object.entries(Arr.groupBy(violated, ({ claim }) => claim)).map(([claim, own]) => ({
    claim,
    own,
    causes: causesOf(claim, own)
  }))
  const shown = claims.flatMap(({ causes }) => causes.map(([first]) => first))
  const isFirst = (result: Result) => shown.find(({ curl }) => curl === result.curl) === result
  return violated.length === 0 ? [] : [
    `Violated: ${Summary.quantity(claims.length, "claim")}, in ${Summary.quantity(violated.length, "case")}`,
    ...claims.flatMap(({ causes, claim, own }) => [
      `${claim}: ${Summary.sentenceOf(contract, own[0])}`,
      ...causes.flatMap(([result, ...others]) => [
        `  ✗ ${result.id}: ${Summary.titleOf(result)}`,
        `      ${Summary.textOf(contract)(result)}`,
        ...(isFirst(result) ? commandsOf(result) : []),
        ...(others.length === 0
          ? []
          : [
            `      the same in ${Summary.quantity(others.length, "more case")}: ${
              others.map(({ id }) => id).join(", ")
            }`
          ])
      ])
    ]),
    ""
  ]
}

/** One line for each result of a verdict that is news and no failure. Below those of one request is its command. */
const newsOf = (
  results: ReadonlyArray<Result>,
  contract: Contract.Contract,
  verdict: Verdict,
  heading: string
): ReadonlyArray<string> => {
  const own = results.filter((result) => result.verdict === verdict)
  const mark = verdict === "lenient" ? "+" : "~"
  return own.length === 0 ? [] : [
    `${heading}: ${Summary.quantity(own.length, "case")}`,
    ...Object.values(Arr.groupBy(own, ({ curl, id }) => curl ?? id)).flatMap((ofOne) => [
      ...ofOne.map((result) =>
        `  ${mark} ${result.id}: ${Summary.titleOf(result)}: ${Summary.textOf(contract)(result)}`
      ),
      ...commandsOf(ofOne[0])
    ]),
    ""
  ]
}

/** One line for each reason for which cases were not tested, wholly or in part. */
const notTestedOf = (report: Report, results: ReadonlyArray<Result>): ReadonlyArray<string> => {
  const reasons = Summary.notTested({ ...report, results })
  const missing = Summary.missingCases(report)
  return reasons.length + missing.length === 0 ? [] : [
    "Not tested, wholly or in part",
    ...missing.map(({ claim, text }) => `  ${claim}: ${text}`),
    ...reasons.map(([reason, ids]) =>
      ids.length > maxNamed ? `  - ${ids.length} cases: ${reason}` : `  - ${ids.join(", ")}: ${reason}`
    ),
    ""
  ]
}

/** How many cases a line names. */
const maxNamed = 3

/** One flag for each profile option of which a variant other than the default was observed. */
const flagsOf = (report: Report, { claims }: Contract.Contract): ReadonlyArray<string> => {
  const results = Preflight.meaningfulResults(report)
  return claims.flatMap(({ id, mock }) => {
    if (mock?.option === undefined) return []
    const variants = (mock.variants ?? []).map(String)
    const result = results.find(({ claim, observed }) =>
      claim === id && observed !== undefined && variants.includes(observed)
    )
    return result === undefined ? [] : [`--profile ${mock.option}=${result.observed}`]
  })
}

/** The flags that make the mock server behave as the target did. */
const profileFlagsOf = (report: Report, contract: Contract.Contract): ReadonlyArray<string> => {
  const flags = flagsOf(report, contract)
  return flags.length === 0
    ? []
    : ["To make the mock server behave like this target:", `  idv-mock serve ${flags.join(" ")}`, ""]
}

const omittedOf = (count: number): ReadonlyArray<string> =>
  count === 0 ? [] : [`${Summary.quantity(count, "case")} omitted, because the documented request failed.`, ""]

export const make = (report: Report, contract: Contract.Contract, runInfo: RunInfo = {}): string => {
  const isPreflightFailed = Preflight.explanationOf(report, runInfo) !== undefined
  const results = Preflight.meaningfulResults(report)
  const verdict = Summary.verdict(report, runInfo)
  const documented = Summary.documentedClaims(report)
  const findings = [
    ...violatedOf(results, contract),
    ...newsOf(results, contract, "lenient", "Lenient, accepted although the document does not show it"),
    ...newsOf(results, contract, "drift", "Drift, other than the contract's default where the document is silent")
  ]
  return [
    ...headOf(report, contract, runInfo),
    ...legendOf(findings),
    ...findings,
    ...omittedOf(report.results.length - results.length),
    ...(isPreflightFailed ? [] : notTestedOf(report, results)),
    ...(isPreflightFailed || verdict.includes(documented) ? [] : [documented, ""]),
    ...profileFlagsOf(report, contract),
    verdict
  ].map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n")
}
