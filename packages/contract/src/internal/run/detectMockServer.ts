/**
 * Checks that a target of the kind `mock` is a mock server. A mock server receives all requests without a budget, even
 * those with wrong keys. Another service might bill them or lock the customer out.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Exchange } from "../exchange.ts"
import type { Target } from "../model.ts"
import { objectOf } from "../readings/responseReadings.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as HttpExchange from "./httpExchange.ts"

/** An address where another server responds, and how. */
export interface OtherServer {
  readonly url: string
  /**
   * - `response`: a response that no mock server sends.
   * - `timeout`: no complete response before the deadline.
   * - `forbidden`: 403, which a mock server sends for a host name that it does not know.
   */
  readonly reason: "response" | "timeout" | "forbidden"
}

const livePath = "/_mock/live"

const originOf = (url: string): ReadonlyArray<string> => URL.canParse(url) ? [new URL(url).origin] : []

/** The control API is at `controlUrl`, or on the server of each address. */
const controlUrlsOf = ({ authUrl, baseUrl, controlUrl }: Target): ReadonlyArray<string> =>
  controlUrl === undefined
    ? Arr.dedupe([authUrl, baseUrl].flatMap(originOf))
    : URL.canParse(controlUrl)
    ? [controlUrl.replace(/\/+$/, "")]
    : []

const reasonOf = (exchange: Exchange): OtherServer["reason"] | undefined => {
  // Without a server there is no harm, and the first request of the run reports it.
  if (exchange._tag === "NoResponse" && exchange.reason === "no answer") return undefined
  if (exchange._tag === "NoResponse") return exchange.reason === "late answer" ? "timeout" : "response"
  if (exchange.status === 403) return "forbidden"
  const isLive = exchange.status === 200 && Option.exists(objectOf(exchange), ({ live }) => live === true)
  return isLive ? undefined : "response"
}

/** The first address of a mock target where another server responds. The requests hold no credentials. */
export const otherServer = (
  target: Target
): Effect.Effect<Option.Option<OtherServer>, never, HttpClient.HttpClient> =>
  Effect.zipRight(
    TargetOptions.checkDurations(target),
    Effect.forEach(target.kind === "mock" ? controlUrlsOf(target) : [], (url) =>
      Effect.map(
        HttpExchange.send(
          { method: "GET", url: new URL(`${url}${livePath}`), headers: {} },
          target.deadline ?? TargetOptions.defaultDeadline
        ),
        (exchange) => Option.map(Option.fromNullable(reasonOf(exchange)), (reason): OtherServer => ({ url, reason }))
      ))
  ).pipe(Effect.map(Option.firstSomeOf))
