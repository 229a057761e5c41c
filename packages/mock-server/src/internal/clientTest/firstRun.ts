/** The first run: three persons, which show whether the client can be tested at all. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RegularExpression from "effect/RegExp"
import * as Schema from "effect/Schema"
import { optional } from "../schema/fields.ts"
import type { Check, Driver, Reaction, Request, Service, Step } from "./day.ts"
import { requestsTo } from "./judges/judge.ts"
import { isOfEarlierRun } from "./judges/tokens.ts"
import * as Replies from "./replies.ts"
import * as Secrets from "./secrets.ts"

export const steps = {
  clear: { label: "no match", expect: "clear" },
  review: {
    label: "a potential match",
    expect: "review",
    faults: Replies.altered({ match_found: "Potential match" })
  },
  error: { label: "status 500", expect: "not clear", faults: () => [Replies.failure(500)] }
} satisfies Record<string, Step>

/** The client cannot be tested. The message says why, and what to do. */
export class NotDriven extends Schema.TaggedError<NotDriven>("@effect-idv/mock-server/ClientTest/NotDriven")(
  "NotDriven",
  { text: Schema.String, explanation: Schema.String, proposal: optional(Schema.String) }
) {
  /** The exit code of the command. */
  readonly exitCode = 2
  override get message() {
    return this.text
  }
}

/** Ends the wait for a check, which then is an error. */
export const endedAfter = (patience: Duration.Duration) => <E, R>(check: Effect.Effect<Reaction, E, R>) =>
  Effect.timeoutTo(check, {
    duration: patience,
    onSuccess: (reaction): Reaction => reaction,
    onTimeout: (): Reaction => ({ outcome: "error", texts: [], ended: false })
  })

export const endless = "The client never ends, although the mock server responds at once"

const maxShown = 600

