/** The changes of requests and responses from which mutants are made. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Messages from "./messages.ts"
import type { Handler, Request, Response, Serve, Wrapper } from "./model.ts"

/** Selects the responses that a mutant changes. */
export type Where = (request: Request, response: Response) => boolean

export type Change = (response: Response, request: Request) => Response

/** A response with a token. */
export const isGrant: Where = (request, response) => Messages.isToken(request) && Messages.isSuccess(response)

/** A response with a credential. */
export const isCredential: Where = (request, response) => Messages.isAml(request) && Messages.isSuccess(response)

/** A refused token request with one of these statuses, or with any. */
export const isTokenRefusal = (...statuses: ReadonlyArray<number>): Where => (request, response) =>
  Messages.isToken(request) && isRefusal(response, statuses)

/** A refused check with one of these statuses, or with any. */
export const isAmlRefusal = (...statuses: ReadonlyArray<number>): Where => (request, response) =>
  Messages.isAml(request) && isRefusal(response, statuses)

const isRefusal = (response: Response, statuses: ReadonlyArray<number>) =>
  statuses.length === 0 ? !Messages.isSuccess(response) : statuses.includes(response.status)

/** Changes the selected responses. */
export const changeResponse = (where: Where, ...changes: ReadonlyArray<Change>): Wrapper =>
  Effect.succeed((request, serve) =>
    Effect.map(
      serve(request),
      (response) =>
        where(request, response) ? changes.reduce((changed, change) => change(changed, request), response) : response
    )
  )

/** Changes the selected requests before the mock server receives them. */
export const rewriteRequest = (where: (request: Request) => boolean, rewrite: (request: Request) => Request): Wrapper =>
  Effect.succeed((request, serve) => serve(where(request) ? rewrite(request) : request))

/** If the mock server refuses a selected request, responds as it does to another request that it accepts. */
export const acceptRefused = (
  where: (request: Request, refusal: Response) => boolean,
  instead: (request: Request, serve: Serve) => Effect.Effect<Request>
): Wrapper =>
  Effect.succeed((request, serve) =>
    Effect.gen(function*() {
      const response = yield* serve(request)
      if (Messages.isSuccess(response) || !where(request, response)) return response
      const accepted = yield* serve(yield* instead(request, serve))
      return Messages.isSuccess(accepted) ? accepted : response
    })
  )

/** The same, with a request that depends on the refused one only. */
export const acceptAs = (where: (request: Request) => boolean, instead: (request: Request) => Request): Wrapper =>
  acceptRefused(where, (request) => Effect.succeed(instead(request)))

/** A wrapper with state that each server creates once. */
export const withState = <State>(makeState: () => State, handle: (state: State) => Handler): Wrapper =>
  Effect.sync(() => handle(makeState()))

/** Sets the status. */
export const status = (status: number): Change => (response) => ({ ...response, status })

/** Sets a header, or removes it if `value` is `undefined`. */
export const header = (name: string, value: string | undefined): Change => (response) =>
  Messages.withHeader(response, name, value)

/** Replaces the body with text of this content type. */
export const text = (contentType: string, body: (text: string, request: Request) => string): Change =>
(
  response,
  request
) => ({
  ...Messages.withHeader(response, "content-type", contentType),
  body: Messages.utf8(body(Messages.textOf(response), request))
})

/** Replaces the body and keeps its content type. */
export const bytes = (body: (bytes: Uint8Array) => Uint8Array): Change => (response) => ({
  ...response,
  body: body(response.body)
})

/** Replaces the JSON value of the body. */
export const json = (change: (value: unknown, request: Request) => unknown): Change => (response, request) =>
  Option.match(Messages.jsonOf(response), {
    onNone: () => response,
    onSome: (value) => ({ ...response, body: Messages.utf8(JSON.stringify(change(value, request)) ?? "") })
  })

/** Changes a field of the body. `undefined` omits it. */
export const field = (path: string, change: (value: unknown, request: Request) => unknown): Change =>
  json((value, request) => at(path.split("."), (found) => change(found, request))(value))

const at = (path: ReadonlyArray<string>, change: (value: unknown) => unknown) => (value: unknown): unknown => {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  return Predicate.isRecord(value) ? { ...value, [name]: at(rest, change)(value[name]) } : value
}

/** Changes a field of the body that is a string. */
export const fieldText = (path: string, change: (text: string, request: Request) => unknown): Change =>
  field(path, (value, request) => Predicate.isString(value) ? change(value, request) : value)

/** Renames the fields of an object. */
export const renamed = (names: Readonly<Record<string, string>>) => (value: unknown): unknown =>
  Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, value]) => [names[name] ?? name, value]))
    : value

/** Replaces the body with the error page of a gateway. */
export const page = text("text/html; charset=utf-8", () => "<!doctype html>\n<title>Gateway</title>\n")

/** Replaces the body with an OAuth error. */
export const error = text("application/json", () => "{\"error\":\"invalid_request\"}")

/** Removes the body. */
export const empty: Change = (response) => ({
  ...Messages.withHeader(response, "content-type", undefined),
  body: new Uint8Array()
})
