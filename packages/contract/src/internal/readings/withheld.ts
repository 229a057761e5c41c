/**
 * Readings of what a service withheld or sent. The service document does not say how it refuses a request, so they only
 * read whether the response has a token or a credential. They also read requests without a response.
 */
import * as Option from "effect/Option"
import type { Exchange, StepExchange } from "../exchange.ts"
import { isCredential, isDocumentedCheck, isDocumentedTokenRequest, textOf } from "./responseReadings.ts"
import { grantIn } from "./tokenReadings.ts"

/** The fewest letters of a plain text that could be a token and not the reason of a refusal. */
const shortestText = 16

/** Whether a response has a token, whatever its status. */
const hasToken = (exchange: Exchange): boolean =>
  exchange._tag === "Response" &&
  Option.exists(grantIn(exchange), ({ field, token }) => field !== "text" || token.length >= shortestText)

/** Whether a response has a screening result, whatever its status and wherever in the body. */
const hasResult = (exchange: Exchange): boolean =>
  exchange._tag === "Response" &&
  (isCredential(exchange) || Option.exists(textOf(exchange), (text) => /"match_found"\s*:/.test(text)))

/** Reads the last exchange, and all others of the endpoint that authenticate in another way than the documented one. */
const isAny = (
  exchanges: ReadonlyArray<StepExchange>,
  to: "token" | "aml",
  read: (exchange: Exchange) => boolean
): boolean =>
  exchanges.some(({ exchange, step }, i) =>
    (i === exchanges.length - 1 || step.to === to && step.authorization !== undefined) && read(exchange)
  )

const hour = 3_600_000

/**
 * Whether the token of a check can have been on the other side of its hour: each request arrived between the time when
 * it was sent and that of its response, and a slow machine or service makes both uncertain.
 */
const isUncertain = (isValid: boolean, token: Exchange | undefined, check: Exchange): boolean => {
  if (token?._tag !== "Response" || check._tag !== "Response") return false
  return isValid
    ? check.receivedAt - (token.receivedAt - token.millis) >= hour
    : check.receivedAt - check.millis - token.receivedAt <= hour
}

/** Compares the result of each check with whether its token was less than an hour old. */
const lifetime = (exchanges: ReadonlyArray<StepExchange>): string => {
  const tokens = exchanges.filter(({ exchange, step }) => step.to === "token" && hasToken(exchange))
  const all = exchanges.flatMap(({ exchange, step }) =>
    step.to === "aml" && step.isValid !== undefined
      ? [{ isValid: step.isValid, hasResult: hasResult(exchange), token: tokens[step.token ?? -1]?.exchange, exchange }]
      : []
  )
  const checks = all.filter(({ exchange, isValid, token }) => !isUncertain(isValid, token, exchange))
  if (all.length > 0 && checks.length === 0) return "begun"
  if (checks.some(({ hasResult, isValid }) => isValid && !hasResult)) return "shorter"
  if (checks.some(({ hasResult, isValid }) => !isValid && hasResult)) return "longer"
  return checks.length === 0 ? "no answer" : "one hour"
}

const everyGrant = (exchanges: ReadonlyArray<StepExchange>): string =>
  exchanges.every(({ exchange, step }) => !isDocumentedTokenRequest(step) || hasToken(exchange))
    ? "granted"
    : "not every one granted"

const everyAnswer = (exchanges: ReadonlyArray<StepExchange>): string =>
  exchanges.every((exchange) => !isDocumentedCheck(exchange.step) || hasResult(exchange.exchange))
    ? "answered"
    : "not every one answered"

/** Reads a check with a charset, and then the same check as plain text. */
const requestType = (exchanges: ReadonlyArray<StepExchange>): string => {
  const [withCharset, asText] = exchanges.map(({ exchange }) => hasResult(exchange))
  return asText === true ? "any" : withCharset === true ? "json" : "exact"
}

export const readings = {
  "every answer": everyAnswer,
  "every grant": everyGrant,
  "ignored parameter": (exchanges: ReadonlyArray<StepExchange>) =>
    isAny(exchanges, "token", hasToken) ? "ignored" : "refused",
  "request type": requestType,
  "token withheld": (exchanges: ReadonlyArray<StepExchange>) =>
    isAny(exchanges, "token", hasToken) ? "granted" : "refused",
  "credential withheld": (exchanges: ReadonlyArray<StepExchange>) =>
    isAny(exchanges, "aml", hasResult) ? "answered" : "refused",
  lifetime
} as const satisfies Record<string, (exchanges: ReadonlyArray<StepExchange>) => string>
