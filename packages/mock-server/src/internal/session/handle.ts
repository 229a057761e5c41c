/**
 * Handles are what a session gives away: tokens and profile ids. Each carries its customer id, so
 * that a request finds its session with nothing but the handle.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Unguessable enough for a mock, and told apart from every other session's. */
export const opaque = (customerId: string, random: () => number): string => {
  const words = Arr.makeBy(4, () => Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0"))
  return `${Encoding.encodeBase64Url(customerId)}.${words.join("")}`
}

const issuer = "idv-mock"

/** Nobody but this server is meant to look into it, so its key is nobody else's business. */
const secret = new TextEncoder().encode("the mock server signs for itself only")

/** A JWT as many services issue it: to the client it is as opaque as any other token. */
export const jwt = (
  customerId: string,
  random: () => number,
  times: { readonly issuedAt: number; readonly expiresAt: number }
): Effect.Effect<string> => {
  const id = opaque(customerId, random)
  // Loaded by who needs it: most sessions have tokens that are opaque.
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
          .sign(secret)
      )
  )
}

const Claims = Schema.parseJson(Schema.Struct({ client_id: Schema.String }))

const decodeBase64Url = (text: string) => Either.getRight(Encoding.decodeBase64UrlString(text))

/** The customer id that a handle carries, whether or not it was ever given away. */
export const customerOf = (handle: string): Option.Option<string> => {
  const [first = "", claims] = handle.split(".").slice(0, 3)
  return handle.split(".").length === 3 && claims !== undefined
    ? Option.flatMap(
      decodeBase64Url(claims),
      (json) => Option.map(Either.getRight(Schema.decodeEither(Claims)(json)), ({ client_id }) => client_id)
    )
    : decodeBase64Url(first)
}
