/**
 * The tokens and profile ids that a session issues. Each contains the customer id, so that the server can find the
 * session of a later request by it alone. Tokens expire by the clock of their session.
 */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"
import type { SessionClock } from "./sessionClock.ts"

/** Makes an opaque token of the customer id and 128 random bits of the session's own sequence. */
export const opaque = (customerId: string, random: () => number): string => {
  const words = Arr.makeBy(4, () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0"))
  return `${Encoding.encodeBase64Url(customerId)}.${words.join("")}`
}

/** Makes the same profile id for the same person. It contains 128 bits of a digest whose key is the seed. */
export const profileId = (customerId: string, seed: number, person: string): string => {
  const digest = createHmac("sha256", String(seed)).update(person).digest("hex").slice(0, 32)
  return `${Encoding.encodeBase64Url(customerId)}.${digest}`
}

const issuer = "idv-mock"

/** The key need not be secret, because no other server verifies these tokens. */
const signingKey = new TextEncoder().encode("the mock server signs for itself only")

/** Makes a signed JWT (RFC 9068), which a client must treat like any other opaque token. */
export const jwt = (
  customerId: string,
  random: () => number,
  times: { readonly issuedAt: number; readonly expiresAt: number }
): Effect.Effect<string> => {
  const id = opaque(customerId, random)
  // Loaded on demand, because most sessions use opaque tokens.
  return Effect.flatMap(
    Effect.promise(() => import("jose")),
    ({ SignJWT }) =>
      Effect.promise(() =>
        new SignJWT({ client_id: customerId })
          .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
          .setIssuer(issuer)
          .setSubject(customerId)
          .setJti(id)
          .setIssuedAt(Math.floor(times.issuedAt / 1000))
          .setExpirationTime(Math.floor(times.expiresAt / 1000))
          .sign(signingKey)
      )
  )
}

const Claims = Schema.parseJson(Schema.Struct({ client_id: Schema.String }))

const decodeBase64Url = (text: string) => Either.getRight(Encoding.decodeBase64UrlString(text))

/** Returns the customer id in a token or profile id, even if the server never issued it. */
export const customerOf = (issued: string): Option.Option<string> => {
  const parts = issued.split(".")
  const [first = "", claims = ""] = parts
  return parts.length === 3
    ? Option.flatMap(
      decodeBase64Url(claims),
      (json) => Option.map(Either.getRight(Schema.decodeEither(Claims)(json)), ({ client_id }) => client_id)
    )
    : decodeBase64Url(first)
}

export type Status = "valid" | "expired" | "revoked"

export interface IssuedToken {
  /** In milliseconds since 1970, like `expiresAt`. */
  readonly issuedAt: number
  readonly expiresAt: number
  readonly revoked: boolean
}

export interface Tokens {
  /** Adds a token that is valid from now on. */
  readonly add: (token: string, lifetime: Duration.DurationInput) => Effect.Effect<void>
  readonly statusOf: (token: string) => Effect.Effect<Status | "unknown">
  readonly list: Effect.Effect<ReadonlyArray<IssuedToken & { readonly token: string; readonly status: Status }>>
  /** Expires one token, or all, and returns how many were valid before. */
  readonly expire: (token: Option.Option<string>) => Effect.Effect<number>
  /** Revokes one token, or all, and returns how many were valid before. */
  readonly revoke: (token: Option.Option<string>) => Effect.Effect<number>
  readonly clear: Effect.Effect<void>
}

const capacity = 10_000

/** Sets an entry of a map and removes the oldest ones above the capacity, so that the map stays bounded. */
export const setBounded = <A>(entries: Map<string, A>, key: string, value: A, capacity: number): void => {
  // A key that is set again becomes the newest.
  entries.delete(key)
  entries.set(key, value)
  for (const oldest of entries.keys()) {
    if (entries.size <= capacity) return
    entries.delete(oldest)
  }
}

const status = (issued: IssuedToken, now: number): Status =>
  issued.revoked ? "revoked" : now < issued.expiresAt ? "valid" : "expired"

export const make = ({ now }: SessionClock): Tokens => {
  const tokens = new Map<string, IssuedToken>()

  const endTokens = (change: (issued: IssuedToken, now: number) => IssuedToken) => (token: Option.Option<string>) =>
    Effect.map(now, (now) => {
      const endedTokens = Array.from(tokens).filter(([other, issued]) =>
        status(issued, now) === "valid" && Option.getOrElse(token, () => other) === other
      )
      for (const [token, issued] of endedTokens) tokens.set(token, change(issued, now))
      return endedTokens.length
    })

  return {
    add: (token, lifetime) =>
      Effect.map(now, (now) =>
        setBounded(
          tokens,
          token,
          { issuedAt: now, expiresAt: now + Duration.toMillis(lifetime), revoked: false },
          capacity
        )),
    statusOf: (token) =>
      Effect.map(now, (now) => {
        const issued = tokens.get(token)
        return issued === undefined ? "unknown" : status(issued, now)
      }),
    list: Effect.map(
      now,
      (now) => Array.from(tokens, ([token, issued]) => ({ ...issued, token, status: status(issued, now) }))
    ),
    expire: endTokens((issued, now) => ({ ...issued, expiresAt: now })),
    revoke: endTokens((issued) => ({ ...issued, revoked: true })),
    clear: Effect.sync(() => tokens.clear())
  }
}
