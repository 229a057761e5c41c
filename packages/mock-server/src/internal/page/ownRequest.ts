/**
 * Handles a request as the user wrote it, also a wrong one, as if an app had sent it. In headers, placeholders stand
 * for the credentials and for tokens, so that the page never shows these.
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Journal from "../../Journal.ts"
import type * as Session from "../../Session.ts"
import { Recorder } from "../journal/recorder.ts"
import * as DataPlane from "../service/dataPlane.ts"
import * as Request from "../wire/request.ts"
import type { Problem, Problems } from "./forms.ts"
import * as WireText from "./wireText.ts"

/** A request to begin with. */
export interface Example {
  readonly name: string
  readonly text: string
}

const tokenText = (headers: Readonly<Record<string, string>> = {}, body = "grant_type=client_credentials"): string =>
  WireText.request({
    method: "POST",
    target: AccessToken.path,
    headers: {
      "authorization": "Basic <credentials>",
      "content-type": "application/x-www-form-urlencoded",
      ...headers
    },
    body
  })

const person = { entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" }

const checkText = (
  { body = JSON.stringify(person), headers = {}, token = "<token>" }: {
    readonly token?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  } = {}
): string =>
  WireText.request({
    method: "POST",
    target: AmlCredential.path,
    headers: {
      ...(token !== "" && { "authorization": `Bearer ${token}` }),
      "content-type": "application/json",
      ...headers
    },
    body
  })

const check: Example = { name: "Check", text: checkText() }

/** Both operations as the service document has them, and then what clients do wrong. */
export const examples: ReadonlyArray<Example> = [
  check,
  { name: "Token", text: tokenText() },
  { name: "Wrong key", text: tokenText({ authorization: "Basic <wrong credentials>" }) },
  { name: "Wrong grant_type", text: tokenText({}, "grant_type=password") },
  { name: "No token", text: checkText({ token: "" }) },
  { name: "Unknown token", text: checkText({ token: "unknown" }) },
  { name: "Expired token", text: checkText({ token: "<expired token>" }) },
  { name: "Revoked token", text: checkText({ token: "<revoked token>" }) },
  { name: "ISO date of birth", text: checkText({ body: JSON.stringify({ ...person, dob: "1990-02-01" }) }) },
  { name: "Missing field", text: checkText({ body: JSON.stringify({ ...person, dob: undefined }) }) },
  { name: "Extra field", text: checkText({ body: JSON.stringify({ ...person, country: "NL" }) }) },
  { name: "Not JSON", text: checkText({ body: "{\"entity_type\":\"person\"," }) },
  { name: "Wrong content type", text: checkText({ headers: { "content-type": "text/plain" } }) }
]

export const first = check

interface OwnRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const problem = (expected: string): Problem => ({
  path: "request",
  text: `The request is invalid: expected ${expected}`
})

const firstLine = /^([A-Z]+) (\/[\x21-\x7e]*)( HTTP\/1\.1)?$/

const headerLine = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\x20-\x7e]*)$/

/** Line breaks of a form are CRLF. The body is sent with LF. */
const parse = (text: string): Either.Either<OwnRequest, Problems> => {
  const lines = text.replaceAll("\r\n", "\n").split("\n")
  const end = lines.indexOf("")
  const [line = "", ...headerLines] = end === -1 ? lines : lines.slice(0, end)
  const body = end === -1 ? "" : lines.slice(end + 1).join("\n")
  const [, method = "", target = ""] = firstLine.exec(line) ?? []
  if (method === "") return Either.left([problem("a first line such as POST /api/aml HTTP/1.1")])
  const headers = headerLines.map((line) => headerLine.exec(line))
  const invalid = headers.indexOf(null)
  if (invalid !== -1) {
    return Either.left([problem(`"name: value" in line ${invalid + 2}, and an empty line before the body`)])
  }
  return Either.right({
    method,
    target,
    body,
    headers: Object.fromEntries(
      headers.flatMap((header) => header === null ? [] : [[header[1]?.toLowerCase() ?? "", header[2]?.trim() ?? ""]])
    )
  })
}

type Placeholder = (session: Session.Session) => Effect.Effect<string>

const credentials = ({ customerId }: Session.Session, key: string) => Encoding.encodeBase64(`${customerId}:${key}`)

const endedToken = (end: "expire" | "revoke"): Placeholder => ({ issueToken, tokens }) =>
  Effect.tap(issueToken, (token) => tokens[end](Option.some(token)))

const placeholders: Readonly<Record<string, Placeholder>> = {
  "<credentials>": (session) => Effect.succeed(credentials(session, Redacted.value(session.customerKey))),
  "<wrong credentials>": (session) => Effect.succeed(credentials(session, "wrong key")),
  "<token>": ({ issueToken }) => issueToken,
  "<expired token>": endedToken("expire"),
  "<revoked token>": endedToken("revoke")
}

/** The placeholders, for the hint of the form. */
export const placeholderNames = Object.keys(placeholders)

const fill = (session: Session.Session) => (value: string): Effect.Effect<string> =>
  Effect.reduce(
    Object.entries(placeholders),
    value,
    (value, [name, text]) =>
      value.includes(name)
        ? Effect.map(text(session), (text) => value.replaceAll(name, () => text))
        : Effect.succeed(value)
  )

/**
 * Sends a request, and returns its exchange as soon as the journal has it. `origin` is the address at which the user's
 * browser reaches this server.
 */
export const send = (
  session: Session.Session,
  text: string,
  origin: string
): Effect.Effect<Journal.Entry, Problems, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const { body, headers, method, target } = yield* parse(text)
    const filled = yield* Effect.forEach(Object.entries(headers), ([name, value]) =>
      Effect.map(fill(session)(value), (value) => [name, value] as const))
    const { host } = new URL(origin)
    const head = Request.head({
      method,
      url: target,
      headers: { host, ...Object.fromEntries(filled) },
      source: undefined
    })
    const recorder = yield* Recorder
    const recorded = yield* Deferred.make<Journal.Entry>()
    const handle = yield* Effect.provideService(DataPlane.make, Recorder, {
      ...recorder,
      record: (entry) =>
        Effect.zipRight(recorder.record(entry), Deferred.succeed(recorded, entry))
    })
    // The response, which a fault may delay or break, has no reader.
    const response = handle(head, Effect.succeed({ body: new TextEncoder().encode(body), isWhole: true }))
    return yield* Effect.raceFirst(Deferred.await(recorded), Effect.zipRight(response, Effect.never))
  })
