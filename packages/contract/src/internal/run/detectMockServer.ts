/**
 * Whether a mock server is where one should be. It is asked at full force and with wrong keys, which
 * another service would bill, or lock its customer out for.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Target } from "../../Conformance.ts"
import { objectOf } from "../readings/responseReadings.ts"
import * as Waits from "../waits.ts"
import * as Exchange from "./wire.ts"

/** Where something answers that is none, and how. */
export interface Stranger {
  readonly url: string
  readonly reason: "answer" | "late" | "forbidden"
}

const livePath = "/_mock/live"

const originOf = (url: string): ReadonlyArray<string> => URL.canParse(url) ? [new URL(url).origin] : []

/** The control plane may be elsewhere, where it was said to be. Else the server of each address has one. */
const addresses = ({ authUrl, baseUrl, controlUrl }: Target): ReadonlyArray<string> =>
  controlUrl === undefined
    ? Arr.dedupe([authUrl, baseUrl].flatMap(originOf))
    : URL.canParse(controlUrl)
    ? [controlUrl.replace(/\/+$/, "")]
    : []

const reasonOf = (exchange: Exchange.Exchange): Stranger["reason"] | undefined => {
  // Nothing is there, so that nothing can be harmed: what is wrong is told by the first request.
  if (exchange._tag === "Unanswered" && exchange.why === "no answer") return undefined
  if (exchange._tag === "Unanswered") return exchange.why === "late answer" ? "late" : "answer"
  if (exchange.status === 403) return "forbidden"
  const isLive = exchange.status === 200 && Option.exists(objectOf(exchange), ({ live }) => live === true)
  return isLive ? undefined : "answer"
}

/** The request holds no credential. */
export const stranger = (
  target: Target
): Effect.Effect<Option.Option<Stranger>, never, HttpClient.HttpClient> =>
  Effect.zipRight(
    Waits.check(target),
    Effect.forEach(target.kind === "mock" ? addresses(target) : [], (url) =>
      Effect.map(
        Exchange.send(
          { method: "GET", url: new URL(`${url}${livePath}`), headers: {} },
          target.deadline ?? "10 seconds"
        ),
        (exchange) => Option.map(Option.fromNullable(reasonOf(exchange)), (reason): Stranger => ({ url, reason }))
      ))
  ).pipe(Effect.map(Option.firstSomeOf))
