/** A mock server as a target: whether it is one, the sessions that a run creates on it, and the customers of the run. */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Exchange, Request } from "../exchange.ts"
import { isSuccess, objectOf } from "../readings/responseReadings.ts"
import type { ControlStep, Json } from "../steps.ts"
import { checkDurations, defaultDeadline, type Target } from "../target.ts"
import * as HttpExchange from "./httpExchange.ts"
import { skip, type Skipped } from "./limits.ts"
import { addressOf, type Customer, type Customers } from "./requests.ts"

/**
 * A target of the kind `mock` is not a mock server: it sends other responses (`response`), does not respond in
 * time (`timeout`), or responds with 403 (`forbidden`), as a mock server does for an unknown host name.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAMockServer extends Schema.TaggedError<NotAMockServer>("@effect-idv/contract/NotAMockServer")(
  "NotAMockServer",
  { url: Schema.String, reason: Schema.Literal("response", "timeout", "forbidden") }
) {
  override get message() {
    return `${this.url} ${notAMockServer[this.reason]}`
  }
}

const notAMockServer: Readonly<Record<NotAMockServer["reason"], string>> = {
  response: "is not an idv-mock server: use --target sandbox",
  timeout: "does not respond to GET /_mock/live in time, so it is not an idv-mock server: use --target sandbox",
  forbidden: "refuses GET /_mock/live with 403: if it is not an idv-mock server, use --target sandbox; if it is one, " +
    "start it with --allowed-host"
}

const originOf = (url: string): ReadonlyArray<string> => URL.canParse(url) ? [new URL(url).origin] : []

/** The control API is at `controlUrl`, or on the server of each address. */
const controlUrlsOf = ({ authUrl, baseUrl, controlUrl }: Target): ReadonlyArray<string> =>
  controlUrl === undefined
    ? Arr.dedupe([authUrl, baseUrl].flatMap(originOf))
    : URL.canParse(controlUrl)
    ? [controlUrl.replace(/\/+$/, "")]
    : []

const reasonOf = (exchange: Exchange): NotAMockServer["reason"] | undefined => {
  // No server can be harmed. The first request of the run reports that there is none.
  if (exchange._tag === "NoResponse" && exchange.reason === "no answer") return undefined
  if (exchange._tag === "NoResponse") return exchange.reason === "late answer" ? "timeout" : "response"
  if (exchange.status === 403) return "forbidden"
  const isLive = exchange.status === 200 && Option.exists(objectOf(exchange), ({ live }) => live === true)
  return isLive ? undefined : "response"
}

/**
 * Fails if another server responds at an address of a mock target. A mock server receives all requests without a budget,
 * even those with wrong keys, and another service might bill them or lock the customer out. The requests hold no
 * credentials.
 */
export const requireMockServer = (target: Target): Effect.Effect<void, NotAMockServer, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const { deadline = defaultDeadline, kind } = target
    yield* checkDurations(target)
    const exchanges = yield* Effect.forEach(kind === "mock" ? controlUrlsOf(target) : [], (url) =>
      Effect.map(
        HttpExchange.send({ method: "GET", url: `${url}/_mock/live`, headers: {} }, deadline),
        (exchange) => ({ url, reason: reasonOf(exchange) })
      ))
    for (const { reason, url } of exchanges) {
      if (reason !== undefined) return yield* new NotAMockServer({ url, reason })
    }
  })

/** The key of every test customer of a mock server. */
const testKey = "test-key"

const randomHex = (digits: number): Effect.Effect<string> =>
  Effect.map(
    Effect.all(Array.from({ length: digits }, () => Random.nextIntBetween(0, 16))),
    (values) => values.map((value) => value.toString(16)).join("")
  )

/** A key with everything that a careless server may read in another way: a colon, a code, a sign, and a letter beyond ASCII. */
const makeKey: Effect.Effect<string> = Effect.map(randomHex(12), (hex) => `Kq-7:é+%2B_${hex}`)

export interface ControlPlane {
  /** Creates a session for the customer of this id, and returns it with a key of its own. */
  readonly create: (id: string) => Effect.Effect<Customer, Skipped>
  /** The same for a customer whose id begins with that of another one. */
  readonly createFor: (customer: Customer) => Effect.Effect<Customer, Skipped>
  /** Sends a step to the session of a customer. */
  readonly send: (customer: Customer, step: ControlStep) => Effect.Effect<void, Skipped>
}

/** The sessions end with the scope. `send` sends a request outside the budget. */
export const makeControlPlane = (
  target: Target,
  send: (request: Request) => Effect.Effect<Exchange>
): Effect.Effect<ControlPlane, never, Scope.Scope> =>
  Effect.gen(function*() {
    const created = yield* Ref.make<ReadonlyArray<string>>([])

    const { baseUrl, controlToken, controlUrl } = target

    // A sandbox needs no control API, and its `baseUrl` may be empty if only tokens are requested.
    const sendTo = (method: string, path: string, body?: Json) =>
      send({
        method,
        url: addressOf(controlUrl ?? new URL(baseUrl).origin, `/_mock/sessions${path}`),
        headers: controlToken === undefined ? {} : { authorization: `Bearer ${Redacted.value(controlToken)}` },
        ...(body !== undefined && { contentType: "application/json", body: JSON.stringify(body) })
      })

    const post = (path: string, body: Json): Effect.Effect<void, Skipped> =>
      Effect.flatMap(sendTo("POST", path, body), (exchange) =>
        exchange._tag === "NoResponse"
          ? skip("the control API of the mock server does not respond")
          : isSuccess(exchange)
          ? Effect.void
          : skip(`the control API of the mock server responds with ${exchange.status}`))

    if (target.kind === "mock") {
      yield* Effect.addFinalizer(() =>
        Effect.flatMap(Ref.get(created), (ids) =>
          Effect.forEach(
            ids,
            // A finalizer is uninterruptible, and without an interruption the deadline could not end the request.
            (id) => Effect.interruptible(sendTo("DELETE", `/${encodeURIComponent(id)}`)),
            { discard: true }
          ))
      )
    }

    const create = (id: string) =>
      Effect.gen(function*() {
        const customer = { id, key: yield* makeKey }
        yield* Ref.update(created, (ids) => [...ids, id])
        yield* post("", { customerId: customer.id, customerKey: customer.key })
        return customer
      })

    return {
      create,
      createFor: ({ id }) => Effect.flatMap(Ref.get(created), ({ length }) => create(`${id}-${length + 1}`)),
      send: ({ id }, { body, path }) => post(`/${encodeURIComponent(id)}${path}`, body)
    }
  })

/**
 * The customers of a run. The own customer is that of the target, or a session that is created. If creating it fails, its
 * id begins with `test-`, because a mock server accepts every such customer.
 */
export const makeCustomers = (
  { customerId, customerKey, kind }: Target,
  { create }: ControlPlane
): Effect.Effect<Customers> =>
  Effect.gen(function*() {
    const hex = yield* randomHex(8)
    const test = { id: `test-conformance-${hex}`, key: testKey }
    const created = (id: string) =>
      kind === "mock" ? Effect.orElseSucceed(create(id), () => undefined) : Effect.succeed(undefined)
    return {
      own: customerId === undefined
        ? (yield* created(`conformance-${hex}`)) ?? test
        : { id: customerId, key: customerKey === undefined ? testKey : Redacted.value(customerKey) },
      second: yield* created(`conformance-${yield* randomHex(8)}`),
      unknown: { id: `nobody-${yield* randomHex(8)}`, key: yield* randomHex(24) }
    }
  })
