/** The ways to break a server, of which each mutant is one or two. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Parts from "./parts.ts"
import type { Answer, Handler, Request, Serve, Wrapper } from "./wire.ts"

type Where = (request: Request, answer: Answer) => boolean

export type Change = (answer: Answer, request: Request) => Answer

/** A token response. */
export const granted: Where = (request, answer) => Parts.isToken(request) && Parts.isSuccess(answer)

/** A credential. */
export const answered: Where = (request, answer) => Parts.isAml(request) && Parts.isSuccess(answer)

/** A refusal with one of these statuses, or with any. */
export const tokenRefused = (...statuses: ReadonlyArray<number>): Where => (request, answer) =>
  Parts.isToken(request) && isRefusal(answer, statuses)

export const amlRefused = (...statuses: ReadonlyArray<number>): Where => (request, answer) =>
  Parts.isAml(request) && isRefusal(answer, statuses)

const isRefusal = (answer: Answer, statuses: ReadonlyArray<number>) =>
  statuses.length === 0 ? !Parts.isSuccess(answer) : statuses.includes(answer.status)

/** Other answers where the right server gives these. */
export const changing = (where: Where, ...changes: ReadonlyArray<Change>): Wrapper =>
  Effect.succeed((request, serve) =>
    Effect.map(
      serve(request),
      (answer) =>
        where(request, answer) ? changes.reduce((changed, change) => change(changed, request), answer) : answer
    )
  )

/** Other requests before the right server sees them. */
export const rewriting = (where: (request: Request) => boolean, rewrite: (request: Request) => Request): Wrapper =>
  Effect.succeed((request, serve) => serve(where(request) ? rewrite(request) : request))

/** Whoever is refused by the right server is answered as if they had asked for this instead, if that is right. */
export const accepting = (
  where: (request: Request, refusal: Answer) => boolean,
  instead: (request: Request, serve: Serve) => Effect.Effect<Request>
): Wrapper =>
  Effect.succeed((request, serve) =>
    Effect.gen(function*() {
      const answer = yield* serve(request)
      if (Parts.isSuccess(answer) || !where(request, answer)) return answer
      const accepted = yield* serve(yield* instead(request, serve))
      return Parts.isSuccess(accepted) ? accepted : answer
    })
  )

/** `accepting` with a request that is known beforehand. */
export const acceptingAs = (where: (request: Request) => boolean, instead: (request: Request) => Request): Wrapper =>
  accepting(where, (request) => Effect.succeed(instead(request)))

/** A wrapper that remembers something. */
export const remembering = <State>(begin: () => State, handle: (state: State) => Handler): Wrapper =>
  Effect.sync(() => handle(begin()))

export const status = (status: number): Change => (answer) => ({ ...answer, status })

/** Without the header, if `value` is `undefined`. */
export const header = (name: string, value: string | undefined): Change => (answer) =>
  Parts.withHeader(answer, name, value)

/** Another body, as text of that type. */
export const text = (contentType: string, body: (text: string, request: Request) => string): Change =>
(
  answer,
  request
) => ({
  ...Parts.withHeader(answer, "content-type", contentType),
  body: Parts.utf8(body(Parts.textOf(answer), request))
})

/** Another body of the same type. */
export const bytes = (body: (bytes: Uint8Array) => Uint8Array): Change => (answer) => ({
  ...answer,
  body: body(answer.body)
})

/** Another JSON value as the body. */
export const json = (change: (value: unknown, request: Request) => unknown): Change => (answer, request) =>
  Option.match(Parts.jsonOf(answer), {
    onNone: () => answer,
    onSome: (value) => ({ ...answer, body: Parts.utf8(JSON.stringify(change(value, request)) ?? "") })
  })

/** A field of the body, changed. It is left out by `undefined`. */
export const field = (path: string, change: (value: unknown, request: Request) => unknown): Change =>
  json((value, request) => at(path.split("."), (found) => change(found, request))(value))

const at = (path: ReadonlyArray<string>, change: (value: unknown) => unknown) => (value: unknown): unknown => {
  const [name, ...rest] = path
  if (name === undefined) return change(value)
  return Predicate.isRecord(value) ? { ...value, [name]: at(rest, change)(value[name]) } : value
}

/** A field with a text, changed as text. */
export const fieldText = (path: string, change: (text: string, request: Request) => unknown): Change =>
  field(path, (value, request) => Predicate.isString(value) ? change(value, request) : value)

/** The fields of an object under other names. */
export const renamed = (names: Readonly<Record<string, string>>) => (value: unknown): unknown =>
  Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, value]) => [names[name] ?? name, value]))
    : value

/** What stands in front of a service says, when it does not let anything through. */
export const page = text("text/html; charset=utf-8", () => "<!doctype html>\n<title>Gateway</title>\n")

/** As some services say that something is wrong, whatever the status. */
export const error = text("application/json", () => "{\"error\":\"invalid_request\"}")

export const empty: Change = (answer) => ({
  ...Parts.withHeader(answer, "content-type", undefined),
  body: new Uint8Array()
})
