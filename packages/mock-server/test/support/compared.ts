/** `idv-mock diff` against a service, in this process. */
import type { Conformance } from "@effect-idv/contract"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Exit, Redacted, Struct } from "effect"
import { PassThrough } from "node:stream"
import * as Servers from "../../../../tools/foreign-services/servers.ts"
import { main } from "../../src/internal/command/main.ts"
import { captured } from "./captured.ts"
import * as CorrectService from "./correctService.ts"
import * as Recording from "./recording.ts"

export interface Customer {
  readonly customerId?: string | undefined
  readonly customerKey?: Redacted.Redacted<string> | undefined
}

/** The lines of `idv-mock diff`, and whether it succeeded. */
export const compared = (
  url: string,
  { customerId = "", customerKey = Redacted.make("") }: Customer,
  ...words: ReadonlyArray<string>
) =>
  captured(Effect.exit(main(
    ["diff", "--upstream-auth", url, "--spacing", "0", ...words],
    { stdout: new PassThrough(), version: "0" }
  ))).pipe(
    Effect.map(({ stdout, value }) => ({
      lines: stdout.join("\n").split("\n"),
      error: Exit.match(value, { onFailure: (cause) => JSON.stringify(cause), onSuccess: () => "" })
    })),
    Effect.withConfigProvider(ConfigProvider.fromMap(
      new Map([["IDV_CUSTOMER_ID", customerId], ["IDV_CUSTOMER_KEY", Redacted.value(customerKey)]])
    ))
  )

/** The correct services of other authors, by set and style. */
export const styles = Object.entries(Servers.sets).flatMap(([set, { styles }]) =>
  Object.entries(styles).map(([name, style]) => [`${set} ${name}`, style] as const)
)

/** Asserts that `diff` finds no contradiction in a correct service, and nothing that a recording of it does not state. */
export const assertLearnt = Effect.fn(function*(style: (typeof styles)[number][1]) {
  const target: Conformance.Target = yield* Servers.serving(style, "sandbox")
  const first = yield* compared(target.authUrl, target)
  deepStrictEqual(first.lines.filter((line) => line.includes("document says")), [])

  const recording = yield* Recording.start(target.authUrl)
  yield* compared(recording.url, target)
  const { profile } = yield* recording.stop
  const again = yield* compared(target.authUrl, target, "--profile", recording.output)
  deepStrictEqual(
    [again.error, again.lines.at(-1)?.split(" ")[0]],
    ["", "0"],
    [...again.lines, ...first.lines, profile].join("\n")
  )
})

type Json = CorrectService.Json
type Change = NonNullable<CorrectService.Options["change"]>

const recordOf = (value: unknown): Json => typeof value === "object" && value !== null ? { ...value } : {}

/** Changes the credential of each check. */
const credential = (change: (credential: Json, number: number) => Json): Change => ([status, body], { number }) =>
  "credentials" in body ? [status, change(body, number)] : [status, body]

const attributesOf = ({ credentials }: Json): Json => recordOf(recordOf(credentials)["attributes"])

const attributes = (change: (attributes: Json, number: number) => Json): Change =>
  credential((body, number) => ({ ...body, credentials: { attributes: change(attributesOf(body), number) } }))

/** Lists each person in the first check, and no longer in the later ones. */
const changingResult = (): Change => {
  const listed = new Set<unknown>()
  return attributes((all) => {
    const isFirst = !listed.has(all["name"])
    listed.add(all["name"])
    return { ...all, match_found: isFirst ? "Potential match" : "No" }
  })
}

/** Returns a token that works for any key. */
const grantedToAll = (): Change => {
  let granted: Json = {}
  return ([status, body], { authorization, path }) => {
    if ("access_token" in body) granted = body
    return path === "/oauth/service" && status === 401 && authorization.startsWith("Basic ")
      ? [200, granted]
      : [status, body]
  }
}

