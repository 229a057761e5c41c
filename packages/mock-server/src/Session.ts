/**
 * Everything of one customer: its key, its clock, its seed, its tokens, its faults, its profile, its
 * searches and its journal. The session is found by the customer id, which every token carries, so
 * that tests with customers of their own run side by side against one server and never see each
 * other.
 *
 * @since 0.1.0
 */
import type { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { PCGRandom } from "effect/Utils"
import type * as Fault from "./Fault.ts"
import * as Shaping from "./internal/dataPlane/responseFormat.ts"
import { expected as expectedOnce, repeated } from "./internal/schema/uniqueIds.ts"
import * as Bounded from "./internal/session/boundedMap.ts"
import * as FaultBoard from "./internal/session/faultBoard.ts"
import * as Handle from "./internal/session/handle.ts"
import * as SessionClock from "./internal/session/sessionClock.ts"
import * as Tokens from "./internal/session/tokens.ts"
import * as Journal from "./Journal.ts"
import * as Profile from "./Profile.ts"

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
 * A customer that needs no setting up: any id of `test-*`, of at most 128 characters, has the key
 * `test-key`, and a session of its own from its first request on. A test takes an id that no other
 * test has. No percent sign: it would be taken for one that a client encoded.
 *
 * @category models
 * @since 0.1.0
 */
export const testCustomer = (customerId: `test-${string}`): Customer => ({ customerId, customerKey: testKey })

/**
 * The key of every test customer.
 *
 * @category models
 * @since 0.1.0
 */
export const testKey: Redacted.Redacted<string> = Redacted.make("test-key")

const isTestCustomer = (customerId: string): customerId is `test-${string}` =>
  /^test-[\x21-\x24\x26-\x39\x3b-\x7e]{1,123}$/.test(customerId)

/**
 * What a session begins with, and what a reset takes it back to.
 *
 * - `seed`: for its tokens and for whatever is left to chance; two sessions with one seed do the
 *   same. Chosen at random if absent.
 * - `profile`: `Profile.defaultProfile` by default.
 * - `faults`: none by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  readonly seed?: number | undefined
  readonly profile?: Profile.Profile | undefined
  readonly faults?: ReadonlyArray<Fault.Fault> | undefined
}

/**
 * - `clock`: the session's time, which decides about everything but how long an answer takes.
 * - `random`: the next number of the session's own sequence, from 0 to 1.
 * - `issueToken`: a token that is valid for one hour of the session's clock (API document,
 *   section 5), or for less if the profile says so.
 * - `keepSearch`, `search`: the credential behind an `aml_profile`.
 * - `reset`: as it was at its beginning, but for its tokens, which are other ones.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session extends Customer {
  readonly seed: number
  readonly clock: SessionClock.SessionClock
  readonly random: () => number
  readonly profile: Ref.Ref<Profile.Profile>
  readonly faults: FaultBoard.FaultBoard
  readonly tokens: Tokens.Tokens
  readonly journal: Journal.Journal
  readonly issueToken: Effect.Effect<string>
  readonly keepSearch: (credential: (profileId: string) => AmlCredential) => Effect.Effect<AmlCredential>
  readonly search: (profileId: string) => Effect.Effect<Option.Option<AmlCredential>>
  readonly reset: Effect.Effect<void>
}

/**
 * - `find`: the session of a customer id. One of a test customer begins here.
 * - `create`: begins a session, unless there is one of this customer, which stays as it is.
 * - `known`: the session of a customer id, if there is one already.
 * - `findCarried`: the session that a token or a profile id carries, whether or not it is valid.
 * - `strangers`: the journal of requests that carry no session.
 * - `settings`: what sessions begin with, unless they are told otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly find: (customerId: string) => Effect.Effect<Option.Option<Session>>
  readonly known: (customerId: string) => Effect.Effect<Option.Option<Session>>
  readonly findCarried: (handle: string) => Effect.Effect<Option.Option<Session>>
  readonly list: Effect.Effect<ReadonlyArray<Session>>
  readonly create: (customer: Customer, settings?: Settings) => Effect.Effect<Session>
  readonly remove: (customerId: string) => Effect.Effect<boolean>
  readonly strangers: Journal.Journal
  readonly settings: Settings
}

/**
 * @category tags
 * @since 0.1.0
 */
export class Sessions extends Context.Tag("@effect-idv/mock-server/Sessions")<Sessions, Service>() {}

/** How many searches a session keeps, and how many sessions of test customers there are at most. */
const capacity = { searches: 10_000, testSessions: 1_000 }

const makeSession = (customer: Customer, settings: Settings, nextId: Effect.Effect<number>) =>
  Effect.gen(function*() {
    const seed = settings.seed ?? (yield* Random.nextIntBetween(0, 2 ** 31))
    const standard = settings.profile ?? Profile.defaultProfile
    const clock = yield* SessionClock.make
    const journal = yield* Journal.make({ nextId, now: clock.now })
    const profile = yield* Ref.make(standard)
    const faults = yield* FaultBoard.make(clock, seed, settings.faults ?? [])
    const tokens = Tokens.make(clock)
    const searches = new Map<string, AmlCredential>()

    let generation = 0
    let generator = new PCGRandom(seed, generation)
    const random = () => generator.number()

    const session: Session = {
      ...customer,
      seed,
      clock,
      random,
      profile,
      faults,
      tokens,
      journal,
      issueToken: Effect.gen(function*() {
        const chosen = yield* Ref.get(profile)
        const lifetime = Duration.seconds(Shaping.lifetimeSeconds(chosen))
        const issuedAt = yield* clock.now
        const token = chosen.tokenFormat === "jwt"
          ? yield* Handle.jwt(customer.customerId, random, {
            issuedAt,
            expiresAt: issuedAt + Duration.toMillis(lifetime)
          })
          : Handle.opaque(customer.customerId, random)
        yield* tokens.keep(token, lifetime)
        return token
      }),
      keepSearch: (credential) =>
        Effect.sync(() => {
          const profileId = Handle.opaque(customer.customerId, random)
          const kept = credential(profileId)
          Bounded.keep(searches, profileId, kept, capacity.searches)
          return kept
        }),
      search: (profileId) => Effect.sync(() => Option.fromNullable(searches.get(profileId))),
      reset: Effect.gen(function*() {
        yield* clock.reset
        yield* Ref.set(profile, standard)
        yield* tokens.clear
        yield* faults.reset
        yield* journal.clear
        searches.clear()
        generation++
        generator = new PCGRandom(seed, generation)
      })
    }
    return session
  })

/**
 * The sessions of a server: one of each of `customers`, and of every test customer that comes. Two
 * customers with one id are a defect.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (customers: ReadonlyArray<Customer>, settings: Settings = {}): Layer.Layer<Sessions> =>
  Layer.effect(
    Sessions,
    Effect.gen(function*() {
      let exchanges = 0
      const nextId = Effect.sync(() => ++exchanges)
      const sessions = new Map<string, Session>()
      const testSessions = new Map<string, Session>()
      // A test customer that was ever given a key of its own never has the common one again.
      const ownKeys = new Set<string>()

      const begin = (customer: Customer, own: Settings = {}) => makeSession(customer, { ...settings, ...own }, nextId)

      const keep = (session: Session) => {
        const { customerId, customerKey } = session
        if (!isTestCustomer(customerId)) sessions.set(customerId, session)
        else if (Equal.equals(customerKey, testKey)) {
          Bounded.keep(testSessions, customerId, session, capacity.testSessions)
        } else {
          ownKeys.add(customerId)
          sessions.set(customerId, session)
        }
        return session
      }

      const known = (customerId: string) =>
        Option.fromNullable(sessions.get(customerId) ?? testSessions.get(customerId))

      /** Of test customers the one that was used last stays longest. */
      const used = (customerId: string) => Option.map(known(customerId), keep)

      const find: Service["find"] = (customerId) =>
        Effect.suspend(() => {
          const session = used(customerId)
          if (Option.isSome(session) || !isTestCustomer(customerId) || ownKeys.has(customerId)) {
            return Effect.succeed(session)
          }
          // Of two first requests at once, or of one and a `create`, one begins the session.
          return Effect.map(begin(testCustomer(customerId)), (begun) =>
            Option.orElse(used(customerId), () => Option.some(keep(begun))))
        })

      const [again] = repeated(customers.map(({ customerId }) => customerId))
      if (again !== undefined) {
        return yield* Effect.dieMessage(`customers[${again}].customerId: expected ${expectedOnce}`)
      }
      for (const customer of customers) keep(yield* begin(customer))
      return {
        find,
        known: (customerId) => Effect.sync(() => known(customerId)),
        findCarried: (handle) => Effect.sync(() => Option.flatMap(Handle.customerOf(handle), used)),
        list: Effect.sync(() => Array.from(sessions.values()).concat(Array.from(testSessions.values()))),
        create: (customer, own) => {
          const orElse = (create: Effect.Effect<Session>) =>
            Effect.suspend(() =>
              Option.match(known(customer.customerId), { onNone: () => create, onSome: Effect.succeed })
            )
          // Another request may begin the session while this one does.
          return orElse(
            Effect.flatMap(begin(customer, own), (session) => orElse(Effect.sync(() => keep(session))))
          )
        },
        remove: (customerId) => Effect.sync(() => sessions.delete(customerId) || testSessions.delete(customerId)),
        strangers: yield* Journal.make({ nextId }),
        settings
      }
    })
  )
