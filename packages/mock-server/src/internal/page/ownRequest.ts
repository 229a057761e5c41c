/**
 * Sends a request exactly as the user wrote it, also a wrong one, to this server's own data plane. In headers,
 * placeholders stand for the credentials and for tokens, so that the page never shows these.
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpMethod from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import type { Problem, Problems } from "./forms.ts"
import { deadline, type RecordedExchange, recordingClient, type Step, stepOf, tokenMask } from "./recordedExchange.ts"
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
  readonly method: HttpMethod.HttpMethod
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
  if (!HttpMethod.isHttpMethod(method)) {
    return Either.left([problem("a first line such as POST /api/aml HTTP/1.1")])
  }
  const headers = headerLines.map((line) => headerLine.exec(line))
  const invalid = headers.indexOf(null)
  if (invalid !== -1) {
    return Either.left([problem(`"name: value" in line ${invalid + 2}, and an empty line before the body`)])
  }
  if (body !== "" && !HttpMethod.hasBody(method)) {
    return Either.left([problem(`no body, because the method is ${method}`)])
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

/** `origin` is the address at which the user's browser reaches this server. */
export const send = (
  session: Session.Session,
  text: string,
  origin: string
): Effect.Effect<Step, Problems, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const { body, headers, method, target } = yield* parse(text)
    const filled = yield* Effect.forEach(Object.entries(headers), ([name, value]) =>
      Effect.map(fill(session)(value), (value) => [name, value] as const))
    const exchanges: Array<RecordedExchange> = []
    const client = yield* recordingClient(exchanges)
    yield* client.execute(
      HttpClientRequest.make(method)(`${origin}${target}`, {
        headers: Object.fromEntries(filled),
        ...(body !== "" && { body: HttpBody.raw(new TextEncoder().encode(body)) })
      })
    ).pipe(
      Effect.flatMap(({ stream }) =>
        Stream.runDrain(stream)
      ),
      Effect.timeout(deadline),
      Effect.ignore,
      Effect.withTracerEnabled(false)
    )
    const [exchange] = exchanges
    if (exchange === undefined) return yield* Effect.fail([problem("a valid address in the first line")])
    return {
      ...stepOf(exchange, 0, tokenMask(session.customerId)),
      title: "Result",
      request: WireText.request({ method, target, headers, body })
    }
  })
