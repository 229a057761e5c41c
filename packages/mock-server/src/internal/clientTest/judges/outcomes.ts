/** Judges of what a client says about persons. */
import type { Check, Day, Finding, Judge } from "../day.ts"
import * as Secrets from "../secrets.ts"
import { found, isReached, requestsTo, stepsOf } from "./judge.ts"

/** Rule 1 of the AML check. */
export const success = "section 4.2, rule 1: a result is in the response when the call succeeds"

const onlyNo =
  "Clear a person only if match_found is exactly \"No\", in a complete and successful response about this " +
  "person. Everything else is an error"

/** The finding if the client clears persons whom it must not clear. */
export const clearing = (
  text: string,
  basis: string,
  verdict: Finding["verdict"] = "wrong"
): Omit<Finding, "steps"> => ({ verdict, text, change: onlyNo, basis })

export const failed = clearing("The client clears a person although the check failed", success)

/** The client clears a person whom it must not clear. Only a response with a "No" allows it. */
export const cleared = (day: Day): Judge => (checks) => {
  const clear = checks.filter(({ outcome }) => outcome === "clear")
  const reached = clear.filter((check) => check.step.expect !== "clear" && isReached(check))
  const others = clear.filter((check) => !reached.includes(check))
  const unasked = others.filter((check) => requestsTo("aml", check).length === 0)
  const refused = others.filter((check) =>
    !unasked.includes(check) && !requestsTo("aml", check).some(({ entry }) => entry.response.status < 300)
  )
  const last = (checks: ReadonlyArray<Check>) => checks[0]?.requests.at(-1)
  return [
    ...reached.length === 0 ? [] : [{
      ...day.cleared,
      steps: checks.length > 1 ? stepsOf(reached).map(({ label }) => label) : [],
      request: last(reached)
    }],
    ...refused.length === 0 ? [] : [{ ...failed, steps: [], request: last(refused) }],
    ...unasked.length === 0 ? [] : [
      found(
        "wrong",
        "The client clears a person without a request",
        "Check each person by name and date of birth with the service, and never clear one without a response",
        "section 4.2, rule 1: the result is in the response of the call",
        undefined,
        stepsOf(unasked)
      )
    ]
  ]
}

const statusOf = (check: Check) => requestsTo("aml", check).at(-1)?.entry.response.status

/** The client does not clear a person about whom the service says "No". */
export const notCleared: Judge = (checks) => {
  const strict = checks.filter(({ ended, outcome, step }) => step.expect === "clear" && outcome !== "clear" && ended)
  const risky = (checks: ReadonlyArray<Check>, text: string, change: string) =>
    checks.length === 0 ? [] : [
      found(
        "risky",
        text,
        change,
        "section 4.2, rule 1: match_found is either Potential match or No",
        checks[0]?.requests.at(-1),
        stepsOf(checks)
      )
    ]
  return [
    ...risky(
      strict.filter((check) => statusOf(check) === 200),
      "The client does not clear a person with the result \"No\"",
      "Clear a person whose check returns \"No\""
    ),
    ...risky(
      strict.filter(({ requests }) => requests.length === 0),
      "The client sends no check about a person",
      "Send each name and date of birth as they are"
    )
  ]
}

/** The client says that a person is a potential match although the check failed. */
export const failedMatch: Judge = (checks, { isEndpoint }) => {
  // A backend should respond to an applicant after an error as after a match.
  const failed = isEndpoint ? [] : checks.filter(({ outcome, requests, step }) => {
    const response = requests.at(-1)?.entry.response
    return outcome === "review" && step.expect !== "review" && response !== undefined &&
      (response.status >= 400 || response.delivery === "scripted")
  })
  return failed.length === 0 ? [] : [
    found(
      "risky",
      "The client reports a failed check as a potential match",
      "Report an error, so that an outage makes nobody a listed person",
      success,
      failed[0]?.requests.at(-1),
      stepsOf(failed)
    )
  ]
}

/** The exit code does not show that a check failed. */
export const exitCodes: Judge = (checks, { isEndpoint }) =>
  isEndpoint ?
    [] :
    checks.filter(({ code, ended, outcome }) => outcome === "error" && ended && code === 0).map((check) =>
      found(
        "risky",
        "The exit code is 0 although the check failed: a caller that looks at the code only takes the person for clear",
        "End with another exit code than 0 after an error",
        "POSIX.1-2017, exit(): EXIT_SUCCESS, which is 0, means successful termination",
        check.requests.at(-1)
      )
    )

/** The parts of a response that an applicant sees, without what differs for each person. */
const linesOf = ({ code, person, service, texts }: Check): ReadonlyArray<string> => [
  String(code),
  ...texts.flatMap(({ text }) =>
    Secrets.mask(text.replaceAll(person.name, ""), service, person, "")
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d+/gi, "0").split("\n")
  )
]

/** An applicant sees a difference between a match and an outage. What differs between two matches says nothing. */
export const tippingOff: Judge = ([match, second, outage]) => {
  if (match === undefined || second === undefined || outage === undefined) return []
  const [lines, others] = [linesOf(match), linesOf(second)]
  const visible = (check: Check) => {
    const all = linesOf(check)
    return all.length === lines.length && lines.length === others.length
      ? all.filter((_, index) => lines[index] === others[index])
      : all
  }
  const [ofMatch, ofOutage] = [visible(match), visible(outage)]
  const shown = (lines: ReadonlyArray<string>, others: ReadonlyArray<string>) =>
    lines.find((line) => line.trim() !== "" && !others.includes(line)) ?? "nothing more"
  return ofMatch.join("\n") === ofOutage.join("\n") ? [] : [{
    ...found(
      "risky",
      "The response to the applicant differs between a potential match and an outage",
      "Send the same status, headers and body for a match and for an error, such as \"we will write to you\"",
      "FATF recommendation 21: tipping-off",
      match.requests.at(-1)
    ),
    line: `${shown(ofMatch, ofOutage)} after ${match.step.label}, ${
      shown(ofOutage, ofMatch)
    } after ${outage.step.label}`
  }]
}
