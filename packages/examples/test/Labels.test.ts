import { AmlCheck, AmlError, Failure, TokenError } from "@effect-idv/core"
import * as Run from "@effect-idv/rescreening/Run"
import { describe, expect, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Arbitrary, FastCheck, Schema } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { otherOutcomes, outcomes } from "../../core/src/internal/check/checkTelemetry.ts"
import type { Reason } from "../../core/src/internal/token/tokenState.ts"
import { withTable } from "../../mock-server/test/support/pageTable.ts"
import { documents, root } from "./support/documents.ts"

const tags = Failure.Failure.members.map(({ _tag }) => _tag)

const reasons: Record<Reason, true> = {
  cold: true,
  refresh_after: true,
  usable_until: true,
  unauthorized: true,
  forced: true
}

const checkOutcomes = [...Object.values(outcomes), ...tags, ...otherOutcomes]

/** The values of each label that the code can emit. */
const emitted: Record<string, ReadonlyArray<string>> = {
  "idv_aml_checks_total outcome": checkOutcomes,
  "idv_aml_check_duration_seconds_bucket outcome": checkOutcomes,
  "idv_aml_check_duration_seconds_bucket le": ["0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "30"],
  "idv_aml_checks_total sent": AmlError.Sent.literals,
  "idv_token_acquisitions_total reason": Object.keys(reasons),
  "idv_token_failures_total error": [...TokenError.TokenError.members.map(({ _tag }) => _tag), "defect"],
  "idv_rescreen_outcomes_total outcome": Run.outcomes,
  "idv_rescreen_rows state": Run.State.literals
}

interface Use {
  readonly label: string
  readonly operator: string
  readonly pattern: string
}

/** The labels in the expressions of a text. A pattern consists of alternatives. */
const usesIn = (text: string): ReadonlyArray<Use> =>
  Array.from(
    text.matchAll(/\b(idv_\w+)\{([^}]*)\}/g),
    ([, metric, labels = ""]) =>
      Array.from(labels.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g), ([, label, operator = "", value = ""]) =>
        value.split("|").map((pattern): Use => ({ label: `${metric} ${label}`, operator, pattern })))
  ).flat(2)

const isEmitted = ({ label, operator, pattern }: Use): boolean =>
  (emitted[label] ?? []).some((value) =>
    operator.includes("~") ? new RegExp(`^(?:${pattern})$`).test(value) : value === pattern
  )

describe("The labels of the metrics", () => {
  it.each(["packages/examples/src/observability/alerts.yaml", "packages/rescreening/alerts.yaml"])(
    "%s uses only labels that the code emits",
    (path) => {
      const uses = usesIn(readFileSync(join(root, path), "utf8"))
      assertTrue(uses.length > 4)
      deepStrictEqual(uses.filter((use) => !isEmitted(use)), [])
    }
  )

  it("finds a label that the code does not emit", () => {
    const uses = usesIn(`sum(idv_aml_checks_total{outcome=~"NoMatch|AmlBroken",sent!="maybe"})`)
    deepStrictEqual(uses.map(isEmitted), [true, false, false])
  })
})

describe("The errors in the documents", () => {
  /** The errors that begin the rows of the tables, such as "`TokenRejected`, `AmlForbidden`". */
  const tables = documents.map(({ path, text }) => ({
    path,
    errors: Array.from(text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm), ([, cell = ""]) => cell.match(/\w+/g) ?? [])
      .flat()
  }))

  /** A cause and what to do, for each error. The code does not compile until it has those of a new error. */
  const texts: Readonly<Record<Failure.Failure["_tag"], readonly [cause: string, action: string]>> = {
    AmlInputRejected: ["the name or the date of birth is not valid", "show `issues` to the person who typed it"],
    AmlUnauthorized: [
      "401 twice, or once if the response asks for another scheme than Bearer",
      "alert an operator: the API rejects this customer or key. `renewal` says whether the second token was new"
    ],
    AmlForbidden: ["403", "alert an operator; ask the service"],
    AmlRequestRejected: [
      "another 4xx",
      "review the case; if it concerns everyone, check `baseUrl` and alert an operator"
    ],
    AmlRateLimited: ["429", "retry after the time `retryAfter`"],
    AmlUnavailable: ["no connection, a lost connection, an error of TLS, or 5xx", "look at `sent`, then retry later"],
    AmlTimeout: ["the deadline passed", "look at `sent`, then retry later"],
    AmlResponseInvalid: [
      "the response is incomplete or invalid, has another status than 200 or 201, an `error` beside the credential, or a `searched_on` [too far from now](checks.md#retries-and-response-checks)",
      "**not a \"No\"**. Review the case and tell the service what is wrong (`violations`)"
    ],
    AmlResponseMismatch: [
      "the response is about another person",
      "**not a \"No\"**. Review the case and tell the service at once: responses are mixed up"
    ],
    TokenRejected: [
      "a 4xx other than 408 and 429, or an `error` in a 2xx: wrong credentials, or a blocked customer",
      "alert an operator"
    ],
    TokenEndpointUnavailable: ["no connection, 408, 429 or 5xx; or the credentials cannot be read", "retry later"],
    TokenResponseInvalid: ["no token response", "tell the service; check `authUrl`"],
    TokenTimeout: ["no token in time", "retry later"],
    TokenProviderClosed: [
      "the scope of the layer is closed",
      "nothing, if the program is ending; otherwise build the layer in a longer scope"
    ]
  }

  it("docs/errors.md has each error of the union, with all values of its facts", () => {
    const encode = Schema.encodeSync(Failure.Failure)
    const decode = Schema.decodeUnknownSync(Failure.Failure)
    const facts = FastCheck.sample(Arbitrary.make(Failure.Failure), { numRuns: 700, seed: 1 }).flatMap((error) => {
      const encoded = encode(error)
      const variants = "status" in encoded
        ? [301, 404, 408, 422, 503].map((status) => ({ ...encoded, status }))
        : [encoded]
      return variants.map((variant) => ({ tag: error._tag, ...Failure.facts(decode(variant)) }))
    })
    const rows = tags.map((tag) => {
      const own = facts.filter((each) => each.tag === tag)
      const values = (name: "concerns" | "isRetryable" | "sent", all: ReadonlyArray<unknown>) =>
        all.filter((value) => own.some((each) => each[name] === value)).map((value) => `\`${value}\``).join(", ")
      const [cause, action] = texts[tag]
      return [
        `\`${tag}\``,
        cause,
        values("sent", AmlError.Sent.literals),
        values("isRetryable", [true, false]),
        values("concerns", ["person", "service", "everyone"]),
        action
      ]
    })
    const page = documents.find(({ path }) => path === "docs/errors.md")?.text ?? ""
    const header = "error | cause | `sent` | `isRetryable` | `concerns` | what to do"
    return expect(withTable(page, "errors", header, rows)).toMatchFileSnapshot(join(root, "docs/errors.md"))
  })

  it("every table names only errors that exist", () => {
    const named = tables.flatMap(({ errors, path }) =>
      errors.filter((error) => /^(Aml|Token)\w*(ed|able|Invalid|Mismatch|Timeout|Unauthorized|Forbidden)$/.test(error))
        .map((error) => ({ path, error }))
    )
    assertTrue(named.length > tags.length)
    deepStrictEqual(named.filter(({ error }) => !tags.some((tag) => tag === error)), [])
  })

  it("every result has its own label", () => {
    deepStrictEqual(Object.keys(outcomes), [...AmlCheck.Result.literals])
  })
})
