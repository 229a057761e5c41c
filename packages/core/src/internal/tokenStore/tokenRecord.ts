/** The stored form of a token: where it is stored, what is stored, and which stored tokens a process may use. */
import { sha256 } from "@noble/hashes/sha2.js"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Equal from "effect/Equal"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { AccessToken } from "../../AccessToken.ts"
import * as Violation from "../../Violation.ts"
import type { Instant } from "../schema/instant.ts"
import * as CachedToken from "../token/cachedToken.ts"
import type { Credentials } from "../token/credentials.ts"
import type { TokenPolicy } from "../token/tokenOptions.ts"
import type { Encryption, Unreadable } from "./tokenEncryption.ts"

/** Times are in milliseconds of the wall clock of the process that requested the token. */
const Record = Schema.Struct({
  token: Schema.Redacted(Schema.String.pipe(Schema.pattern(/^[\x21-\x7e]+$/))),
  requestedAt: Schema.Int,
  expiresAt: Schema.Int,
  /** A hash of the URL of the token endpoint and the credentials, so that a token of other credentials is not used. */
  fingerprint: Schema.String
})

export interface TokenRecord extends Schema.Schema.Type<typeof Record> {}

/** Where the token of a provider is stored, and its fingerprint. */
export interface Slot {
  readonly name: string
  readonly fingerprint: string
}

const digest = (...parts: ReadonlyArray<string>) =>
  Encoding.encodeHex(sha256(new TextEncoder().encode(JSON.stringify(parts))))

/**
 * The name contains a hash of non-secret values only, so that it stays when the customer key changes. The fingerprint,
 * which depends on that key, is stored encrypted only: nobody can test guesses of the key against it.
 */
export const slotOf = (url: string, { basicEncoding, customerId, customerKey }: Credentials): Slot => {
  const id = Redacted.value(customerId)
  return {
    name: `idv-token-${digest(url, id).slice(0, 32)}`,
    fingerprint: digest(url, id, Redacted.value(customerKey), basicEncoding)
  }
}

const encode = Schema.encodeSync(Schema.parseJson(Record))
const decode = Violation.decodeJson(Record)

export const seal = (
  encryption: Encryption,
  { fingerprint, name }: Slot,
  token: AccessToken
): Effect.Effect<string> => {
  const { expiresAt, requestedAt, value } = token
  return Effect.suspend(() =>
    encryption.encrypt(
      encode({ token: value, requestedAt: Math.round(requestedAt), expiresAt: Math.round(expiresAt), fingerprint }),
      name
    )
  )
}

/** Why a stored token is ignored. */
export type Ignored = Unreadable | "fingerprint" | "clock"

/** The clocks of two machines may differ by this much. */
const maxSkewMillis = 60_000

/** Fails if the text is not a record of this provider, or if it is from the future. */
export const open = Effect.fnUntraced(
  function*(
    encryption: Encryption,
    { fingerprint, name }: Slot,
    text: string,
    now: Instant
  ): Effect.fn.Return<TokenRecord, Ignored> {
    const opened = yield* encryption.decrypt(text, name)
    const record = yield* Effect.mapError(decode(new TextEncoder().encode(opened)), () => "corrupt" as const)
    if (record.fingerprint !== fingerprint) return yield* Effect.fail("fingerprint" as const)
    if (record.requestedAt - now.wall > maxSkewMillis) return yield* Effect.fail("clock" as const)
    return record
  }
)

/** A stored token with the expiry that this process uses, and when it was requested, on the clocks of this process. */
export interface Adoptable {
  readonly token: AccessToken
  readonly at: Instant
}

/**
 * Converts a record to a token on the clocks of this process. The policy limits its lifetime. Because the clocks of two
 * machines may differ, it expires 60 s early, or a quarter of its lifetime early if that is less.
 */
export const toToken = (
  { expiresAt, requestedAt, token }: TokenRecord,
  now: Instant,
  policy: TokenPolicy
): Adoptable => {
  const lifetime = Math.min(expiresAt - requestedAt, Duration.toMillis(policy.lifetime))
  const from = Math.min(requestedAt, now.wall)
  return {
    token: new AccessToken({
      value: token,
      requestedAt: from,
      expiresAt: from + lifetime - Math.min(maxSkewMillis, lifetime / 4)
    }),
    at: { wall: from, monotonic: now.monotonic - (now.wall - from) }
  }
}

/** Whether a process should adopt the token: callers may receive it, and it is newer than the cached token. */
export const shouldAdopt = (
  { at, token }: Adoptable,
  cached: AccessToken | undefined,
  now: Instant,
  policy: TokenPolicy
): boolean =>
  token.expiresAt > token.requestedAt && CachedToken.isUsable(CachedToken.make(token, at, 0, policy), now) &&
  (cached === undefined || (!Equal.equals(cached.value, token.value) && token.requestedAt >= cached.requestedAt))
