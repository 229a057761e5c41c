/**
 * The state of one customer: its key, clock, seed, tokens, faults, test persons, profile, searches and journal. The
 * server finds a session by the customer id, which every token contains. Tests with different customers therefore do
 * not affect each other, even if they use the same server at the same time.
 *
 * @since 0.1.0
 */
import { AmlCredential } from "@effect-idv/core/AmlCredential"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { PCGRandom } from "effect/Utils"
import type * as Fault from "./Fault.ts"
import { expected as uniqueId, repeatedIndexes } from "./internal/schema/uniqueIds.ts"
import * as Choices from "./internal/session/choices.ts"
import { type Customer, isTestCustomer, testCustomer, testKey } from "./internal/session/customer.ts"
import * as PersonList from "./internal/session/personList.ts"
import * as SessionClock from "./internal/session/sessionClock.ts"
import * as SessionFaults from "./internal/session/sessionFaults.ts"
import * as Tokens from "./internal/session/tokens.ts"
import * as Journal from "./Journal.ts"
import * as Profile from "./Profile.ts"
import type * as TestPerson from "./TestPerson.ts"

export { type Customer, demoCustomer, testCustomer, testKey } from "./internal/session/customer.ts"

/**
 * The state that a session begins with and that a reset restores.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  /**
   * The seed of tokens, profile ids and random faults. Two sessions with the same seed behave identically.
   *
   * @default a random number
   */
  readonly seed?: number | undefined
  /**
   * How the session behaves where the service document leaves a choice.
   *
   * @default `Profile.defaultProfile`
   */
  readonly profile?: Profile.Profile | undefined
  /**
   * How far `searched_on` and the `Date` header are ahead of the session's clock, in milliseconds. It may be negative.
   * Tokens are not affected.
   *
   * @default 0
   */
  readonly clockSkew?: number | undefined
  /**
   * The faults that are set from the beginning.
   *
   * @default none
   */
  readonly faults?: ReadonlyArray<Fault.Fault> | undefined
  /**
   * The test persons of your own. The first that matches decides, before the reserved names.
   *
   * @default none
   */
  readonly testPersons?: ReadonlyArray<TestPerson.Custom> | undefined
}

/**
 * The options of a session that are plain values.
 *
 * @category models
 * @since 0.1.0
 */
export interface OptionValues {
  readonly profile: Profile.Profile
  readonly clockSkew: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Session extends Customer {
  readonly seed: number
  /** The session's time. Only delays of responses use real time. */
  readonly clock: SessionClock.SessionClock
  /** Returns the next number of the session's own random sequence, from 0 to 1. */
  readonly random: () => number
  readonly options: Ref.Ref<OptionValues>
  readonly faults: SessionFaults.SessionFaults
  readonly testPersons: PersonList.PersonList
  readonly tokens: Tokens.Tokens
  readonly journal: Journal.Journal
  /** Issues a token that is valid for one hour of the session's clock (section 5), or less if the profile says so. */
  readonly issueToken: Effect.Effect<string>
  /**
   * Stores the credential of a response under the profile id of the person, in place of the earlier one. The id depends
   * on the seed and on `person`, the name and date of birth, so that it is the same in each search.
   */
  readonly addSearch: (
    person: string,
    credential: (profileId: string) => typeof AmlCredential.Encoded
  ) => Effect.Effect<typeof AmlCredential.Encoded>
  /** Returns the credential behind an `aml_profile`. A session keeps the last 10,000. */
  readonly search: (profileId: string) => Effect.Effect<Option.Option<AmlCredential>>
  /** Restores the state that the session began with. New tokens differ from the old ones. */
  readonly reset: Effect.Effect<void>
}

/**
 * The sessions of a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** Returns the session of a customer id. **Creates** one for a test customer without a session. */
  readonly find: (customerId: string) => Effect.Effect<Option.Option<Session>>
  /** Returns the session of a customer id. It never creates a session. */
  readonly known: (customerId: string) => Effect.Effect<Option.Option<Session>>
  /**
   * Returns the session of the customer id in a token or in a profile id, even if the session never issued that token
   * or id.
   */
  readonly findByHandle: (handle: string) => Effect.Effect<Option.Option<Session>>
  /** All sessions. */
  readonly list: Effect.Effect<ReadonlyArray<Session>>
  /** Creates a session. If the customer already has one, that session is returned unchanged. */
  readonly create: (customer: Customer, settings?: Settings) => Effect.Effect<Session>
  /** Removes a session, and returns whether there was one. */
  readonly remove: (customerId: string) => Effect.Effect<boolean>
  /** The journal of requests that match no session. */
  readonly unmatched: Journal.Journal
  /** The options of a session that is created without its own, and of a request that matches no session. */
  readonly options: OptionValues
}

/**
 * @category tags
 * @since 0.1.0
 */
export class Sessions extends Context.Tag("@effect-idv/mock-server/Sessions")<Sessions, Service>() {}

/** How many searches one session keeps. */
const maxSearches = 10_000

/**
 * How many sessions of test customers a server keeps. Another one removes the session that was used least recently.
 *
 * @category models
 * @since 0.1.0
 */
export const maxTestSessions = 1_000

const decodeCredential = Schema.decodeSync(AmlCredential)

const optionValues = ({ clockSkew = 0, profile = Profile.defaultProfile }: Settings): OptionValues => ({
  clockSkew,
  profile
})

