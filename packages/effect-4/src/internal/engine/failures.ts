/** Converts the errors of the engine. A record of all tags: the code does not compile until it has a new error. */
import type * as AmlError3 from "@effect-idv/core/AmlError"
import type * as Failure3 from "@effect-idv/core/Failure"
import type * as TokenError3 from "@effect-idv/core/TokenError"
import type * as Violation3 from "@effect-idv/core/Violation"
import * as Arr3 from "effect-3/Array"
import * as AmlError from "../../AmlError.ts"
import type { Failure } from "../../Failure.ts"
import * as TokenError from "../../TokenError.ts"
import { Violation } from "../../Violation.ts"
import * as PersonInput from "../personInput.ts"
import * as EngineFailure from "./engineFailure.ts"
import * as Values from "./values.ts"

type Body = Pick<AmlError3.AmlForbidden, "code" | "detail">
type Optional = { readonly host?: string; readonly status?: number }

const optional = ({ host, status }: Optional) => ({
  ...(host !== undefined && { host }),
  ...(status !== undefined && { status })
})

const retryAfter = ({ retryAfter }: Pick<AmlError3.AmlRateLimited, "retryAfter">) =>
  retryAfter === undefined ? {} : { retryAfter: Values.duration(retryAfter) }

const body = ({ code, detail }: Body) => ({
  ...(code !== undefined && { code }),
  ...(detail !== undefined && { detail: Values.redacted(detail) })
})

const violation = (violation: Violation3.Violation) => new Violation({ ...violation })

const invalid = (
  { contentType, host, length, status, violations }: AmlError3.AmlResponseInvalid | TokenError3.TokenResponseInvalid
) => ({
  ...optional(host === undefined ? {} : { host }),
  ...(contentType !== undefined && { contentType }),
  status,
  length,
  violations: violations.map(violation)
})

type Tag = Failure3.Failure["_tag"]
type Engine = { readonly [T in Tag]: Extract<Failure3.Failure, { readonly _tag: T }> }
type Converted = { readonly [T in Tag]: Extract<Failure, { readonly _tag: T }> }

const converters: { readonly [T in Tag]: (error: Engine[T]) => Converted[T] } = {
  AmlInputRejected: ({ issues }) =>
    new AmlError.AmlInputRejected({ issues: Arr3.map(issues, (issue) => new PersonInput.Issue({ ...issue })) }),
  AmlUnauthorized: (error) =>
    new AmlError.AmlUnauthorized({ status: error.status, renewal: error.renewal, ...body(error) }),
  AmlForbidden: (error) => new AmlError.AmlForbidden({ status: error.status, ...body(error) }),
  AmlRequestRejected: (error) =>
    new AmlError.AmlRequestRejected({ status: error.status, ...retryAfter(error), ...body(error) }),
  AmlRateLimited: (error) => new AmlError.AmlRateLimited({ ...retryAfter(error), ...body(error) }),
  AmlUnavailable: (error) =>
    new AmlError.AmlUnavailable({
      reason: error.reason,
      sent: error.sent,
      ...optional(error),
      ...retryAfter(error),
      ...body(error)
    }),
  AmlTimeout: (error) =>
    new AmlError.AmlTimeout({ sent: error.sent, deadline: Values.duration(error.deadline), ...optional(error) }),
  AmlResponseInvalid: (error) => new AmlError.AmlResponseInvalid(invalid(error)),
  AmlResponseMismatch: ({ fields }) => new AmlError.AmlResponseMismatch({ fields }),
  TokenRejected: ({ code, status }) => new TokenError.TokenRejected({ status, ...(code !== undefined && { code }) }),
  TokenEndpointUnavailable: (error) =>
    new TokenError.TokenEndpointUnavailable({
      reason: error.reason,
      attempts: error.attempts,
      ...optional(error),
      ...retryAfter(error)
    }),
  TokenResponseInvalid: (error) => new TokenError.TokenResponseInvalid(invalid(error)),
  TokenTimeout: (error) =>
    new TokenError.TokenTimeout({ deadline: Values.duration(error.deadline), ...optional(error) }),
  TokenProviderClosed: () => new TokenError.TokenProviderClosed()
}

/** The error of this package with the tag and the fields of the engine's. */
export const toFailure = <T extends Tag>(error: Engine[T] & { readonly _tag: T }): Converted[T] =>
  EngineFailure.link(converters[error._tag](error), error)
