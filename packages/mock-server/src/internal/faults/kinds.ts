/**
 * The kinds of faults, one entry each: its schema, its sentences, its value in the one-line text, and what it does to a
 * response. Everything else about a kind is derived from its entry.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { discriminatedUnion, literalOr, variant } from "../schema/discriminatedUnion.ts"
import { PositiveDurationText, WaitText } from "../schema/durationText.ts"
import { oneOf, optional, wholeNumber, withDefault } from "../schema/fields.ts"
import * as Response from "../wire/response.ts"
import * as Damage from "./damage.ts"
import { Distribution } from "./latency.ts"
import { headerText, RetryAfter } from "./retryAfter.ts"

export interface Options {
  /** The session's time, in milliseconds since 1970. */
  readonly now: number
  /** Returns a number in [0, 1) from a seeded sequence. */
  readonly random: () => number
}

/** What the journal knows of an exchange with a fault. */
interface Exchange {
  readonly millis: number
  readonly response: { readonly status: number }
}

interface Entry<Fields extends Schema.Struct.Fields> {
  /**
   * The operations that it applies to.
   *
   * @default both
   */
  readonly on?: ReadonlyArray<"token" | "aml">
  /** A sentence, without a full stop. */
  readonly description: string
  /** What it did to an exchange, as the predicate of a sentence. */
  readonly did: (exchange: Exchange) => string
  /**
   * The field that the value in the one-line text sets, with an example.
   *
   * @default undefined, the text has no value
   */
  readonly value?: readonly [field: string, example: string]
  /**
   * Applies it to a response.
   *
   * @default the response is unchanged, because another module applies it
   */
  readonly apply?: (
    response: Response.Response,
    what: Schema.Struct.Type<Fields>,
    options: Options
  ) => Response.Delivery
}

const both: ReadonlyArray<"token" | "aml"> = ["token", "aml"]

/** Makes the entry of a kind. `fields` is a parameter of its own, so that TypeScript knows the type of `what` in `apply`. */
const kind = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  fields: Fields,
  { apply, on = both, ...entry }: Entry<Fields>
) => {
  const isOwn = (what: { readonly kind: string }): what is Schema.Struct.Type<Fields> & { readonly kind: Kind } =>
    what.kind === kind
  return {
    ...entry,
    kind,
    on,
    schema: variant(kind, entry.description, fields),
    apply: (response: Response.Response, what: { readonly kind: string }, options: Options): Response.Delivery =>
      apply !== undefined && isOwn(what) ? apply(response, what, options) : Damage.whole(response)
  }
}

const atFields = {
  /** @default "headers" */
  at: withDefault(oneOf("headers", "body"), "headers")
}

