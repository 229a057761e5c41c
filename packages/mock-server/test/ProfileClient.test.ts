/** The client, with its default options, against every variant of every point, one at a time. */
import { AmlClient, AmlError, Idv, Person, TokenError, Violation } from "@effect-idv/core"
import { Control, MockServer, Profile, Session } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Either, Fiber, Layer, Redacted, TestClock } from "effect"

const mine = Session.testCustomer("test-profile")

const layerWith = (customerKey = mine.customerKey) =>
  MockServer.MockServer.pipe(
    Effect.map(({ options }) => Idv.layer({ ...options, ...mine, customerKey })),
    Layer.unwrapEffect,
    Layer.provideMerge(MockServer.layerHttpClient)
  )

/** Returns the result of the check, or the tag of its error. A defect is not caught. */
const check = (name: string) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth: "1957-03-14" })
    const outcome = yield* Effect.either(aml.check(person))
    return Either.match(outcome, {
      onLeft: (error) => {
        strictEqual(AmlError.isAmlError(error) || TokenError.isTokenError(error), true)
        return String(error._tag)
      },
      onRight: ({ result }) => String(result)
    })
  })

const everyone = Effect.all([check("Ada Testclear"), check("Zoë van Testpep")])
const right = ["No", "Potential match"]

/** Sets the profile of the session before its first request. */
const begin = (profile: Profile.Patch) =>
  Effect.gen(function*() {
    const { create, session } = yield* Control.Control
    yield* create({ ...mine, profile })
    return session(mine.customerId)
  })

/** Checks with a fresh token, and with one that the client considers valid and that has expired. */
const twice = (patch: Profile.Patch) =>
  Effect.gen(function*() {
    const { advance } = yield* begin(patch)
    const fresh = yield* everyone
    yield* advance("2 hours")
    return { fresh, later: yield* everyone }
  }).pipe(Effect.provide(layerWith()))

const variants = Profile.points.flatMap(({ name, variants }) =>
  variants.map(({ client, value }) => [name, value, client] as const)
)

const decodePatch = Violation.decodeUnknown(Profile.Patch)
const patchOf = (name: Profile.Name, value: string) => decodePatch({ [name]: value })

/** The error of the client for each variant that it refuses. */
const refusals: Record<string, readonly [fresh: string, later: string]> = {
  "tokenType other": ["TokenResponseInvalid", "TokenResponseInvalid"],
  "expiredToken forbidden": ["accepted", "AmlForbidden"],
  "amlStatus 203": ["AmlResponseInvalid", "AmlResponseInvalid"],
  "nameEcho reordered": ["AmlResponseMismatch", "AmlResponseMismatch"],
  "credVersion 2.0": ["AmlResponseInvalid", "AmlResponseInvalid"],
  "redirects same-origin": ["TokenResponseInvalid", "TokenResponseInvalid"],
  "redirects other-origin": ["TokenResponseInvalid", "TokenResponseInvalid"]
}

describe("The client against a profile", () => {
  it("has an error for each variant that it refuses, and for no other", () => {
    deepStrictEqual(
      Object.keys(refusals).toSorted(),
      variants.filter(([, , client]) => client === "refuses").map(([name, value]) => `${name} ${value}`).toSorted()
    )
  })

  it.effect.each(variants)("with %s %s: %s", ([name, value, client]) =>
    Effect.gen(function*() {
      const outcome = yield* Effect.flatMap(patchOf(name, value), twice)
      if (client === "accepts") {
        deepStrictEqual(outcome, { fresh: right, later: right })
      } else {
        const [fresh, later] = refusals[`${name} ${value}`] ?? []
        const all = (failure = "") => failure === "accepted" ? right : right.map(() => failure)
        deepStrictEqual(outcome, { fresh: all(fresh), later: all(later) })
      }
    }))

  it.effect.each(Object.keys(Profile.presets))("with the preset %s: accepts", (name) =>
    Effect.gen(function*() {
      const preset = yield* decodePatch({ preset: name })
      deepStrictEqual(yield* twice(preset), { fresh: right, later: right })
    }))
})

