/** The tokens of one session. They expire by its clock. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SessionClock } from "./sessionClock.ts"

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