const responseKinds = [
  kind("latency", {
    /** @default a fixed delay of 2 seconds */
    distribution: withDefault(Distribution, { kind: "fixed", delay: Duration.seconds(2) })
  }, {
    description: "The response is late, by a fixed time or by a random time from a distribution",
    did: ({ millis }) => `delayed the response to ${Math.round(millis)} ms`,
    value: ["distribution.delay", "2 seconds"]
  }),
  kind("status", {
    /** @default 503 */
    status: withDefault(wholeNumber(200, 599), 503),
    /** @default none */
    body: optional(Schema.String.annotations({ description: "a text" })),
    /**
     * The type of the body, if there is one.
     *
     * @default "text/plain; charset=utf-8"
     */
    contentType: withDefault(headerText, "text/plain; charset=utf-8"),
    /** @default none */
    retryAfter: optional(RetryAfter),
    /**
     * The address in the header `Location`, for a status such as 302.
     *
     * @default none
     */
    location: optional(headerText)
  }, {
    description: "A response with another status, and optionally a body, a Retry-After and a Location",
    did: ({ response }) => `returned status ${response.status} instead of the service's response`,
    value: ["status", "503"],
    apply: (_, what, { now }) => Damage.whole(Damage.statusResponse(what, now))
  }),
  kind("reset", atFields, {
    description: "The connection is reset, before the headers or in the middle of the body",
    did: () => "reset the connection",
    value: ["at", "body"],
    apply: Damage.ending("reset")
  }),
  kind("fin", atFields, {
    description: "The connection is closed early, before the headers or in the middle of the body",
    did: () => "closed the connection early",
    value: ["at", "body"],
    apply: Damage.ending("fin")
  }),
  kind("truncation", {
    /**
     * How many bytes of the body are sent.
     *
     * @default half of them
     */
    keep: optional(wholeNumber(0))
  }, {
    description: "The body is shorter than its Content-Length, and then the connection is closed",
    did: () => "sent only a part of the body, and closed the connection",
    value: ["keep", "10"],
    apply: (response, what) => Damage.scripted(response, [...Damage.incompleteMessage(response, what.keep), Damage.fin])
  }),
  kind("badChunk", {}, {
    description: "The body is chunked, and the size of its second chunk is not a number",
    did: () => "sent a chunk whose size is not a number",
    apply: (response) =>
      Damage.scripted(response, [
        Damage.write(Response.lastHead(response, ["transfer-encoding: chunked"])),
        Damage.write(Damage.badChunks(response.body)),
        Damage.fin
      ])
  }),
  kind("falseGzip", {}, {
    description: "The response has Content-Encoding: gzip, and its body is not compressed",
    did: () => "declared the body as compressed, which it is not",
    apply: (response) => Damage.whole({ ...response, headers: { ...response.headers, "content-encoding": "gzip" } })
  }),
  kind("duplicateLength", {}, {
    description: "The response has two Content-Length headers with different values",
    did: () => "sent two different Content-Length headers",
    apply: (response) => {
      const { body } = response
      return Damage.scripted(response, [
        Damage.write(
          Response.lastHead(response, [`content-length: ${body.length}`, `content-length: ${body.length + 1}`])
        ),
        Damage.write(body),
        Damage.fin
      ])
    }
  }),
  kind("randomBytes", {
    /** @default 512 */
    length: withDefault(wholeNumber(1, 1_048_576), 512)
  }, {
    description: "Random bytes instead of an HTTP response",
    did: () => "sent random bytes instead of an HTTP response",
    value: ["length", "512"],
    apply: (response, what, { random }) =>
      Damage.scripted(response, [
        Damage.write(Uint8Array.from({ length: what.length }, () => Math.floor(random() * 256))),
        Damage.fin
      ])
  }),
  kind("malformedJson", {}, {
    description: "The body is cut off and is not valid JSON",
    did: () => "cut off the JSON text of the body",
    apply: Damage.withBody(Damage.cutInHalf)
  }),
  kind("invalidUtf8", {}, {
    description: "A string in the body has a byte that is not UTF-8",
    did: () => "put a byte that is not UTF-8 into the body",
    apply: Damage.withBody(Damage.withInvalidByte)
  }),
  kind("empty", {}, {
    description: "The body is empty",
    did: () => "removed the body",
    apply: Damage.withBody(() => Damage.emptyBody)
  }),
  kind("html", {}, {
    description: "An HTML page with the status of the response, as a gateway or a login page returns",
    did: () => "replaced the body with an HTML page",
    apply: (response) =>
      Damage.whole({
        ...response,
        headers: { ...response.headers, "content-type": "text/html; charset=utf-8" },
        body: Damage.page
      })
  }),
  kind("drip", {
    /**
     * How many bytes are sent at a time.
     *
     * @default 1
     */
    bytes: withDefault(wholeNumber(1), 1),
    /** @default 100 milliseconds */
    every: withDefault(WaitText, Duration.millis(100))
  }, {
    description: "The body arrives a few bytes at a time",
    did: () => "sent the body a few bytes at a time",
    value: ["every", "100 millis"],
    apply: (response, what) =>
      Damage.scripted(response, [
        Damage.write(Response.lastHead(response, [`content-length: ${response.body.length}`])),
        ...Damage.dripSteps(response.body, what.bytes, Duration.toMillis(what.every)),
        Damage.fin
      ])
  }),
  kind("hang", atFields, {
    description: "The response stops and the connection stays open, before the headers or in the middle of the body",
    did: () => "stopped the response, and left the connection open",
    value: ["at", "body"],
    apply: Damage.ending("hang")
  }),
  kind("oversize", {
    /**
     * The size that the body exceeds, at most 64 MiB.
     *
     * @default 2 MiB
     */
    bytes: withDefault(wholeNumber(1, 64 * 1_048_576), 2 * 1_048_576)
  }, {
    description: "The body is valid JSON and far too long",
    did: () => "made the body far too long",
    value: ["bytes", "2097152"],
    apply: (response, what) => Damage.withBody((body) => Damage.withPadding(body, what.bytes))(response)
  }),
  kind("somebodyElse", {}, {
    on: ["aml"],
    description: "A valid credential with the name and the year of birth of another person",
    did: () => "returned the credential of another person",
    apply: Damage.withBody((body) => Damage.withAttributes(body, Damage.anotherPerson))
  }),
  kind("unknownMatch", {}, {
    on: ["aml"],
    description: "A match_found that the service document does not list",
    did: () => "returned a match_found that the service document does not list",
    apply: Damage.withBody((body) => Damage.withAttributes(body, () => ({ match_found: "Under review" })))
  })
]

