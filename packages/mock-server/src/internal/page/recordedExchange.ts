/**
 * Records exchanges with this server's own data plane, in process, as HTTP text. The key and the token are masked.
 */
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import { maskRequestHeaders } from "../journal/maskedHeaders.ts"
import { Recorder } from "../journal/recorder.ts"
import * as DataPlane from "../service/dataPlane.ts"
import * as InProcessClient from "../wire/inProcessClient.ts"
import * as WireText from "./wireText.ts"

/** An exchange as HTTP text. */
export interface Step {
  readonly title: string
  readonly request: string
  /** The response as far as the client read it. Empty if none arrived. */
  readonly response: string
  /** Why the response is incomplete. None if it is complete. */
  readonly end: Option.Option<string>
  readonly entry: Option.Option<Journal.Entry>
}

/** How long the page waits for a response. */
export const deadline = "10 seconds"

const maxShownBytes = 16 * 1024

const bodyText = (bytes: Uint8Array): string => {
  const text = Buffer.from(bytes.subarray(0, maxShownBytes)).toString("utf8")
  return bytes.length > maxShownBytes ? `${text}… (${bytes.length} bytes in all)` : text
}

/** Finds tokens by their form, because a broken body may have no field to find them in. */
export const tokenMask = (customerId: string): (text: string) => string => {
  const tokens = new RegExp(`${Encoding.encodeBase64Url(customerId)}\\.[0-9a-f]+|eyJ[\\w-]+(\\.[\\w-]*)*`, "g")
  return (text) => text.replaceAll(tokens, "***")
}

/** The innermost cause says what happened to the connection. */
const reasonOf = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? reasonOf(error.cause)
    : error instanceof Error
    ? error.message
    : String(error)

/** An exchange, as far as it was recorded. */
export interface RecordedExchange {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly chunks: Array<Uint8Array>
  response?: HttpClientResponse.HttpClientResponse
  entry?: Journal.Entry
  /** Absent until the response is complete or the connection broke. */
  end?: Option.Option<string>
}

export const stepOf = (
  { chunks, end, entry, request, response }: RecordedExchange,
  index: number,
  mask: (text: string) => string
) => {
  const { host, pathname } = new URL(request.url)
  const isToken = pathname === AccessToken.path
  const { body } = request
  const received = Buffer.concat(chunks)
  const isEmpty = end !== undefined && Option.isNone(end) && received.length === 0
  const step: Step = {
    title: `${index + 1}. ${isToken ? "Token" : "AML check"}`,
    request: WireText.request({
      method: request.method,
      target: pathname,
      headers: maskRequestHeaders({ ...request.headers, host }),
      body: body._tag === "Uint8Array" ? bodyText(body.body) : ""
    }),
    response: response === undefined ? "" : (isToken ? mask : (text: string) => text)(WireText.response({
      status: response.status,
      headers: response.headers,
      body: isEmpty ? "(the body is empty)" : bodyText(received)
    })),
    end: end ?? Option.some(`No ${response === undefined ? "response" : "end of the response"} within ${deadline}`),
    entry: Option.fromNullable(entry)
  }
  return step
}

/**
 * Returns the response, and records its body in `progress` while the client reads it. The properties `original` and
 * `source` are hidden, because in them the client would find a response of `fetch`, and assume that the body is already
 * decompressed.
 */
const recordResponse = (response: HttpClientResponse.HttpClientResponse, progress: RecordedExchange) => {
  progress.response = response
  const stream = response.stream.pipe(
    // The platform reports an empty body as an error, but the connection is fine.
    Stream.catchAll((error) => error.reason === "EmptyBody" ? Stream.empty : Stream.fail(error)),
    Stream.tap((chunk) => Effect.sync(() => progress.chunks.push(chunk))),
    Stream.ensuringWith((exit) => Effect.sync(() => onEnd(progress, exit)))
  )
  const arrayBuffer = Effect.map(Stream.runDrain(stream), () => Uint8Array.from(Buffer.concat(progress.chunks)).buffer)
  return new Proxy(response, {
    has: (target, key) => key !== "original" && key !== "source" && Reflect.has(target, key),
    get: (target, key): unknown =>
      key === "stream" ? stream : key === "arrayBuffer" ? arrayBuffer : Reflect.get(target, key, target)
  })
}

/** An interruption at the deadline leaves `end` absent. */
const onEnd = (progress: RecordedExchange, exit: Exit.Exit<unknown, unknown>) => {
  if (Exit.isSuccess(exit)) progress.end = Option.none()
  else if (!Exit.isInterrupted(exit)) {
    progress.end = Option.some(`The connection broke: ${reasonOf(Cause.squash(exit.cause))}`)
  }
}

/** A client of the data plane that adds each exchange to `exchanges`. */
export const recordingClient = (exchanges: Array<RecordedExchange>) =>
  Effect.gen(function*() {
    const recorder = yield* Recorder
    const sessions = yield* Session.Sessions
    return HttpClient.make((request) => {
      const progress: RecordedExchange = { request, chunks: [] }
      exchanges.push(progress)
      const dataPlane = DataPlane.make.pipe(
        Effect.provideService(Recorder, {
          ...recorder,
          record: (entry) => {
            progress.entry = entry
            return recorder.record(entry)
          }
        }),
        Effect.provideService(Session.Sessions, sessions)
      )
      return dataPlane.pipe(
        Effect.flatMap((handle) => InProcessClient.ofHandler(handle).execute(request)),
        Effect.onError((cause) => Effect.sync(() => onEnd(progress, Exit.failCause(cause)))),
        Effect.map((response) => recordResponse(response, progress))
      )
    })
  })