/** A text of the client without keys, tokens and persons, and safe on a terminal. */
const masked = (text: string, { person, service }: Check): string => {
  const shown = Secrets.mask(text.trim(), service, person).replaceAll(/[^\P{Cc}\n]/gu, "\ufffd")
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}… (${shown.length} characters)` : shown
}

/** What was understood from a person, for people. */
const explain = (check: Check): string => {
  const { code, ended, outcome, requests, step, texts } = check
  const sent = requests.map(({ entry }) => `${entry.operation} ${entry.response.status}`).join(", ")
  return [
    `${step.label}: understood as ${outcome}${ended ? "" : ", and it did not end"}${
      code === undefined ? "" : `, code ${code}`
    }`,
    `  requests: ${sent === "" ? "none" : sent}`,
    ...texts.filter(({ text }) => text.trim() !== "").flatMap(({ text, where }) => [
      `  ${where}:`,
      ...masked(text, check).split("\n").map((line) => `    ${line}`)
    ])
  ].join("\n")
}

export const explanation = (checks: ReadonlyArray<Check>): string => {
  const text = checks.map(explain).join("\n")
  return text.includes(Secrets.hidden)
    ? `${text}\nThis test replaces keys, tokens, names and dates of birth by ${Secrets.hidden}`
    : text
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The beginning of a line, up to what may differ for each check: a word with a digit, an address, a person. */
const beginningOf = (line: string, check: Check): string =>
  masked(line, check).split(/[^\s"'=:,;]*\d|[a-z]+:\/\/|\[hidden\]/i, 1).join("")

/** A beginning that ends with a delimiter: a pattern for "No " would also match "No response". */
const delimited = /[:,=(]["'\s]*$/

/**
 * A pattern for what a client says about the first person only: its code, or else the beginning of a line of its text,
 * which must match `end`.
 */
const patternFor = (
  check: Check,
  others: ReadonlyArray<Check>,
  isEndpoint: boolean,
  end: RegExp
): string | undefined => {
  const linesOf = ({ texts }: Check) =>
    texts.filter(({ where }) => where !== "log").flatMap(({ text }) =>
      // The headers of a response end with an empty line.
      (isEndpoint ? text.slice(text.indexOf("\n\n")) : text).split("\n").map((line) => line.trim())
    )
  const taken = others.flatMap(linesOf)
  const [pattern] = linesOf(check).filter((line) => line !== "" && !taken.includes(line)).flatMap((line) => {
    const beginning = beginningOf(line, check)
    const isTaken = taken.some((other) => other.startsWith(beginning))
    return beginning === line || isTaken && masked(line, check) === line
      ? [`^${RegularExpression.escape(line)}$`]
      : !isTaken && end.test(beginning)
      ? [`^${RegularExpression.escape(beginning)}`]
      : []
  })
  return check.code !== undefined && others.every(({ code }) => code !== check.code)
    ? `${isEndpoint ? "status" : "exit"}=${check.code}`
    : pattern === undefined
    ? undefined
    : quoted(pattern)
}

/** The patterns that tell the persons of the first run apart, if there are some. */
export const proposal = ([clear, review, error]: ReadonlyArray<Check>, isEndpoint: boolean): string | undefined => {
  if (clear === undefined || review === undefined || error === undefined) return undefined
  const forClear = patternFor(clear, [review, error], isEndpoint, delimited)
  const forReview = patternFor(review, [clear, error], isEndpoint, /./)
  return forClear === undefined || forReview === undefined
    ? undefined
    : `These patterns tell the three persons apart: --clear ${forClear} --review ${forReview}`
}

/** Why no request arrived. */
const unheard = (checks: ReadonlyArray<Check>, { isCommand }: Driver, { baseUrl, customerId }: Service): string => {
  const [code] = checks.flatMap(({ code }) => code === undefined || code === 0 ? [] : [code])
  if (!isCommand && code !== undefined && code >= 400 && code < 500) {
    return `The backend responds with status ${code} and sends no request: see its response, and correct --url, --body or ` +
      `--header, or start it with the address ${baseUrl}`
  }
  if (!isCommand) {
    return `No request arrived at ${baseUrl}: start the client with this address, and with the customer ${customerId}`
  }
  if (checks.some(({ code }) => code === 126 || code === 127)) {
    return "The command does not start: see its output"
  }
  return code === undefined
    ? "No request arrived: the command ignores the address that it receives. Let it read the address from the " +
      "environment, or set its variables with --env"
    : `The command ended with code ${code} before any request: see its output, and whether it reads the address from ` +
      "the environment, or from variables that you set with --env"
}

/**
 * Whether a request has credentials in the right form, but not those of the customer. Those that the client only encodes
 * or cuts are a finding.
 */
const isOfOther = ({ customerId, customerKey }: Service) => ({ authorization = "" }: Request): boolean => {
  const text = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString()
  const letters = (text: string) => text.replaceAll(/%[\da-f]{2}|[^\da-z]/gi, "")
  const isPart = (sent: string, expected: string) => sent !== "" && letters(expected).startsWith(letters(sent))
  const [id = "", ...key] = text.split(":")
  return /^Basic /.test(authorization) && /^[ -9;-~]+:[ -~]+$/.test(text) &&
    !(isPart(id, customerId) && isPart(key.join(":"), customerKey))
}

/** Why the client cannot be tested, if it cannot. */
export const problem = (
  checks: ReadonlyArray<Check>,
  { driver, isFlawed, service }: { readonly driver: Driver; readonly isFlawed: boolean; readonly service: Service }
): string | undefined => {
  const outcomes = checks.map(({ outcome }) => outcome)
  const requests = checks.flatMap(({ requests }) => requests)
  const hasTexts = checks.some(({ texts }) => texts.some(({ text, where }) => where !== "log" && text.trim() !== ""))
  if (requests.length === 0) return unheard(checks, driver, service)
  const tokenRequests = checks.flatMap((check) => requestsTo("token", check))
  if (driver.isShared && !driver.isCommand && tokenRequests.length > 0 && tokenRequests.every(isOfOther(service))) {
    return "The client sends another customer_id or customer_key than --customer says: start it with the same pair, or " +
      "change --customer"
  }
  if (!isFlawed && requests.every(({ entry }) => entry.operation !== "aml")) {
    return "No check arrived, only token requests: the client does not understand the token response"
  }
  if (outcomes[0] !== "clear" && checks[0]?.requests.some(isOfEarlierRun) === true) {
    return "The client keeps a token that a mock server issued before this run, also after a 401: restart the client, " +
      "or delete the token that it stores"
  }
  if (outcomes.every((outcome) => outcome === "clear")) {
    return "The client says clear for every person, also for a potential match and after status 500. If it does not, " +
      "--clear matches too much"
  }
  if (outcomes[0] !== "clear" && !isFlawed) {
    return !hasTexts && checks.every(({ code }) => code === checks[0]?.code)
      ? "The client prints nothing, and has the same code for every person: no text and no code says clear"
      : outcomes.every((outcome) => outcome === outcomes[0])
      ? `The client says ${outcomes[0]} for every person: set --clear and --review to what it says. A text that ` +
        "matches both is an error"
      : "The client does not say clear for a person without a match: set --clear to what it says"
  }
  return undefined
}

export const mute = "The client does not say review for a potential match: set --review to what it says"