const makeSession = (customer: Customer, settings: Settings, journalOptions: Omit<Journal.Options, "now">) =>
  Effect.gen(function*() {
    const seed = settings.seed ?? (yield* Random.nextIntBetween(0, 2 ** 31))
    const initialOptions = optionValues(settings)
    const clock = yield* SessionClock.make
    const journal = yield* Journal.make({ ...journalOptions, now: clock.now })
    const options = yield* Ref.make(initialOptions)
    const faults = yield* SessionFaults.make(clock, seed, settings.faults ?? [])
    const testPersons = PersonList.make(settings.testPersons ?? [])
    const tokens = Tokens.make(clock)
    const searches = new Map<string, typeof AmlCredential.Encoded>()

    let generation = 0
    let generator = new PCGRandom(seed, generation)
    const random = () => generator.number()

    const session: Session = {
      ...customer,
      seed,
      clock,
      random,
      options,
      faults,
      testPersons,
      tokens,
      journal,
      issueToken: Effect.gen(function*() {
        const { profile } = yield* Ref.get(options)
        const lifetime = Duration.seconds(Choices.tokenLifetimeSeconds(profile))
        const issuedAt = yield* clock.now
        const token = profile.tokenFormat === "jwt"
          ? yield* Tokens.jwt(customer.customerId, random, {
            issuedAt,
            expiresAt: issuedAt + Duration.toMillis(lifetime)
          })
          : Tokens.opaque(customer.customerId, random)
        yield* tokens.add(token, lifetime)
        return token
      }),
      addSearch: (person, credential) =>
        Effect.sync(() => {
          const profileId = Tokens.profileId(customer.customerId, seed, person)
          const search = credential(profileId)
          Tokens.setBounded(searches, profileId, search, maxSearches)
          return search
        }),
      search: (profileId) =>
        Effect.sync(() => Option.map(Option.fromNullable(searches.get(profileId)), decodeCredential)),
      reset: Effect.gen(function*() {
        yield* clock.reset
        yield* Ref.set(options, initialOptions)
        yield* tokens.clear
        yield* faults.reset
        yield* testPersons.reset
        yield* journal.clear
        searches.clear()
        generation++
        generator = new PCGRandom(seed, generation)
      })
    }
    return session
  })

/**
 * The sessions of a server: one for each of `customers`, and one for every test customer that sends a request. Two
 * customers with one id are a defect.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  customers: ReadonlyArray<Customer>,
  settings: Settings = {},
  { reveal }: Pick<Journal.Options, "reveal"> = {}
): Layer.Layer<Sessions> =>
  Layer.effect(
    Sessions,
    Effect.gen(function*() {
      let exchanges = 0
      const journalOptions = { nextId: () => ++exchanges, reveal }
      const sessions = new Map<string, Session>()
      const testSessions = new Map<string, Session>()
      // A test customer that once had another key than the test key never gets the test key again.
      const customersWithOwnKey = new Set<string>()

      const createSession = (customer: Customer, ownSettings: Settings = {}) =>
        makeSession(customer, { ...settings, ...ownSettings }, journalOptions)

      const store = (session: Session) => {
        const { customerId, customerKey } = session
        if (!isTestCustomer(customerId)) sessions.set(customerId, session)
        else if (Equal.equals(customerKey, testKey)) {
          Tokens.setBounded(testSessions, customerId, session, maxTestSessions)
        } else {
          customersWithOwnKey.add(customerId)
          sessions.set(customerId, session)
        }
        return session
      }

      const known = (customerId: string) =>
        Option.fromNullable(sessions.get(customerId) ?? testSessions.get(customerId))

      /** Finds a session. That of a test customer becomes the most recently used one, which is removed last. */
      const findAndMarkUsed = (customerId: string) => {
        const session = testSessions.get(customerId)
        if (session !== undefined) {
          testSessions.delete(customerId)
          testSessions.set(customerId, session)
        }
        return known(customerId)
      }

      const create: Service["create"] = (customer, ownSettings) =>
        Effect.suspend(() =>
          Option.match(known(customer.customerId), {
            onNone: () =>
              // Another request may create the session at the same time. The first session is used.
              Effect.map(
                createSession(customer, ownSettings),
                (session) => Option.getOrElse(known(customer.customerId), () => store(session))
              ),
            onSome: Effect.succeed
          })
        )

      const findOrCreate: Service["find"] = (customerId) =>
        Effect.suspend(() => {
          const session = findAndMarkUsed(customerId)
          return Option.isSome(session) || !isTestCustomer(customerId) || customersWithOwnKey.has(customerId)
            ? Effect.succeed(session)
            : Effect.asSome(create(testCustomer(customerId)))
        })

      const [duplicate] = repeatedIndexes(customers.map(({ customerId }) => customerId))
      if (duplicate !== undefined) {
        return yield* Effect.dieMessage(`customers[${duplicate}].customerId: expected ${uniqueId}`)
      }
      for (const customer of customers) store(yield* createSession(customer))
      return {
        find: findOrCreate,
        known: (customerId) => Effect.sync(() => known(customerId)),
        findByHandle: (handle) => Effect.sync(() => Option.flatMap(Tokens.customerOf(handle), findAndMarkUsed)),
        list: Effect.sync(() => Array.from(sessions.values()).concat(Array.from(testSessions.values()))),
        create,
        remove: (customerId) => Effect.sync(() => sessions.delete(customerId) || testSessions.delete(customerId)),
        unmatched: yield* Journal.make(journalOptions),
        options: optionValues(settings)
      }
    })
  )
