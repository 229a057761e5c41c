/**
 * The test customer of the mutants themselves. A mutant accepts a wrong request by sending it for this customer, so
 * that the session of the real customer is unchanged.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Messages from "./messages.ts"
import type { Request, Serve } from "./model.ts"

const authorization = Messages.basic("test-mutant", "test-key")

/** The same token request for this customer. */
export const asCustomer = (request: Request): Request => Messages.withAuthorization(request, authorization)

/** The same check with a token of this customer. */
export const withToken = (request: Request, serve: Serve): Effect.Effect<Request> =>
  Effect.map(
    serve({
      method: "POST",
      target: "/oauth/service",
      headers: { authorization, "content-type": Messages.formType },
      body: Messages.form
    }),
    (response) =>
      Messages.withAuthorization(request, `Bearer ${Option.getOrElse(Messages.grantOf(response), () => "")}`)
  )

const control = (target: string): Request => ({
  method: "GET",
  target: `/_mock/sessions/${target}`,
  headers: {},
  body: new Uint8Array()
})

/** Whether the mock server knows a customer. It knows every test customer before the first request. */
export const isCustomer = (customerId: string, serve: Serve): Effect.Effect<boolean> =>
  customerId.startsWith("test-")
    ? Effect.succeed(true)
    : Effect.map(serve(control(encodeURIComponent(customerId))), Messages.isSuccess)

/** The time of a session's clock, in milliseconds since 1970. */
export const now = (customerId: string, serve: Serve): Effect.Effect<number> =>
  Effect.map(serve(control(`${encodeURIComponent(customerId)}/clock`)), (response) => {
    const now = Messages.fieldOf(response, "now")
    return Option.match(Predicate.isString(now) ? DateTime.make(now) : Option.none(), {
      onNone: () => 0,
      onSome: DateTime.toEpochMillis
    })
  })