describe("The client that meets", () => {
  const pointOf = (name: Profile.Name) =>
    Profile.points.filter((point) => point.name === name).flatMap(({ variants }) => variants.map(({ value }) => value))

  it.effect.each(pointOf("rateLimit"))("a 429 of the variant %s", (value) =>
    Effect.gen(function*() {
      const { fault, journal } = yield* begin(yield* patchOf("rateLimit", value))
      yield* fault({ on: "aml", what: { kind: "quota", limit: 1, per: "10 seconds" } })
      strictEqual(yield* check("Ada Testclear"), "No")
      const fiber = yield* Effect.fork(check("Zoë Testpep"))
      yield* TestClock.adjust("9 seconds")
      const isWaiting = value === "seconds" || value === "date"
      const before = yield* Fiber.poll(fiber)
      strictEqual(before._tag, isWaiting ? "None" : "Some")
      yield* TestClock.adjust("3 seconds")
      strictEqual(yield* Fiber.join(fiber), isWaiting ? "Potential match" : "AmlRateLimited")
      strictEqual((yield* journal({ status: 429 })).entries.length, 1)
      yield* TestClock.adjust("1 minute")
      strictEqual(yield* check("Zoë Testpep"), "Potential match")
    }).pipe(Effect.provide(layerWith())))

  it.effect.each(["3 days", "9000 days"] as const)(
    "a session whose clock is %s ahead names the option that accepts it, and then checks as ever",
    (distance) =>
      Effect.gen(function*() {
        const { advance } = yield* begin({})
        yield* advance(distance)
        const aml = yield* AmlClient.AmlClient
        const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-03-14" })
        const error = yield* Effect.flip(aml.check(person))
        strictEqual(error._tag, "AmlResponseInvalid")
        strictEqual(error.message.includes("set the option searchedOnTolerance"), true)
        deepStrictEqual(yield* AmlClient.withPolicy(everyone, { searchedOnTolerance: "10000 days" }), right)
      }).pipe(Effect.provide(layerWith()))
  )

  it.effect.each(["loose", "ignore"] as const)(
    "the family name first, with nameEcho %s",
    (nameEcho) =>
      Effect.gen(function*() {
        yield* begin({ nameEcho: "reordered" })
        deepStrictEqual(yield* AmlClient.withPolicy(everyone, { nameEcho }), ["Doubtful No", "Potential match"])
      }).pipe(Effect.provide(layerWith()))
  )

  it.effect.each(pointOf("tokenError"))("a refusal of its key of the variant %s", (value) =>
    Effect.gen(function*() {
      yield* begin(yield* patchOf("tokenError", value))
      strictEqual(yield* check("Ada Testclear"), "TokenRejected")
    }).pipe(Effect.provide(layerWith(Redacted.make("wrong")))))

  it.effect.each(pointOf("amlError"))(
    "a refusal of its token, for good, of the variant %s",
    (value) =>
      Effect.gen(function*() {
        const { fault } = yield* begin(yield* patchOf("amlError", value))
        yield* fault({ on: "aml", what: { kind: "tokenRevocation" } })
        strictEqual(yield* check("Ada Testclear"), "AmlUnauthorized")
      }).pipe(Effect.provide(layerWith()))
  )

  it.effect.each(pointOf("tokenLifetime"))(
    "the end of a token of the lifetime %s, by the clock of both",
    (value) =>
      Effect.gen(function*() {
        yield* begin(yield* patchOf("tokenLifetime", value))
        for (const wait of ["0 seconds", "59 seconds", "2 seconds", "58 minutes", "2 minutes", "2 hours"] as const) {
          yield* TestClock.adjust(Duration.decode(wait))
          strictEqual(yield* check("Zoë Testpep"), "Potential match", wait)
        }
      }).pipe(Effect.provide(layerWith()))
  )
})
