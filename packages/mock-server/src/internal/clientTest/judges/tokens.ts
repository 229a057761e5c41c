/** Judges of how a client keeps, renews and shares its token. */
import type { Finding, Judge, Request } from "../day.ts"
import { found, requestsTo } from "./judge.ts"

export const isRefused = ({ entry }: Request) => entry.response.status === 401

/** Whether a request has a token that a mock server issued before this run. A client may keep it, and renews it. */
export const isOfEarlierRun = ({ authorization = "", entry: { customerId, rule } }: Request): boolean =>
  rule === "aml.token-unknown" && customerId !== null && /\.[\da-f]{32}$/.test(authorization)

/** Whether a client sent checks only, each with a token that the service refused. */
export const areRefused = (requests: ReadonlyArray<Request>): boolean =>
  requests.length > 0 && requests.every((request) => request.entry.operation === "aml" && isRefused(request))

const isGranted = ({ entry: { faults, response } }: Request) =>
  response.status < 300 && faults.every(({ kind }) => kind === "latency")

/**
 * The client goes on with a token that the service refused in an earlier check, and has never renewed one. A new process
 * has a new token, and a client may pause for some time after it renewed one.
 */
export const renewal: Judge = (checks, { history, isProcess }) => {
  const requests = [...history, ...checks].flatMap(({ requests }) => requests)
  const firstRefused = requests.findIndex((request) => request.entry.operation === "aml" && isRefused(request))
  const isRenewed = requests.some(({ entry }, index) => entry.operation === "token" && index > firstRefused)
  const aml = checks.map((check) => requestsTo("aml", check))
  const refused = aml.slice(0, -1).flat().filter(isRefused).map(({ authorization }) => authorization)
  const last = aml.at(-1) ?? []
  return isProcess || isRenewed || last.length === 0 ||
      !last.every((request) => isRefused(request) && refused.includes(request.authorization))
    ? []
    : [
      found(
        "risky",
        "The client does not renew the token after a 401: each check fails",
        "After a 401, request a new token before the next check",
        "RFC 6750, section 3.1: on invalid_token a client may request a new token and repeat the request; section 5, " +
          "rule 5: a token is valid for one hour",
        last.at(-1)
      )
    ]
}

const extraToken = (text: string, request: Request | undefined): ReadonlyArray<Finding> => [
  found(
    "risky",
    text,
    "Keep the token in memory for up to an hour, and share one token request among all checks that wait for it",
    "section 5, rule 5: a token is valid for one hour",
    request
  )
]

/** Whether a client has a valid token after a request, if it had one before. */
const hasToken = (had: boolean, request: Request): boolean =>
  request.entry.operation === "token"
    ? isGranted(request)
    : request.entry.operation === "aml"
    ? !isRefused(request)
    : had

/** The client requests a token although it has a valid one. A new process has none. */
export const tokenReuse: Judge = (checks, { history, isProcess }) => {
  let has = history.at(-1)?.requests.reduce(hasToken, false) ?? false
  return checks.flatMap((check) => {
    const { advance, revokeTokens } = check.step
    if (isProcess || advance !== undefined || revokeTokens === true) has = false
    return check.requests.flatMap((request) => {
      const isExtra = has && request.entry.operation === "token"
      has = hasToken(has, request)
      return isExtra
        ? extraToken(
          isProcess
            ? "The client requests several tokens for one check"
            : "The client requests a token although it has a valid one",
          request
        )
        : []
    })
  })
}

/** How many tokens ten simultaneous checks may need: a client may compare too late whether another check renewed it. */
const few = 3

/** Simultaneous checks do not share a token request. */
export const sharedToken: Judge = (checks) => {
  const granted = checks.flatMap((check) => requestsTo("token", check)).filter(isGranted)
  return granted.length <= few ? [] : extraToken(
    `The client requests more than ${few} tokens for ${checks.length} simultaneous checks`,
    granted.at(-1)
  )
}

/** The client uses the token of another customer. A command that stores its token may have one customer only. */
export const otherCustomer: Judge = (checks, { isCommand }) =>
  checks.flatMap((check) =>
    requestsTo("aml", check).filter(({ entry: { customerId } }) =>
      customerId !== null && customerId !== check.service.customerId
    )
  ).map((request) =>
    found(
      isCommand ? "risky" : "wrong",
      "The client sends the token of another customer",
      "Keep each token with the address, the id and the key that it belongs to",
      "section 2.1: the credentials belong to one customer; section 5, rule 1",
      request
    )
  )
