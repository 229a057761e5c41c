/** Judges what a client did. Each judge is a pure function of the checks of a day. */
import * as Arr from "effect/Array"
import type { Check, Day, Finding, Judge, Request, Step, Text } from "./day.ts"
import * as Persons from "./persons.ts"

const found = (
  verdict: Finding["verdict"],
  text: string,
  change: string,
  basis: string,
  request?: Request,
  steps: ReadonlyArray<Step> = []
): Finding => ({ verdict, text, steps: steps.map(({ label }) => label), change, basis, request })

/** The findings of each check. */
const each = (findings: (check: Check) => ReadonlyArray<Finding>): Judge => (checks) => checks.flatMap(findings)

/** Findings with the same text as one, with the steps of all. */
export const merged = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  Array.from(
    findings.reduce((byText, finding) => {
      const first = byText.get(finding.text)
      return byText.set(
        finding.text,
        first === undefined ? finding : { ...first, steps: Arr.dedupe([...first.steps, ...finding.steps]) }
      )
    }, new Map<string, Finding>()).values()
  )

const requestsTo = (operation: "aml" | "token", { requests }: Check) =>
  requests.filter(({ entry }) => entry.operation === operation)

const stepsOf = (checks: ReadonlyArray<Check>) => checks.map(({ step }) => step)

/** Whether the mock server responded as the step says, and not with a refusal of the request or of its token. */
export const isReached = ({ requests, step }: Check) =>
  requests.some(({ entry: { facts, faults } }) =>
    faults.length > 0 || step.faults === undefined && facts.kind === "checked"
  )

