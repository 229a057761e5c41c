/** One request over a dispatcher of Undici, without a Node stream, a promise or an `AbortController`. */
import * as Cookies from "@effect/platform/Cookies"
import * as Headers from "@effect/platform/Headers"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as HttpIncomingMessage from "@effect/platform/HttpIncomingMessage"
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Dispatcher } from "undici"
import * as Transport from "./transport.ts"

/**
 * Like `Effect.async` with a function instead of an effect to cancel. It also cancels if the fiber yields after
 * `register` and is interrupted before it waits: `Effect.async` would ignore its canceler then.
 */
export const async = <A, E = never>(
  register: (resume: (effect: Effect.Effect<A, E>) => void) => (() => void) | undefined
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let cancel: (() => void) | undefined
    const wait = Effect.async<A, E>((resume) => {
      cancel = register(resume)
    })
    return Effect.onInterrupt(wait, () => Effect.sync(() => cancel?.()))
  })

const interrupted = () => new Error("The request was interrupted")

type Resume<A, E> = (effect: Effect.Effect<A, E>) => void

/**
 * Receives the events of one request. The body is kept in memory as it arrives. It is cut off behind the limit, and the
 * connection is closed: a reader then finds it too long.
 */
export class Receiver implements Dispatcher.DispatchHandler {
  readonly #request: HttpClientRequest.HttpClientRequest
  readonly #observer: Transport.Observer | undefined
  #onHead: Resume<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError> | undefined
  /** The readers of the body that wait for its end. */
  readonly #waiting = new Set<() => void>()
  #controller: Dispatcher.DispatchController | undefined
  readonly #chunks: Array<Uint8Array> = []
  #length = 0
  /** Set at the end of the body: `undefined` means that it is complete. */
  #end: { readonly error: Error | undefined } | undefined
  #isAborted = false

  constructor(
    request: HttpClientRequest.HttpClientRequest,
    observer: Transport.Observer | undefined,
    onHead: Resume<HttpClientResponse.HttpClientResponse, HttpClientError.RequestError>
  ) {
    this.#request = request
    this.#observer = observer
    this.#onHead = onHead
  }

  /** Undici writes the request after this, unless this throws. An abort would close the connection, which is unused. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isAborted || this.#observer?.requestSent() === false) throw interrupted()
    this.#controller = controller
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ): void {
    // An interim response precedes the response.
    if (status < 200) return
    this.#onHead?.(Effect.succeed(new UndiciResponse(this.#request, status, Headers.fromInput(headers), this)))
    this.#onHead = undefined
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#end !== undefined) return
    // An interruption between the head and the first reader aborts nothing.
    if (this.#observer?.isEnded === true) return this.abort()
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length <= Transport.maxBytes) return
    this.#finish(undefined)
    this.abort()
  }

  onResponseEnd(): void {
    this.#finish(undefined)
  }

  onResponseError(_: Dispatcher.DispatchController, error: unknown): void {
    this.#onHead?.(new HttpClientError.RequestError({ request: this.#request, reason: "Transport", cause: error }))
    this.#onHead = undefined
    this.#finish(error instanceof Error ? error : new Error("The request failed"))
  }

  /** Closes the connection. A request that still waits for one is not sent. */
  abort(): void {
    this.#isAborted = true
    this.#controller?.abort(interrupted())
  }

  /** The body, once it has arrived. If all readers leave before, this closes the connection. */
  body(
    response: HttpClientResponse.HttpClientResponse
  ): Effect.Effect<Uint8Array<ArrayBuffer>, HttpClientError.ResponseError> {
    const result = Effect.suspend(() =>
      this.#end?.error === undefined
        ? Effect.succeed(Transport.concat(this.#chunks))
        : new HttpClientError.ResponseError({
          request: this.#request,
          response,
          reason: "Decode",
          cause: this.#end.error
        })
    )
    return this.#end !== undefined ? result : async((resume) => {
      const onEnd = () => resume(result)
      // The body may have ended since, because a fiber may yield at any step.
      if (this.#end !== undefined) {
        onEnd()
        return
      }
      this.#waiting.add(onEnd)
      return () => {
        this.#waiting.delete(onEnd)
        if (this.#waiting.size === 0) this.abort()
      }
    })
  }

  #finish(error: Error | undefined): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    for (const onEnd of this.#waiting) onEnd()
  }
}

/** A response whose body the receiver holds. */
export class UndiciResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly headers: Headers.Headers
  readonly remoteAddress = Option.none()
  readonly #receiver: Receiver

  constructor(
    request: HttpClientRequest.HttpClientRequest,
    status: number,
    headers: Headers.Headers,
    receiver: Receiver
  ) {
    super()
    this.request = request
    this.status = status
    this.headers = headers
    this.#receiver = receiver
  }

  get cookies(): Cookies.Cookies {
    return Cookies.fromSetCookie(this.headers["set-cookie"] ?? [])
  }

  /** Fails if the body is longer than the limit. */
  get #whole(): Effect.Effect<Uint8Array<ArrayBuffer>, HttpClientError.ResponseError> {
    return Effect.filterOrFail(
      this.#receiver.body(this),
      ({ length }) => length <= Transport.maxBytes,
      () => this.#undecodable()
    )
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpClientError.ResponseError> {
    return Effect.map(this.#whole, (bytes) => bytes.buffer)
  }

  /** A body over the limit is emitted up to the limit, and then fails. */
  get stream(): Stream.Stream<Uint8Array, HttpClientError.ResponseError> {
    return Stream.concat(Stream.fromEffect(this.#receiver.body(this)), Stream.drain(Stream.fromEffect(this.#whole)))
  }

  get text(): Effect.Effect<string, HttpClientError.ResponseError> {
    return Effect.map(this.#whole, (bytes) => new TextDecoder().decode(bytes))
  }

  get json(): Effect.Effect<unknown, HttpClientError.ResponseError> {
    return Effect.tryMap(this.text, {
      try: (text): unknown => text === "" ? null : JSON.parse(text),
      catch: (cause) => this.#undecodable(cause)
    })
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpClientError.ResponseError> {
    return Effect.map(this.text, (text) => UrlParams.fromInput(new URLSearchParams(text)))
  }

  get formData(): Effect.Effect<FormData, HttpClientError.ResponseError> {
    return Effect.flatMap(this.arrayBuffer, (body) =>
      Effect.tryPromise({
        try: () => new Response(body, { headers: this.headers }).formData(),
        catch: (cause) => this.#undecodable(cause)
      }))
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "@effect/platform/HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  #undecodable(cause?: unknown) {
    return new HttpClientError.ResponseError({ request: this.request, response: this, reason: "Decode", cause })
  }
}
