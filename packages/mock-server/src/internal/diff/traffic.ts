/** The requests of a comparison: valid ones, and some that a service refuses. All persons are fictional. */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Request } from "../http/request.ts"
import type { Exchange } from "../record/exchange.ts"
import * as Readings from "../record/readings.ts"
import * as Upstream from "../record/upstream.ts"
import type { Customer } from "../session/customer.ts"

const utf8 = new TextEncoder()

const post = (target: string, headers: Readonly<Record<string, string>>, body: string): Request => ({
  method: "POST",
  target,
  headers: Headers.fromInput(headers),
  headersProblem: Option.none(),
  body: utf8.encode(body),
  isWhole: true,
  isSecure: false
})

const tokenRequest = ({ customerId, customerKey }: Customer, form: string) =>
  post(IdvApi.token.path, {
    "authorization": `Basic ${Encoding.encodeBase64(`${customerId}:${Redacted.value(customerKey)}`)}`,
    "content-type": "application/x-www-form-urlencoded"
  }, form)

const grant = "grant_type=client_credentials"

const check = (token: string | undefined, name: string, dob: string, contentType = "application/json") =>
  post(IdvApi.aml.path, {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    "content-type": contentType
  }, JSON.stringify({ entity_type: "person", name, dob }))

/** Names that show how a service repeats them: with marks, in several scripts and of several words. */
const names = [
  "Ada Testclear",
  "Zoë Ångström Testclear",
  "Иван Testpep",
  "Grace Brewster Hopper",
  "José Núñez Testsanc"
]

const day = "14-03-1957"

/**
 * Sends the traffic with this number of checks, and passes each exchange on. `pause` separates two requests. Returns
 * whether the service returned a token: without one, it ends after the first request, because the refusals of the other
 * ones would show nothing, and more of them may lock the customer out.
 */
export const send = <E, R>(
  upstream: Upstream.Upstream,
  customer: Customer,
  checks: number,
  pause: Effect.Effect<void, E, R>,
  onExchange: (exchange: Exchange) => void
): Effect.Effect<boolean, E | Upstream.UpstreamFailed, R | HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const exchange = (request: Request) =>
      Upstream.send(upstream, request).pipe(
        Effect.tap((exchange) => Effect.sync(() => onExchange(exchange))),
        Effect.zipLeft(pause)
      )
    const first = yield* exchange(tokenRequest(customer, grant))
    const token = Option.getOrUndefined(Readings.tokenFieldsOf(first))?.token
    if (token === undefined) return false
    yield* exchange(tokenRequest(customer, `${grant}&scope=aml`))
    yield* exchange(tokenRequest(customer, "grant_type=password"))
    yield* exchange(check(undefined, "Ada Testclear", day))
    yield* exchange(check(token, "Ada Testclear", "31-02-1957"))
    yield* exchange(check(token, "Ada Testclear", day, "application/json; charset=utf-8"))
    yield* Effect.forEach(
      Array.from({ length: Math.max(checks - 1, 0) }),
      (_, index) => exchange(check(token, names[index % names.length] ?? "", day)),
      { discard: true }
    )
    return true
  })
