/** One exchange with another service, unmasked. It exists only until it is read. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Request from "../http/request.ts"
import type { Response } from "../http/response.ts"
import type { Operation } from "../journal/entry.ts"

export interface Exchange {
  readonly operation: Operation
  readonly request: Request.Request
  readonly response: Response
  /** When the response arrived, in milliseconds since 1970. */
  readonly at: number
  /** From the request to the whole response, in real milliseconds. */
  readonly millis: number
}

const decodeJson = Violation.decodeJson(Schema.Unknown)

/** A JSON object in a body, whatever its content type. */
export const objectIn = (body: Uint8Array): Option.Option<Readonly<Record<string, unknown>>> =>
  Option.filter(Either.getRight(decodeJson(body)), Predicate.isRecord)

export const objectAt = (value: unknown, ...path: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  path.reduce<Readonly<Record<string, unknown>>>(
    (at, name) => Predicate.isRecord(at[name]) ? at[name] : {},
    Predicate.isRecord(value) ? value : {}
  )

export const isSuccess = ({ response: { status } }: Exchange): boolean => status >= 200 && status < 300

export const isHtml = ({ response: { body, headers } }: Exchange): boolean =>
  (headers["content-type"] ?? "").includes("html") || /^\s*</.test(Buffer.from(body.subarray(0, 64)).toString())
