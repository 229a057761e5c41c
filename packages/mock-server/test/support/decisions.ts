/** Requests to the data plane, and the explanation of each decision in the journal. */
import { Control, MockServer, type Profile } from "@effect-idv/mock-server"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect } from "effect"

export const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`
export const formType = "application/x-www-form-urlencoded"
export const person = { entity_type: "person", name: "Ada Testclear", dob: "01-02-1960" }

export interface Sent {
  readonly method?: "GET" | "POST"
  readonly target?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

export const send = ({ body = "", headers = {}, method = "POST", target = "/" }: Sent) =>
  Effect.gen(function*() {
    const { url } = yield* MockServer.MockServer
    const { "content-type": contentType = "", ...others } = headers
    const response = yield* HttpClientRequest.make(method)(`${url}${target}`).pipe(
      HttpClientRequest.setHeaders(others),
      (request) => method === "GET" ? request : HttpClientRequest.bodyText(request, body, contentType),
      HttpClient.execute
    )
    return { status: response.status, headers: response.headers, text: yield* response.text }
  })

export const tokenRequest = (change: Sent = {}): Sent => ({
  target: "/oauth/service",
  body: "grant_type=client_credentials",
  ...change,
  headers: { authorization: basic("demo-customer:demo-key"), "content-type": formType, ...change.headers }
})

export const issuedToken = Effect.map(send(tokenRequest()), ({ text }): string => JSON.parse(text).access_token)

export const check = (token: string, change: Sent = {}): Sent => ({
  target: "/api/aml",
  body: JSON.stringify(person),
  ...change,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...change.headers }
})

/** The status of the response, and what the journal has of the decision. */
export const decisionOf = (request: Sent) =>
  Effect.gen(function*() {
    const { session, unmatchedRequests } = yield* Control.Control
    const { status } = yield* send(request)
    const journals = [yield* session("demo-customer").journal(), yield* unmatchedRequests()]
    const entry = journals.flatMap(({ entries }) => entries).toSorted((one, other) => one.id - other.id).at(-1)
    return [status, entry?.rule, entry?.why, entry?.claims, entry?.unexpected]
  })

export type Expected = [
  status: number,
  rule: string,
  why: string,
  claims: ReadonlyArray<string>,
  unexpected: boolean
]

/** Begins with a session as the server starts it. */
export const reset = Effect.flatMap(Control.Control, ({ session }) => session("demo-customer").reset)

export const changeProfile = (patch: Profile.Patch) =>
  Effect.flatMap(Control.Control, ({ session }) => session("demo-customer").changeProfile(patch))

export const tooLong = "x".repeat(64 * 1024 + 1)