/** Wrong services, each with the text that names what is wrong. */
export const wrong: ReadonlyArray<readonly [what: string, change: Change, named: string]> = [
  ["match_found in lower case", attributes((all) => ({ ...all, match_found: "no" })), "aml.answer.match-found"],
  ["match_found MATCH", attributes((all) => ({ ...all, match_found: "MATCH" })), "aml.answer.match-found"],
  ["no aml_profile", attributes((all) => Struct.omit(all, "aml_profile")), "aml.answer.aml-profile"],
  ["credential_type AML", credential((all) => ({ ...all, credential_type: "AML" })), "aml.answer.credential-type"],
  [
    "a numeric birth_year",
    attributes((all) => ({ ...all, birth_year: Number(all["birth_year"]) })),
    "aml.answer.birth-year"
  ],
  [
    "Potential match for everybody",
    attributes((all) => ({ ...all, match_found: "Potential match" })),
    "aml.match.everybody: the service has everybody"
  ],
  ["a result that changes for one person", changingResult(), "aml.match.again: the service has different"],
  ["an empty issued_by", credential((all) => ({ ...all, issued_by: "" })), "aml.issued-by.text: the service has blank"],
  [
    "an ISO searched_on",
    attributes((all) => ({ ...all, searched_on: new Date().toISOString() })),
    "aml.answer.searched-on"
  ],
  ["the name of another person", attributes((all) => ({ ...all, name: "Eve Else" })), "aml.answer.name"],
  [
    "status 202",
    ([status, body]) => ["credentials" in body ? 202 : status, body],
    "amlStatus (aml.success.status): the service has 202"
  ],
  ["an issuer_id that is not a UUID", credential((all) => ({ ...all, issuer_id: "issuer-1" })), "aml.answer.issuer-id"],
  [
    "cred_version without a minor version",
    credential((all) => ({ ...all, cred_version: "1" })),
    "aml.answer.cred-version"
  ],
  ["a numeric cred_version", credential((all) => ({ ...all, cred_version: 1.5 })), "aml.answer.cred-version"],
  [
    "the attributes at the top",
    ([status, body]) => [status, "credentials" in body ? attributesOf(body) : body],
    "aml.answer"
  ],
  ["a blank after match_found", attributes((all) => ({ ...all, match_found: "No " })), "aml.answer.match-found"],
  ["a relative aml_profile", attributes((all) => ({ ...all, aml_profile: "/profiles/1" })), "aml.answer.aml-profile"],
  ["a birth_year of two digits", attributes((all) => ({ ...all, birth_year: "90" })), "aml.answer.birth-year"],
  ["the year of another person", attributes((all) => ({ ...all, birth_year: "1901" })), "aml.answer.birth-year"],
  [
    "a search of last week",
    attributes((all) => ({ ...all, searched_on: "2020-01-01 00:00:00" })),
    "aml.searched-on.zone"
  ],
  [
    "every third name wrong",
    attributes((all, number) => number % 3 === 0 ? { ...all, name: "Eve Else" } : all),
    "aml.answer"
  ],
  [
    "a check that needs no token",
    ([status, body], { body: sent, path }) =>
      path === "/api/aml" && status === 401 && sent.includes("person") ? [200, okFor(sent)] : [status, body],
    "aml.request.authorization"
  ],
  ["a token for every key", grantedToAll(), "token.request.authorization"],
  [
    "a response without attributes",
    credential((all) => ({ ...all, credentials: {} })),
    "aml.answer.attributes"
  ],
  [
    "credentials as a text",
    credential((all) => ({ ...all, credentials: JSON.stringify(all["credentials"]) })),
    "aml.answer"
  ],
  [
    "match_found twice",
    ([status, body]) =>
      "credentials" in body
        ? [status, JSON.stringify(body).replace("\"match_found\"", "\"match_found\":\"No\",\"match_found\"")]
        : [status, body],
    "aml.answer.every"
  ],
  [
    "a date of birth with the month first",
    ([status, body], { body: sent }) => /"dob":"(1[3-9]|2\d|3\d)-/.test(sent) ? [400, {}] : [status, body],
    "aml.request.people"
  ],
  ["an end after 30 requests", ([status, body], { number }) => number > 30 ? [503, {}] : [status, body], "ended early"],
  ["a limit after 30 requests", ([status, body], { number }) => number > 30 ? [429, {}] : [status, body], "ended early"]
]

const okFor = (sent: string): Json => {
  const { dob, name } = recordOf(JSON.parse(sent))
  return {
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "A provider",
    issuer_id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    cred_version: "1.0",
    credentials: {
      attributes: {
        name,
        birth_year: String(dob).slice(-4),
        searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
        match_found: "No",
        aml_profile: "https://profiles.example/1"
      }
    }
  }
}

/** Asserts that `diff` fails because of what is wrong with a service. The indented lines do not make it fail. */
export const assertNamed = Effect.fn(function*(change: Change, named: string) {
  const host = yield* CorrectService.serving(CorrectService.handler({ change }))
  const { error, lines } = yield* compared(`http://${host}`, {
    customerId: "customer",
    customerKey: Redacted.make("s3cret")
  })
  assertInclude([...lines.filter((line) => !line.startsWith("  ")), error].join("\n"), named)
  strictEqual(error !== "", true)
})
