/**
 * Handles are the tokens and profile ids that a session issues. Each contains the customer id, so that the server can
 * find the session of a later request by the handle alone.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHmac } from "node:crypto"

/** Makes a handle of the customer id and 128 random bits of the session's own sequence. */
export const opaque = (customerId: string, random: () => number): string => {
  const words = Arr.makeBy(4, () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0"))
  return `${Encoding.encodeBase64Url(customerId)}.${words.join("")}`
}

/** Makes the same handle for the same person. It contains 128 bits of a digest whose key is the seed. */
export const profile = (customerId: string, seed: number, person: string): string => {
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

/** Returns the customer id in a handle, even if the server never issued the handle. */
export const customerOf = (handle: string): Option.Option<string> => {
  const parts = handle.split(".")
  const [first = "", claims = ""] = parts
  return parts.length === 3
    ? Option.flatMap(
      decodeBase64Url(claims),
      (json) => Option.map(Either.getRight(Schema.decodeEither(Claims)(json)), ({ client_id }) => client_id)
    )
    : decodeBase64Url(first)
}
