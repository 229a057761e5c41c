/** Judges of requests that a client repeats, and of how long it waits. */
import type { Finding, Judge, Request, Step } from "../day.ts"
import { each, found, ownRequestsTo, requestsTo } from "./judge.ts"
import { isRefused } from "./tokens.ts"

type Response = Request["entry"]["response"]

/** The `Retry-After` of a response in milliseconds after `now`, if it has one that can be read. */
const retryAfter = ({ headers }: Response, now: number): number | undefined => {
  const value = headers["retry-after"]
  if (value === undefined) return undefined
  const millis = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isNaN(millis) ? undefined : millis
}

/** How much earlier a request may be: timers are not exact, and a client may count an HTTP date in whole seconds. */
const toleranceOf = ({ headers }: Response) => /^\d+$/.test(headers["retry-after"] ?? "") ? 150 : 1000

const noRetry = "RFC 9110, section 9.2.2: a client should not automatically retry a POST"

/** What is wrong if the client sends a check again after this response. */
const resent = (first: Request, second: Request, step: Step): ReadonlyArray<Finding> => {
  const { response } = first.entry
  const { delivery, status } = response
  const end = first.at + first.entry.millis
  const wait = retryAfter(response, end)
  const finding = (verdict: Finding["verdict"], text: string, change: string, basis: string) => [
    found(verdict, `The client sends a check again ${text}`, change, basis, first, [step])
  ]
  // Section 5, rule 4: without a valid token, no check took place.
  if (status === 401) return []
  if (delivery === "scripted" || status >= 500 && status !== 503 || status < 300) {
    return finding(
      "wrong",
      "that the service may have performed, and may bill twice",
      "Report an error, and leave the decision to a person or to a later run",
      noRetry
    )
  }
  if (status === 429 || status === 503) {
    return wait === undefined
      ? finding(
        "risky",
        "after status 429 or 503 without Retry-After",
        "Report an error, or wait for a time that grows",
        noRetry
      )
      : second.at - end < wait - toleranceOf(response)
      ? finding(
        "wrong",
        "before the time in Retry-After",
        "Wait as long as Retry-After says, in seconds or until an HTTP date, or report an error",
        "RFC 9110, section 10.2.3, and for status 429 RFC 6585, section 4: how long to wait before a new request"
      )
      : []
  }
  return status < 400 ? [] : finding(
    "risky",
    "that the service refused",
    "Report an error",
    "RFC 9110, section 15.5: the client seems to have erred"
  )
}

/** The client sends a check again that may have been performed, or too early. */
export const repeats: Judge = each((check) => {
  const aml = ownRequestsTo("aml", check)
  return aml.slice(1).flatMap((second, index) => {
    const first = aml[index]
    return first === undefined ? [] : resent(first, second, check.step)
  })
})

/** How many requests of one kind a check may need. */
const many = 5

/** The checks that the client sends again with a token that the service has refused. */
const useless = (aml: ReadonlyArray<Request>) =>
  aml.filter(({ authorization }, index) =>
    aml.slice(0, index).some((request) => isRefused(request) && request.authorization === authorization)
  )

/** The client sends requests without an end. */
export const floods: Judge = each((check) =>
  (["aml", "token"] as const).flatMap((operation) => {
    const all = ownRequestsTo(operation, check)
    const isUnauthorized = all.some(isRefused)
    const isUseless = operation === "aml" && useless(all).length > 1
    const times = `${operation === "aml" ? "a check" : "a token request"} ${
      all.length > many ? `more than ${many}` : all.length
    } times for one person`
    return all.length <= (isUnauthorized ? 3 : many) && !isUseless ? [] : [
      found(
        all.length > many ? "wrong" : "risky",
        isUseless && all.length <= many
          ? "The client sends a refused token again and again"
          : `The client sends ${times}`,
        isUnauthorized
          ? "Renew the token once, and then report an error"
          : "Limit the attempts, and wait longer each time",
        isUnauthorized
          ? "RFC 9110, section 15.5.2: a repeated 401 means that the credentials are refused"
          : "RFC 6585, section 4; RFC 9110, section 9.2.2",
        all.at(-1),
        [check.step]
      )
    ]
  })
)

/** The client did not end. */
export const deadline: Judge = (checks, { patience }) =>
  checks.filter(({ ended }) => !ended).map((check) => {
    const last = check.requests.at(-1)
    const isWaiting = last?.entry.response.headers["retry-after"] !== undefined
    const isOnce = requestsTo("aml", check).length < 2 && requestsTo("token", check).length < 2
    const [verdict, text] = check.requests.length > many
      ? ["wrong", "The client retries without an end"] as const
      : isWaiting
      ? ["risky", "The client waits for a long Retry-After without a deadline"] as const
      : [
        isOnce && last?.entry.faults.some(({ kind }) => kind === "hang") === true ? "wrong" : "risky",
        "The client has no deadline"
      ] as const
    return found(
      verdict,
      `${text}: it did not end within ${patience}`,
      "Give each check one deadline, such as 30 seconds, that includes connect, response, body, all attempts and waits",
      "CWE-1088: synchronous access of a remote resource without a timeout; CWE-835: a loop without an exit",
      last,
      [check.step]
    )
  })
