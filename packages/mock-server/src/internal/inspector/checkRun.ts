/**
 * A check as a client makes it, against this server's own data plane: a token, then the AML request.
 * What went over is kept as text, for a person to read, with the key and the token masked.
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import type * as DateOfBirth from "@effect-idv/core/DateOfBirth"
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Person from "@effect-idv/core/Person"
import * as PersonName from "@effect-idv/core/PersonName"
import * as Violation from "@effect-idv/core/Violation"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import * as Exchange from "../dataPlane/dataPlane.ts"
import * as Masking from "../journal/masking.ts"
import { Recorder } from "../journal/recorder.ts"
import * as InProcess from "../transport/inProcessClient.ts"
import * as WireText from "./wireText.ts"

/**
 * One of the two exchanges.
 *
 * - `response`: as far as it came. `end`: how it ended, if not with its end.
 * - `entry`: what the journal says of it.
 */
export interface Step {
  readonly title: string
  readonly request: string
  readonly response: string
  readonly end: Option.Option<string>
  readonly entry: Option.Option<Journal.Entry>
}

/** - `profile`: the address of the AML profile. */
export interface Verdict {
  readonly outcome: "potential" | "clear" | "none"
  readonly text: string
  readonly profile: Option.Option<string>
}

export interface Check {
  readonly steps: ReadonlyArray<Step>
  readonly verdict: Verdict
}

export interface Input {
  readonly name: Redacted.Redacted<string>
  readonly dateOfBirth: DateOfBirth.DateOfBirth
}

const deadline = "10 seconds"

const maxShownBytes = 16 * 1024

const shown = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.subarray(0, maxShownBytes)).toString("utf8")
  return bytes.length > maxShownBytes ? `${text}… (${bytes.length} bytes in all)` : text
}

/** Also of a body that is broken, and in which no field can be found. */
const tokenMask = (customerId: string): (text: string) => string => {
  const tokens = new RegExp(`${Encoding.encodeBase64Url(customerId)}\\.[0-9a-f]+|eyJ[\\w-]+(\\.[\\w-]*)*`, "g")
  return (text) => text.replaceAll(tokens, "***")
}

/** The innermost cause says what happened to the connection. */
const reason = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? reason(error.cause)
    : error instanceof Error
    ? error.message
    : String(error)

interface Received {
  readonly step: Step
  readonly response: Option.Option<HttpClientResponse.HttpClientResponse>
  readonly body: Uint8Array
}

/** Sends it to the data plane, and keeps what comes, until its end or until nothing more does. */
const send = (
  title: string,
  request: HttpClientRequest.HttpClientRequest,
  mask: (text: string) => string
): Effect.Effect<Received, never, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const recorder = yield* Recorder
    const sessions = yield* Session.Sessions
    const chunks: Array<Uint8Array> = []
    let response = Option.none<HttpClientResponse.HttpClientResponse>()
    let entry = Option.none<Journal.Entry>()

    const dataPlane = Exchange.handle.pipe(
      Effect.provideService(Recorder, {
        ...recorder,
        record: (written) => {
          entry = Option.some(written)
          return recorder.record(written)
        }
      }),
      Effect.provideService(Session.Sessions, sessions)
    )
    // Nothing is sent but what is shown.
    const client = HttpClient.withTracerPropagation(InProcess.client(dataPlane), false)
    const end = yield* client.execute(request).pipe(
      Effect.flatMap((head) => {
        response = Option.some(head)
        // To read an empty body is an error of the HTTP client, and none of the connection.
        return head.stream.pipe(
          Stream.catchAll((error) => error.reason === "EmptyBody" ? Stream.empty : Stream.fail(error)),
          Stream.runForEach((chunk) => Effect.sync(() => chunks.push(chunk)))
        )
      }),
      Effect.as(Option.none<string>()),
      Effect.catchAll((error) => Effect.succeedSome(`The connection broke: ${reason(error)}`)),
      Effect.timeoutTo({
        duration: deadline,
        onSuccess: (end) => end,
        onTimeout: () =>
          Option.some(Option.isNone(response) ? "No answer within 10 s" : "No end of the answer within 10 s")
      })
    )
    const body = Buffer.concat(chunks)
    const { host, pathname } = new URL(request.url)
    const { headers } = Masking.maskRequest({
      operation: "other",
      method: request.method,
      target: pathname,
      headers: { ...request.headers, host },
      body: new Uint8Array()
    }, false)
    return {
      response,
      body,
      step: {
        title,
        request: WireText.request({
          method: request.method,
          target: pathname,
          headers,
          body: request.body._tag === "Uint8Array" ? shown(request.body.body) : ""
        }),
        response: Option.match(response, {
          onNone: () => "",
          onSome: ({ headers, status }) =>
            mask(WireText.response({
              status,
              headers,
              body: body.length === 0 && Option.isNone(end) ? "(the body is empty)" : shown(body)
            }))
        }),
        end,
        entry
      }
    }
  })