/** Kinds that act before the request is decided: on the token, or on the count of requests. */
const requestKinds = [
  kind("tokenExpiry", {}, {
    description: "The token that is issued, or that the request carries, is expired",
    did: () => "made the token expire"
  }),
  kind("tokenRevocation", {}, {
    description: "The token that is issued, or that the request carries, is revoked",
    did: () => "revoked the token"
  }),
  kind("quota", {
    /** @default 10 */
    limit: withDefault(wholeNumber(1), 10),
    /** @default 1 minute */
    per: withDefault(PositiveDurationText, Duration.minutes(1)),
    /**
     * The `Retry-After` of a request above the limit.
     *
     * @default "profile": the form that the session's profile has
     */
    retryAfter: withDefault(literalOr(["profile"], RetryAfter), "profile")
  }, {
    description: "At most a number of requests per window of time; further requests receive a 429",
    did: ({ response }) => `returned status ${response.status}`,
    value: ["limit", "10"]
  })
]

/**
 * What goes wrong. `Fault.kinds` describes each kind. Every field has a default.
 *
 * @category schemas
 * @since 0.1.0
 */
export const What = discriminatedUnion(
  Schema.Union(...responseKinds.map(({ schema }) => schema), ...requestKinds.map(({ schema }) => schema))
)

/** The kinds that act on the response. */
export const ResponseWhat = discriminatedUnion(Schema.Union(...responseKinds.map(({ schema }) => schema)))

/** The names of the kinds that act on the response. */
export const responseKindNames: ReadonlyArray<string> = responseKinds.map(({ kind }) => kind)

/**
 * @category models
 * @since 0.1.0
 */
export type What = typeof What.Type

const all = [...responseKinds, ...requestKinds]

/** A kind, without the types of its fields. */
export type Kind = Pick<(typeof all)[number], "kind" | "on" | "description" | "did" | "value" | "apply">

export const kinds: ReadonlyArray<Kind> = all

const byName = new Map<string, Kind>(kinds.map((entry) => [entry.kind, entry]))

/** The kind with a name, if there is one. */
export const find = (name: string): Kind | undefined => byName.get(name)

/** Applies a fault to a response. */
export const apply = (response: Response.Response, what: What, options: Options): Response.Delivery =>
  find(what.kind)?.apply(response, what, options) ?? Damage.whole(response)

/** The fault in its one-line text, with an example of its value. */
export const exampleOf = ({ kind, on, value }: Pick<Kind, "kind" | "on" | "value">): string =>
  `${on.length === 1 ? "aml" : "both"}:${kind}${value === undefined ? "" : `=${value[1]}`}`
