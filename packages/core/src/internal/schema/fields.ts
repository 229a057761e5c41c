/** What errors have in common: fields, and texts about hosts, waits and responses. */
import * as Duration from "effect/Duration"
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Violation from "../../Violation.ts"

/** The field `host` of an error. */
export const Host = Schema.optionalWith(Schema.String, { exact: true })

/** For example `The token endpoint at auth.example.com:443`. */
export const withHost = (name: string, host: string | undefined): string =>
  host === undefined ? name : `${name} at ${host}`

/** Whether the status is that of a redirect. A browser hides the status of a redirect that is not followed: it is 0. */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/** Whether a service stays unavailable until an operator changes something: the certificate, or what a proxy allows. */
export const isLasting = ({ reason, status = 0 }: { readonly reason: string; readonly status?: number }): boolean =>
  reason === "certificate" ||
  (reason === "proxy" && status >= 400 && status < 500 && status !== 408 && status !== 429)

/** A field that exists in memory only: it is omitted when encoded, and ignored when decoded. */
export const omittedWhenEncoded = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalToOptional(Schema.Unknown, Schema.typeSchema(schema), {
    decode: constant(Option.none<A>()),
    encode: constant(Option.none<never>())
  })

/** For example `; try again in 30s`. */
export const withWait = (retryAfter: Duration.Duration | undefined): string =>
  retryAfter === undefined
    ? ""
    : `; try again in ${Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(retryAfter))))}`

/** The fields of the error of a response that is not valid. */
export const invalidResponse = {
  /** The `host:port` of the address. */
  host: Host,
  status: Schema.Int,
  /** One of a few known media types, or `other`. */
  contentType: Schema.optionalWith(Schema.String, { exact: true }),
  /** The length of the body, in bytes. */
  length: Schema.Int,
  /** The invalid fields, without their values. */
  violations: Schema.Array(Violation.Violation)
}

/** Describes a response that is not valid. `option` is that of the address. */
export const describeInvalid = (
  { contentType = "no content type", host, length, status, violations }: Schema.Struct.Type<typeof invalidResponse>,
  { name, option, problem }: { readonly name: string; readonly option: string; readonly problem: string }
): string => {
  const sender = `${withHost(name, host)} responded with`
  return isRedirect(status)
    ? `${sender} ${status === 0 ? "a redirect" : status}, which is not followed (check ${option})`
    : `${sender} ${status} (${contentType}, ${length} bytes), which ${problem}: ${Violation.format(violations)}`
}