const failed = (text: string): Verdict => ({ outcome: "none", text, profile: Option.none() })

/** The answer as a client may take it: complete, and with a status of success. */
const success = ({ body, response, step: { end } }: Received, wanted: string) =>
  Option.match(response, {
    onNone: () => Either.left(failed(`No ${wanted}: ${Option.getOrElse(end, constant("nothing came"))}.`)),
    onSome: ({ headers, status }) =>
      Option.isSome(end) && status >= 200 && status <= 299
        ? Either.left(failed(`No ${wanted}: the answer is not whole. ${end.value}.`))
        : status < 200 || status > 299 || body.length === 0
        ? Either.left(failed(
          `No ${wanted}: the status is ${status}.${
            body.length === 0 && Option.isNone(end) ? " The body is empty." : ""
          }`
        ))
        : Either.right({ body, isText: /^text\/plain\b/i.test(headers["content-type"] ?? "") })
  })

const decodeToken = AccessToken.decodeResponse(["access_token", "accessToken", "token", "data.access_token", "text"])

const tokenIn = (received: Received): Either.Either<Redacted.Redacted<string>, Verdict> =>
  Either.flatMap(
    success(received, "token, so nothing was checked"),
    ({ body, isText }) =>
      Either.mapBoth(decodeToken(body, isText), {
        onLeft: (violations) =>
          failed(`The answer has no token, so nothing was checked: ${Violation.format(violations)}.`),
        onRight: ({ value }) => value
      })
  )

const decodeCredential = Violation.decodeJson(AmlCredential.AmlCredential)

const isAbout = ({ dateOfBirth, name }: Input, { birthYear, name: echo }: AmlCredential.Attributes): boolean =>
  Number(Redacted.value(birthYear)) === dateOfBirth.year &&
  Either.match(PersonName.make(Redacted.value(name)), {
    onLeft: () => Redacted.value(name) === Redacted.value(echo),
    onRight: (name) => PersonName.isEquivalent(name, Redacted.value(echo))
  })

const verdictOn = (received: Received, input: Input): Verdict =>
  Either.flatMap(success(received, "credential"), ({ body }) =>
    Either.mapBoth(decodeCredential(body), {
      onLeft: (violations) => failed(`The answer is no credential: ${Violation.format(violations)}.`),
      onRight: (credential): Verdict => {
        const { attributes } = credential.credentials
        if (!isAbout(input, attributes)) return failed("The credential is about somebody else.")
        const profile = Option.some(Redacted.value(attributes.amlProfile))
        return AmlCredential.match(credential, {
          onNo: () => ({ outcome: "clear", text: "No", profile }),
          onPotentialMatch: () => ({ outcome: "potential", text: "Potential match", profile })
        })
      }
    })).pipe(Either.merge)

const encodeBody = Schema.encodeSync(Schema.parseJson(Person.RequestBody))

/** - `origin`: where the person who looks reaches this server. */
export const run = (
  { customerId, customerKey }: Session.Customer,
  input: Input,
  origin: string
): Effect.Effect<Check, never, Session.Sessions | Recorder> =>
  Effect.gen(function*() {
    const asked = yield* send(
      "Token",
      HttpClientRequest.post(`${origin}${IdvApi.token.path}`).pipe(
        HttpClientRequest.basicAuth(customerId, customerKey),
        HttpClientRequest.bodyText("grant_type=client_credentials", "application/x-www-form-urlencoded")
      ),
      tokenMask(customerId)
    )
    const token = tokenIn(asked)
    if (Either.isLeft(token)) return { steps: [asked.step], verdict: token.left }
    const checked = yield* send(
      "AML check",
      HttpClientRequest.post(`${origin}${IdvApi.aml.path}`).pipe(
        HttpClientRequest.bearerToken(token.right),
        HttpClientRequest.bodyText(
          encodeBody({ entity_type: "person", name: input.name, dob: input.dateOfBirth }),
          "application/json"
        )
      ),
      (text) => text
    )
    return { steps: [asked.step, checked.step], verdict: verdictOn(checked, input) }
  })
