import type { AmlCredential } from "@effect-idv/core"
import { Fault, Profile, Session } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Effect, Either, Layer, Option, Redacted, Ref } from "effect"

const find = (customerId: string) =>
  Effect.flatMap(Session.Sessions, ({ find }) => Effect.map(find(customerId), Option.getOrThrow))

const demo = find("demo-customer")

const layer = Session.layer([Session.demoCustomer])

const credential: typeof AmlCredential.AmlCredential.Encoded = {
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Mock",
  issuer_id: "1",
  cred_version: "1.0",
  credentials: {
    attributes: {
      name: "Zoë Testpep",
      birth_year: "1957",
      searched_on: "2026-11-27 12:00:00",
      match_found: "No",
      aml_profile: "https://mock.test/1"
    }
  }
}

describe("Session", () => {
  it.effect("keeps the last 10000 tokens and drops older ones", () =>
    Effect.gen(function*() {
      const { issueToken, tokens: { statusOf } } = yield* demo
      const first = yield* issueToken
      const second = yield* issueToken
      yield* Effect.replicateEffect(issueToken, 9999, { discard: true })
      strictEqual(yield* statusOf(first), "unknown")
      strictEqual(yield* statusOf(second), "valid")
    }).pipe(Effect.provide(layer)))

  it.effect("is found by its tokens and profile ids, also by a JWT, and by nothing else", () =>
    Effect.gen(function*() {
      const { findByHandle } = yield* Session.Sessions
      for (const handle of ["", ".", "abc", "%%%", "bm9ib2R5.0000", "a.b.c", "e30.e30.x", "e30.bnVsbA.x"]) {
        strictEqual(Option.isNone(yield* findByHandle(handle)), true, handle)
      }
      const session = yield* demo
      for (const tokenFormat of ["opaque", "jwt"] as const) {
        yield* Ref.update(
          session.options,
          (options) => ({ ...options, profile: Profile.apply(options.profile, { tokenFormat }) })
        )
        strictEqual(Option.getOrThrow(yield* findByHandle(yield* session.issueToken)), session)
      }
    }).pipe(Effect.provide(layer)))

  it.effect("of a test customer begins with its first request, and has only the common test key", () =>
    Effect.gen(function*() {
      const { find, known, list } = yield* Session.Sessions
      strictEqual(Option.isNone(yield* known("test-a")), true)
      const session = Option.getOrThrow(yield* find("test-a"))
      strictEqual(Redacted.value(session.customerKey), "test-key")
      strictEqual(Option.getOrThrow(yield* find("test-a")), session)
      for (const customerId of ["test-", "test", "a-test-b", "test-a:b", "test-\n", "", `test-${"x".repeat(124)}`]) {
        strictEqual(Option.isNone(yield* find(customerId)), true, customerId)
      }
      deepStrictEqual((yield* list).map(({ customerId }) => customerId), ["demo-customer", "test-a"])
    }).pipe(Effect.provide(layer)))

  it.effect("exists for at most 1,000 test customers, and the most recently used stay", () =>
    Effect.gen(function*() {
      const { find, known, list } = yield* Session.Sessions
      for (let number = 0; number < 1000; number++) yield* find(`test-${number}`)
      yield* find("test-0")
      yield* find("test-another")
      strictEqual(Option.isSome(yield* known("test-0")), true)
      strictEqual(Option.isNone(yield* known("test-1")), true)
      strictEqual((yield* list).length, 1001)
    }).pipe(Effect.provide(layer)))

  it.effect("stays while its token is used, however many others begin", () =>
    Effect.gen(function*() {
      const { findByHandle } = yield* Session.Sessions
      const session = yield* find("test-patient")
      const token = yield* session.issueToken
      for (let number = 0; number < 2000; number++) {
        yield* find(`test-${number}`)
        if (number % 500 === 0) yield* findByHandle(token)
      }
      strictEqual(Option.getOrThrow(yield* findByHandle(token)), session)
    }).pipe(Effect.provide(layer)))

  it.effect("of a test customer with a key of its own never falls back to the common key", () =>
    Effect.gen(function*() {
      const { create, find, known, remove } = yield* Session.Sessions
      yield* create({ customerId: "test-own", customerKey: Redacted.make("own") })
      strictEqual(yield* remove("test-own"), true)
      strictEqual(Option.isNone(yield* find("test-own")), true)
      strictEqual(Option.isNone(yield* known("test-own")), true)
    }).pipe(Effect.provide(layer)))

  it.effect("is reset without effect on any other session", () =>
    Effect.gen(function*() {
      const { options: initial } = yield* Session.Sessions
      const [one, other] = [yield* find("test-one"), yield* find("test-other")]
      const fault = Either.getOrThrow(Fault.make({ on: "aml", what: { kind: "hang" } }))
      const tokens = yield* Effect.forEach([one, other], (session) =>
        Effect.gen(function*() {
          yield* session.clock.set((yield* session.clock.now) + 7_200_000)
          yield* Ref.update(session.options, (values) => ({
            ...values,
            clockSkew: 5,
            profile: Profile.presets.hostile
          }))
          yield* session.faults.set(fault)
          return yield* session.issueToken
        }))
      const state = ({ clock, faults, options, tokens: { statusOf } }: Session.Session, token = "") =>
        Effect.all([clock.now, Ref.get(options), Effect.map(faults.list, ({ length }) => length), statusOf(token)])
      const before = yield* state(other, tokens[1])
      yield* one.reset
      deepStrictEqual(yield* state(one, tokens[0]), [0, initial, 0, "unknown"])
      deepStrictEqual(yield* state(other, tokens[1]), before)
      strictEqual(before[0], 7_200_000)
    }).pipe(Effect.provide(layer)))

  it.effect("repeats another session with the same seed, and issues new tokens after a reset", () =>
    Effect.gen(function*() {
      const { create } = yield* Session.Sessions
      const customer = (customerId: string) => ({ customerId, customerKey: Session.testKey })
      const [one, other] = [yield* create(customer("one"), { seed: 7 }), yield* create(customer("two"), { seed: 7 })]
      const random = (token: string) => token.split(".")[1]
      const first = random(yield* one.issueToken)
      strictEqual(random(yield* other.issueToken), first)
      yield* one.reset
      strictEqual(random(yield* one.issueToken) === first, false)
    }).pipe(Effect.provide(layer)))

  it.effect("has one profile id for each person, which another seed changes", () =>
    Effect.gen(function*() {
      const { create } = yield* Session.Sessions
      const idIn = (customerId: string, seed: number, name: string, dob = "1957-03-14") =>
        Effect.gen(function*() {
          const { addSearch } = yield* create({ customerId, customerKey: Session.testKey }, { seed })
          let id = ""
          yield* addSearch(`${name} ${dob}`, (profileId) => {
            id = profileId
            return credential
          })
          return id
        })
      const first = yield* idIn("one", 7, "Zoë Testpep")
      strictEqual(yield* idIn("one", 7, "Zoë Testpep"), first)
      strictEqual((yield* idIn("two", 7, "Zoë Testpep")).split(".")[1], first.split(".")[1])
      const others = [
        yield* idIn("one", 7, "Zoë Testpep", "1957-03-15"),
        yield* idIn("one", 7, "Zoe Testpep"),
        yield* idIn("two", 7, "Zoë Testpep"),
        yield* idIn("three", 8, "Zoë Testpep")
      ]
      strictEqual(new Set([first, ...others].map((id) => id.split(".")[1])).size, 4)
      strictEqual(new Set([first, ...others]).size, 5)
    }).pipe(Effect.provide(layer)))

  it.effect("exists once for each customer", () =>
    Effect.gen(function*() {
      const { create, list } = yield* Session.Sessions
      const before = (yield* list).length
      const again = yield* create({ ...Session.demoCustomer, customerKey: Session.testKey }, { seed: 7 })
      strictEqual((yield* list).length, before)
      strictEqual((yield* list).includes(again), true)
      strictEqual(again.customerKey, Session.demoCustomer.customerKey)
    }).pipe(Effect.provide(layer)))

  it.effect("is a defect for two customers with one id, and the message has no key", () =>
    Effect.gen(function*() {
      const customers = ["one-key", "another-key"].map((key) => ({ customerId: "a", customerKey: Redacted.make(key) }))
      const cause = yield* Effect.sandbox(Layer.build(Session.layer(customers))).pipe(Effect.scoped, Effect.flip)
      const text = Cause.pretty(cause)
      strictEqual(
        text.includes("customers[1].customerId: expected an id that no earlier entry of the list has"),
        true,
        text
      )
      strictEqual(/one-key|another-key/.test(text), false)
    }))
})
