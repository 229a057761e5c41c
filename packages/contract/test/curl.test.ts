import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Option } from "effect"
import { execFileSync } from "node:child_process"
import * as Conformance from "../src/Conformance.ts"
import type { Response, StepExchange } from "../src/internal/exchange.ts"
import type { Reading } from "../src/internal/readings/readings.ts"
import * as Curl from "../src/internal/run/curl.ts"
import * as Requests from "../src/internal/run/requests.ts"
import type { AmlStep, Step } from "../src/internal/steps.ts"

const dob = "01-02-1990"

const target: Conformance.Target = {
  kind: "sandbox",
  authUrl: "http://localhost",
  baseUrl: "http://localhost",
  wrongKeys: true,
  persons: [
    { name: "Ann \"An\\n\" O'Neil & Sö+ns", dob, matchFound: "No" },
    { name: "Lee %20 'Q' \\ Pep", dob: "14-03-1957", matchFound: "Potential match" }
  ]
}

const env = {
  IDV_CUSTOMER_ID: "bank-77",
  IDV_CUSTOMER_KEY: "k\u00e4\"\\:y",
  UNKNOWN_ID: "o",
  UNKNOWN_KEY: "p",
  TOKEN: "aB3.x-yz.qr",
  PERSON_NAME: target.persons?.[0]?.name ?? "",
  PERSON_DOB: dob,
  LISTED_NAME: target.persons?.[1]?.name ?? "",
  LISTED_DOB: "14-03-1957",
  LANG: "C.UTF-8"
}

const own = { id: env.IDV_CUSTOMER_ID, key: env.IDV_CUSTOMER_KEY }

const context: Requests.RequestContext = {
  target,
  customer: own,
  customers: { own, second: undefined, unknown: { id: env.UNKNOWN_ID, key: env.UNKNOWN_KEY } },
  token: env.TOKEN,
  profile: undefined
}

/** The words that bash passes to `curl` for each command. */
const wordsOf = (commands: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  execFileSync("bash", ["--norc", "-s"], {
    encoding: "utf8",
    env,
    // All of them are too long for an argument.
    input: `curl() { printf '%s\\0' "$@"; printf '\\1\\0'; }\n${commands.join("\n")}`
  }).split("\u0001\0").slice(0, -1).map((words) => words.split("\0").slice(0, -1))

/** A form may be written in several ways. */
const decoded = (text: string): string =>
  text.startsWith("entity_type=person&") ? String(new URLSearchParams(text)) : text

const steps = Arr.dedupeWith(
  Conformance.cases.flatMap(({ more = [], steps }) => [steps, ...more.map(({ steps }) => steps)].flat()),
  (one, two) => JSON.stringify(one) === JSON.stringify(two)
)

/** The checks that a command can show without a variable whose value the reader makes. */
const checksOf = (target: Conformance.Target): ReadonlyArray<readonly [step: AmlStep, command: string]> =>
  steps.flatMap((step) => {
    const command = step.to === "aml" ? Curl.of(step, target) : ""
    return step.to !== "aml" || step.token !== undefined || /\$[A-Z_]*(NAME|TOKEN|ID|KEY)_[A-Z]/.test(command)
      ? []
      : [[step, command] as const]
  })

const targets: ReadonlyArray<readonly [title: string, target: Conformance.Target]> = [
  ["about a person whose name has quotes, a backslash and blanks", target],
  ["if the key may not be where it may be logged", { ...target, wrongKeys: false }],
  ["if the API is on another server than the token endpoint", { ...target, baseUrl: "http://localhost:1" }]
]

describe("A command in bash", () => {
  it.each(targets)("sends what the suite sends %s", (_, target) => {
    const checks = checksOf(target)
    const printed = wordsOf(checks.map(([, command]) => command))
    strictEqual(printed.length, checks.length)
    const sent = checks.flatMap(([step], i) =>
      Option.match(Requests.of(step, { ...context, target }), {
        onNone: () => [],
        onSome: ({ body, headers, query, url }) => {
          const words = printed[i] ?? []
          const [address = "", parameters = ""] = (words.find((word) => word.startsWith("http")) ?? "").split("?")
          return [{
            printed: {
              address,
              parameters: decoded(parameters),
              body: words.at(-2) === "--data-raw" ? decoded(words.at(-1) ?? "") : "",
              headers: words.filter((word, i) => words[i - 1] === "-H" && !word.startsWith("content-type"))
            },
            sent: {
              address: url.split("?")[0],
              parameters: decoded(query ?? ""),
              body: decoded(body ?? ""),
              headers: Object.entries(headers).map(([name, value]) => value === "" ? `${name};` : `${name}: ${value}`)
            }
          }]
        }
      })
    )
    deepStrictEqual(sent.map(({ printed }) => printed), sent.map(({ sent }) => sent))
  })
})

describe("The commands of a finding", () => {
  const credential = (year: string, profile: string) => ({
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "it",
    issuer_id: "0b8f7c0e-4d0a-4c62-9f0f-2f6f0d9a9b55",
    cred_version: "1.0",
    credentials: {
      attributes: {
        name: "Ada Testclear",
        birth_year: year,
        searched_on: "2026-05-17 12:00:00",
        match_found: "No",
        aml_profile: profile
      }
    }
  })
  const response = (body: object, status = 200): Response => ({
    _tag: "Response",
    url: new URL("http://localhost/api/aml"),
    status,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(body)),
    receivedAt: 0,
    millis: 0
  })
  const exchange = (curl: string, step: Step, received: Response): StepExchange => ({
    number: 0,
    step,
    exchange: received,
    person: { name: "Ada Testclear", dob: `01-02-1990 ${curl}` },
    secrets: [],
    curl
  })
  const check: Step = { to: "aml" }
  const answer = (curl: string, year = "1990", profile = `https://example.com/${curl}`) => ({
    ...exchange(curl, check, response(credential(year, profile))),
    person: { name: `Ada Testclear`, dob: "01-02-1990" }
  })
  const commandsOf = (
    reading: Reading,
    observed: string,
    exchanges: ReadonlyArray<StepExchange>,
    alone: ReadonlyArray<StepExchange> = []
  ) => Curl.detailsOf(reading, observed, exchanges, true, () => alone).curl?.split("\n")

  it("end with the first response that shows it", () => {
    const wrong = ["a", "b", "c"].map((curl) => answer(curl, "1991"))
    deepStrictEqual(commandsOf("every field", "birth_year wrong", wrong), ["a"])
    deepStrictEqual(commandsOf("every field", "birth_year wrong", [answer("x"), ...wrong]), ["x", "a"])
  })

  it("have no earlier request if the last one showed the same alone", () => {
    const sequence = [answer("x"), answer("a", "1991")]
    deepStrictEqual(commandsOf("every field", "birth_year wrong", sequence, [answer("a", "1991")]), ["a"])
    deepStrictEqual(commandsOf("every field", "birth_year wrong", sequence, [answer("a")]), ["x", "a"])
  })

  it("have each response of a comparison, and say where others were", () => {
    const people = "abcdefg".split("").map((curl, i) => ({
      ...answer(curl, "1990", i === 6 ? "https://example.com/b" : undefined),
      person: { name: curl, dob: "01-02-1990" }
    }))
    deepStrictEqual(commandsOf("own profile", "shared", people), [
      "# after another request",
      "b",
      "# after another request",
      "d",
      "e",
      "f",
      "g"
    ])
  })
})
