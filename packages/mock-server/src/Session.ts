/**
 * Everything of one customer: its key, its clock, its tokens, its searches. The session is found
 * by the customer id, which every token carries, so that tests with customers of their own run side
 * by side against one server and never see each other.
 *
 * @since 0.1.0
 */
import { lifetime } from "@effect-idv/core/AccessToken"
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"

/**
 * @category models
 * @since 0.1.0
 */
export interface Customer {
  readonly customerId: string
  readonly customerKey: Redacted.Redacted<string>
}

/**
 * The customer of a mock server that was given no others: `demo-customer` with the key `demo-key`.
 *
 * @category models
 * @since 0.1.0
 */
export const demoCustomer: Customer = { customerId: "demo-customer", customerKey: Redacted.make("demo-key") }

/**
 * - `now`: the session's time, in milliseconds since 1970.
 * - `advance`: moves the session's clock on, and no other.
 * - `issueToken`: a token that is valid for one hour of the session's clock (API document,
 *   section 5).
 * - `statusOf`: what the session knows of a token.
 * - `keepSearch`, `search`: the credential behind an `aml_profile`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session extends Customer {
  readonly now: Effect.Effect<number>
  readonly advance: (duration: Duration.DurationInput) => Effect.Effect<void>
  readonly issueToken: Effect.Effect<string>
  readonly statusOf: (token: string) => Effect.Effect<"valid" | "expired" | "unknown">
  readonly keepSearch: (credential: (profileId: string) => AmlCredential) => Effect.Effect<AmlCredential>
  readonly search: (profileId: string) => Effect.Effect<Option.Option<AmlCredential>>
}

/**
 * - `find`: the session of a customer id.
 * - `findCarried`: the session that a token or a profile id carries, whether or not it is valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly find: (customerId: string) => Option.Option<Session>
  readonly findCarried: (handle: string) => Option.Option<Session>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class Sessions extends Context.Tag("@effect-idv/mock-server/Sessions")<Sessions, Service>() {}

/**
 * How many tokens and searches a session keeps. The oldest go first, so that a server that runs for
 * weeks does not grow.
 */
const capacity = 10_000

const keep = <A>(entries: Map<string, A>, key: string, value: A): void => {
  entries.set(key, value)
  for (const oldest of entries.keys()) {
    if (entries.size <= capacity) return
    entries.delete(oldest)
  }
}

const makeSession = (customer: Customer) =>
  Effect.gen(function*() {
    const offset = yield* Ref.make(0)
    const tokens = new Map<string, { readonly expiresAt: number }>()
    const searches = new Map<string, AmlCredential>()

    const now = Effect.zipWith(Clock.currentTimeMillis, Ref.get(offset), (millis, offset) => millis + offset)

    /** Unguessable enough for a mock, and told apart from every other session's. */
    const handle = Effect.map(
      Effect.replicateEffect(Random.nextIntBetween(0, 2 ** 32), 4),
      (words) =>
        `${Encoding.encodeBase64Url(customer.customerId)}.${
          words.map((word) => word.toString(16).padStart(8, "0")).join("")
        }`
    )

    const session: Session = {
      ...customer,
      now,
      advance: (duration) => Ref.update(offset, (offset) => offset + Duration.toMillis(duration)),
      issueToken: Effect.zipWith(handle, now, (token, now) => {
        keep(tokens, token, { expiresAt: now + Duration.toMillis(lifetime) })
        return token
      }),
      statusOf: (token) =>
        Effect.map(now, (now) => {
          const issued = tokens.get(token)
          return issued === undefined ? "unknown" : now < issued.expiresAt ? "valid" : "expired"
        }),
      keepSearch: (credential) =>
        Effect.map(handle, (profileId) => {
          const kept = credential(profileId)
          keep(searches, profileId, kept)
          return kept
        }),
      search: (profileId) => Effect.sync(() => Option.fromNullable(searches.get(profileId)))
    }
    return session
  })

/**
 * @category layers
 * @since 0.1.0
 */
export const layer = (customers: ReadonlyArray<Customer>): Layer.Layer<Sessions> =>
  Layer.effect(
    Sessions,
    Effect.map(Effect.forEach(customers, makeSession), (sessions) => {
      const find: Service["find"] = (customerId) =>
        Option.fromNullable(sessions.find((session) => session.customerId === customerId))
      return {
        find,
        findCarried: (handle) =>
          Option.flatMap(
            Either.getRight(Encoding.decodeBase64UrlString(handle.split(".")[0] ?? "")),
            find
          )
      }
    })
  )
