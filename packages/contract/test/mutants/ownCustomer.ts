/**
 * A mutant answers as if a request were right by asking for itself: as a test customer that nobody
 * else is, so that no other session sees anything of it.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Parts from "./parts.ts"
import type { Request, Serve } from "./wire.ts"

const authorization = Parts.basic("test-mutant", "test-key")

/** The same request by the mutant's own customer. */
export const asCustomer = (request: Request): Request => Parts.withAuthorization(request, authorization)

/** The same request with a token of the mutant's own customer. */
export const withToken = (request: Request, serve: Serve): Effect.Effect<Request> =>
  Effect.map(
    serve({
      method: "POST",
      target: "/oauth/service",
      headers: { authorization, "content-type": Parts.formType },
      body: Parts.form
    }),
    (answer) => Parts.withAuthorization(request, `Bearer ${Option.getOrElse(Parts.grantOf(answer), () => "")}`)
  )

const control = (target: string): Request => ({
  method: "GET",
  target: `/_mock/sessions/${target}`,
  headers: {},
  body: new Uint8Array()
})

/** Whether there is such a customer. That of a test is there before its first request. */
export const isCustomer = (customerId: string, serve: Serve): Effect.Effect<boolean> =>
  customerId.startsWith("test-")
    ? Effect.succeed(true)
    : Effect.map(serve(control(encodeURIComponent(customerId))), Parts.isSuccess)

/** The time of a session, in milliseconds since 1970. */
export const now = (customerId: string, serve: Serve): Effect.Effect<number> =>
  Effect.map(serve(control(`${encodeURIComponent(customerId)}/clock`)), (answer) => {
    const now = Parts.fieldOf(answer, "now")
    return Option.match(Predicate.isString(now) ? DateTime.make(now) : Option.none(), {
      onNone: () => 0,
      onSome: DateTime.toEpochMillis
    })
  })