/** The client clears a person whom it must not clear. */
export const cleared = ({ cleared }: Day): Judge => (checks) => {
  const wrong = checks.filter((check) => check.step.expect !== "clear" && check.outcome === "clear")
  const reached = wrong.filter(isReached)
  const unasked = checks.filter(({ outcome, requests }) => outcome === "clear" && requests.length === 0)
  return [
    ...(reached.length === 0 ? [] : [{
      ...cleared,
      steps: reached.length < checks.length || checks.length > 1 ? stepsOf(reached).map(({ label }) => label) : [],
      request: reached[0]?.requests.at(-1)
    }]),
    ...(unasked.length === 0 ? [] : [
      found(
        "wrong",
        "The client clears a person without a request",
        "Check each person with the service, and never clear one without a response",
        "section 4.2, rule 1: the result is in the response of the call"
      )
    ])
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

const section = "section 4.2, request body"

/** What a refused request does wrong, by the rule of the mock server. */
const refusals: Readonly<Record<string, readonly [text: string, change: string, basis: string]>> = {
  "aml.token-missing": [
    "The client sends a check without a Bearer token",
    "Send the token as `Authorization: Bearer <token>`, and send no check without a token",
    "section 5, rules 1 and 4: every API request needs the token"
  ],
  "aml.token-unknown": [
    "The client sends a check with a token that the service did not issue",
    "Send the token of the token response, and send no check if there is none",
    "section 5, rule 4"
  ],
  "aml.body-not-json": ["The body of the check is not JSON", "Write the body with a JSON library", section],
  "aml.body-duplicate-key": ["The body of the check has a field twice", "Send each field once", section],
  "aml.query": [
    "The client sends a token or a person in the address",
    "Send the token in the header Authorization, and the person in the body",
    "section 4.2; RFC 6750, section 5.3: do not pass bearer tokens in page URLs"
  ],
  "aml.method": ["The client does not send the check as POST", "Use POST", "section 4.2: POST {base_url}/api/aml"],
  "path.unknown": [
    "The client calls a path that the document does not show",
    "Use {auth_url}/oauth/service and {base_url}/api/aml",
    "sections 4.1 and 4.2"
  ],
  "token.method": ["The client does not request the token as POST", "Use POST", "section 4.1"],
  "token.content-type": [
    "The token request does not have the type application/x-www-form-urlencoded",
    "Send this content type",
    "section 4.1, headers"
  ],
  "token.credentials": [
    "The token request does not have the customer's id and key as Basic",
    "Send `Authorization: Basic` and base64(customer_id:customer_key), without other changes",
    "section 4.1, headers"
  ],
  "token.grant-type": [
    "The token request does not have grant_type=client_credentials",
    "Send grant_type=client_credentials in the body",
    "section 4.1, request body"
  ],
  "token.query": [
    "The client sends credentials in the address of the token request",
    "Send them in the header Authorization",
    "section 4.1; RFC 6749, section 2.3.1: parameters must not be in the request URI"
  ],
  "token.parameters": [
    "The token request authenticates twice, or repeats a parameter",
    "Send the credentials in the header only, and grant_type once",
    "RFC 6749, section 2.3: not more than one authentication method in a request"
  ]
}

const fields: Readonly<Record<string, readonly [text: string, change: string, basis: string]>> = {
  dob: [
    "The client does not send the date of birth as dd-mm-yyyy",
    "Send dob as dd-mm-yyyy, such as 14-03-1957",
    `${section}: dob, date of birth in the format dd-mm-yyyy`
  ],
  entity_type: [
    "The client sends another entity_type than person",
    "Send \"entity_type\": \"person\"",
    `${section}: entity_type must be person`
  ],
  name: ["The client sends no name", "Send the full name as text in the field name", `${section}: name`]
}

const otherField = [
  "The client sends a field that the document does not show",
  "Send entity_type, name and dob only",
  section
] as const

const isElsewhere = ({ host }: Request, { service }: Check) => host !== new URL(service.baseUrl).host

/** The requests break the document. */
export const requests: Judge = each((check) =>
  check.requests.filter((request) => !isElsewhere(request, check)).flatMap((request) => {
    const { facts, rule } = request.entry
    const wrong = ([text, change, basis]: readonly [string, string, string]) =>
      found("wrong", text, change, basis, request)
    if (facts.kind === "granted" && facts.isFormEncoded) {
      return [
        found(
          "risky",
          "The client form-encodes the id and the key before it encodes them as base64",
          "Encode them as they are",
          "section 4.1: base64 of customer_id, a colon, and customer_key",
          request
        )
      ]
    }
    if (rule === "aml.content-type") {
      return [
        found(
          "risky",
          "The client does not send the check as application/json",
          "Send Content-Type: application/json",
          "section 4.2, request body: a JSON object. The document does not show the content type",
          request
        )
      ]
    }
    if (facts.kind === "refused" && rule === "aml.body-invalid") {
      return facts.violations.map(({ path }) => wrong(fields[path] ?? otherField))
    }
    const refusal = refusals[rule]
    return refusal === undefined ? [] : [wrong(refusal)]
  })
)

/** The client sends another name or another date than it received. */
export const persons: Judge = each((check) =>
  requestsTo("aml", check).flatMap((request) => {
    const { dateOfBirth, name } = request
    const expected = Persons.comparable(check.person.name)
    const sent = name === undefined ? expected : Persons.comparable(name)
    const isCase = sent.toLowerCase() === expected.toLowerCase()
    return [
      ...(sent === expected ? [] : [
        found(
          isCase ? "risky" : "wrong",
          isCase
            ? "The client changes the case of a name"
            : "The client sends a name other than the one it received",
          isCase
            ? "Keep upper and lower case"
            : "Send the name as it is, in UTF-8, with all of its words and characters",
          "section 4.2: name, full name of the person, including any middle names",
          request,
          [check.step]
        )
      ]),
      ...(dateOfBirth === undefined || dateOfBirth === check.person.dateOfBirth ? [] : [
        found(
          "wrong",
          "The client sends another date of birth than it received",
          "Rearrange the parts of the text. Do not convert the date between time zones, and keep the order dd-mm-yyyy",
          "section 4.2: dob, date of birth in the format dd-mm-yyyy",
          request
        )
      ])
    ]
  })
)

/** The `Retry-After` of a response in milliseconds after `now`, if it has one that can be read. */
const retryAfter = ({ headers }: Request["entry"]["response"], now: number): number | undefined => {
  const value = headers["retry-after"]
  if (value === undefined) return undefined
  const millis = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isNaN(millis) ? undefined : millis
}

/** How much earlier than `Retry-After` a request may be, because clocks are not exact. */
const tolerance = 150

/** What is wrong if the client sends a check again after this response. */
const resent = (first: Request, second: Request): ReadonlyArray<Finding> => {
  const { delivery, status } = first.entry.response
  const wait = retryAfter(first.entry.response, first.at + first.entry.millis)
  const gap = second.at - first.at - first.entry.millis
  if (delivery === "scripted" || status >= 500 && status !== 503 || status < 300) {
    const after = delivery === "scripted" ? "the connection failed" : status < 300 ? "a response" : `status ${status}`
    return [
      found(
        "wrong",
        `The client sends a check again after ${after}, and the service may perform and bill it twice`,
        "Report an error, and leave the decision to a person or to a later run",
        "RFC 9110, section 9.2.2: a client should not automatically retry a POST",
        second
      )
    ]
  }
  if (status === 429 || status === 503) {
    return wait === undefined
      ? [
        found(
          "risky",
          `The client sends a check again after status ${status} without Retry-After`,
          "Report an error, or wait for a time that grows",
          "RFC 9110, section 9.2.2: a client should not automatically retry a POST",
          second
        )
      ]
      : gap < wait - tolerance
      ? [
        found(
          "wrong",
          `The client sends a check again before the time in Retry-After (status ${status})`,
          "Wait as long as Retry-After says, in seconds or until an HTTP date, or report an error",
          status === 429
            ? "RFC 6585, section 4, and RFC 9110, section 10.2.3: how long to wait before a new request"
            : "RFC 9110, section 10.2.3: how long the service is expected to be unavailable",
          second
        )
      ]
      : []
  }
  return status === 401 || status < 400 ? [] : [
    found(
      "risky",
      `The client sends a check again that the service refused with status ${status}`,
      "Report an error",
      "RFC 9110, section 15.5: the client seems to have erred",
      second
    )
  ]
}

/** The client sends a check again that may have been performed, or too early. */
export const repeats: Judge = each((check) => {
  const aml = requestsTo("aml", check).filter((request) => !isElsewhere(request, check))
  return aml.slice(1).flatMap((second, index) => {
    const first = aml[index]
    return first === undefined ? [] : resent(first, second)
  })
})

/** How many requests of one kind a check may need. */
const many = 5

/** The client sends requests without an end. */
export const floods: Judge = (checks, { patience }) =>
  checks.flatMap((check) =>
    (["aml", "token"] as const).flatMap((operation) => {
      const all = requestsTo(operation, check)
      const isRefused = all.some(({ entry }) => entry.response.status === 401)
      return all.length <= (isRefused ? 3 : many) ? [] : [
        found(
          all.length > many ? "wrong" : "risky",
          `The client sends ${check.ended ? "" : "and sends "}${operation === "aml" ? "a check" : "a token request"} ${
            all.length > many ? `more than ${many}` : all.length
          } times for one person`,
          isRefused
            ? "Renew the token once, and then report an error"
            : "Limit the attempts, and wait longer each time",
          isRefused
            ? "RFC 9110, section 15.5.2: a repeated 401 means that the credentials are refused"
            : "RFC 6585, section 4; RFC 9110, section 9.2.2",
          all.at(-1),
          [check.step]
        )
      ]
    }).concat(
      check.ended ? [] : [
        check.requests.length > many
          ? found(
            "wrong",
            `The client retries without an end: it did not end within ${patience}`,
            "Give each check one deadline that includes all attempts and waits",
            "CWE-1088 and CWE-835: a wait without a timeout, and a loop without an exit",
            check.requests.at(-1),
            [check.step]
          )
          : found(
            check.requests.at(-1)?.entry.faults.some(({ kind }) => kind === "hang") === true &&
              requestsTo("aml", check).length < 2 && requestsTo("token", check).length < 2
              ? "wrong"
              : "risky",
            `The client has no deadline: it did not end within ${patience}`,
            "Give each check one deadline for connect, response and body, such as 30 seconds",
            "CWE-1088: synchronous access of a remote resource without a timeout",
            check.requests.at(-1),
            [check.step]
          )
      ]
    )
  )

const places: Readonly<Record<Text["where"], string>> = {
  output: "its output",
  log: "its error output",
  response: "its response"
}

const tokensOf = ({ requests }: Check) =>
  requests.flatMap(({ authorization = "" }) => /^Bearer\s+(\S{8,})$/i.exec(authorization)?.slice(1) ?? [])

/** The client writes a key, a token or a person where others may read it. */
export const leaks: Judge = each((check) => {
  const { customerId, customerKey } = check.service
  const basic = Buffer.from(`${customerId}:${customerKey}`).toString("base64")
  return check.texts.flatMap(({ text, where }) => {
    const has = (secret: string) => text.toLowerCase().includes(secret.toLowerCase())
    const leak = (what: string, verdict: Finding["verdict"] = "wrong") =>
      found(
        verdict,
        `The client writes ${what} to ${places[where]}`,
        "Write none of it, and mask it in errors and in the objects of the HTTP library",
        where === "response"
          ? "CWE-209: an error message with sensitive information"
          : "CWE-532: insertion of sensitive information into a log file"
      )
    return [
      ...([customerKey, basic].some(has) ? [leak("the customer key")] : []),
      ...(tokensOf(check).some(has) ? [leak("the access token")] : []),
      ...(where !== "response" && Persons.canaries(check.person).some(has)
        ? [leak("the name or the date of birth of a person", where === "log" ? "wrong" : "risky")]
        : [])
    ]
  })
})

/** The client follows a redirect to another host. */
export const redirects: Judge = each((check) =>
  check.requests.filter((request) => isElsewhere(request, check)).flatMap((request) =>
    request.authorization !== undefined
      ? [
        found(
          "wrong",
          "The client follows a redirect to another host with its credentials",
          "Follow no redirects, or remove the header Authorization for another host",
          "RFC 9110, section 15.4: remove Authorization when the host of a redirect differs; RFC 6750, section 5.3",
          request
        )
      ]
      : request.name !== undefined
      ? [
        found(
          "risky",
          "The client follows a redirect to another host, and sends the person there",
          "Follow no redirects: the service document shows none",
          "section 1: the API has one address, {base_url}",
          request
        )
      ]
      : []
  )
)

const tokenOf = (request: Request | undefined) => request?.authorization

/** The client does not use a new token after a 401. `checks` end with those after the token became invalid. */
export const renewal: Judge = (checks, { isProcess }) => {
  const refused = checks.filter((check) => {
    const aml = requestsTo("aml", check)
    return aml[0]?.entry.response.status === 401 &&
      aml.every((request) => request.entry.response.status === 401 && tokenOf(request) === tokenOf(aml[0]))
  })
  const last = refused.at(-1)
  return last === undefined ? [] : [
    found(
      "risky",
      isProcess
        ? "The client does not renew the token after a 401"
        : `The client does not renew the token after a 401: ${refused.length === 1 ? "a check" : "each check"} fails`,
      "After a 401, request a new token once, and send the check again with it",
      "RFC 6750, section 3.1: on invalid_token a client may request a new token and repeat the request; section 5, " +
        "rule 5: a token is valid for one hour",
      requestsTo("aml", last).at(-1)
    )
  ]
}

const keepToken = [
  "Keep the token in memory for up to an hour",
  "section 5, rule 5: a token is valid for one hour"
] as const

/** The client requests a token for each check. */
export const tokenReuse: Judge = (checks) => {
  const last = checks.slice(1).flatMap((check) => requestsTo("token", check)).at(-1)
  return last === undefined ? [] : [found("risky", "The client requests a token for each check", ...keepToken, last)]
}

/** The client requests several tokens for one check, although the service accepted the first. */
export const severalTokens: Judge = each((check) => {
  const granted = requestsTo("token", check).filter(({ entry: { facts, faults } }) =>
    facts.kind === "granted" && faults.length === 0
  )
  const isRefused = requestsTo("aml", check).some(({ entry }) => entry.response.status === 401)
  return granted.length < 2 || isRefused ? [] : [
    found("risky", "The client requests several tokens for one check", ...keepToken, granted.at(-1))
  ]
})

/** The parts of a response that an applicant sees, without what differs for each person. */
const shown = ({ code, person, texts }: Check) =>
  [
    code,
    ...texts.map(({ text }) =>
      [person.name, ...Persons.canaries(person)].reduce((shown, canary) => shown.replaceAll(canary, ""), text)
        .replaceAll(/[\da-f]{8}-[\da-f-]{27}|\d+/gi, "0")
    )
  ].join("\n")

/** An applicant sees a difference between a match and an outage. */
export const tippingOff: Judge = (checks) => {
  const [match, outage] = [checks.find(({ step }) => step.expect === "review"), checks.at(-1)]
  return match === undefined || outage === undefined || shown(match) === shown(outage) ? [] : [
    found(
      "risky",
      "The response to the applicant differs between a potential match and an outage",
      "Send the same status, headers and body for a match and for an error, such as \"we will write to you\"",
      "FATF recommendation 21: tipping-off",
      match.requests.at(-1)
    )
  ]
}

/** The judges of every day. */
export const all: ReadonlyArray<Judge> = [
  requests,
  persons,
  repeats,
  severalTokens,
  floods,
  leaks,
  redirects
]
