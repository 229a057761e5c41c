/** The first run: three persons, which show whether the client can be tested at all. */
import * as Schema from "effect/Schema"
import type { Check, Step } from "./day.ts"
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
  { text: Schema.String, explanation: Schema.String }
) {
  /** The exit code of the command. */
  readonly exitCode = 2
  override get message() {
    return this.text
  }
}

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

export const explanation = (checks: ReadonlyArray<Check>): string => checks.map(explain).join("\n")

/** Why the client cannot be tested, if it cannot. */
export const problem = (checks: ReadonlyArray<Check>, isFlawed: boolean): string | undefined => {
  const outcomes = checks.map(({ outcome }) => outcome)
  const requests = checks.flatMap(({ requests }) => requests)
  const aml = requests.filter(({ entry }) => entry.operation === "aml")
  const hasTexts = checks.some(({ texts }) => texts.some(({ text, where }) => where !== "log" && text.trim() !== ""))
  if (checks.some(({ code, requests }) => (code === 126 || code === 127) && requests.length === 0)) {
    return "The command does not start: see its output"
  }
  if (requests.length === 0) {
    return `No request arrived${hasTexts ? "" : ", and the client prints nothing"}: it ignores the address that it ` +
      "receives. Let it read the address from the environment, or set its variables with --env"
  }
  if (aml.length === 0 && !isFlawed) {
    return "No check arrived, only token requests: the client does not understand the token response"
  }
  if (outcomes.every((outcome) => outcome === "clear")) {
    return "The client says clear for every person, also for a potential match and after status 500. If it does not, " +
      "--clear matches too much"
  }
  if (outcomes[0] !== "clear" && !isFlawed) {
    return !hasTexts && checks.every(({ code }) => code === checks[0]?.code)
      ? "The client prints nothing, and has the same code for every person: no text and no code says clear"
      : outcomes.every((outcome) => outcome === outcomes[0])
      ? `The client says ${outcomes[0]} for every person: set --clear and --review to what it says`
      : "The client does not say clear for a person without a match: set --clear to what it says"
  }
  return undefined
}
