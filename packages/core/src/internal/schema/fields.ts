/** What errors have in common: their field `host`, their texts about hosts and redirects, and fields that are not encoded. */
import { constant } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

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
