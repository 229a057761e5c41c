/**
 * The environment of the consumer in a test: its production client, the mock server as the service, and
 * a case file in memory.
 */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import type { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Context, Effect, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { type Applicant, CaseFile, type Entry, onboard } from "./onboard.ts"

/** The entries of the case file, oldest first. */
export class Entries extends Context.Tag("contract-testing/Entries")<Entries, Effect.Effect<ReadonlyArray<Entry>>>() {}

const layerCaseFile = Layer.effectContext(
  Effect.map(
    Ref.make<ReadonlyArray<Entry>>([]),
    (entries) =>
      Context.make(CaseFile, { add: (entry) => Ref.update(entries, (entries) => [...entries, entry]) }).pipe(
        Context.add(Entries, Ref.get(entries))
      )
  )
)

/** A session of its own, so that the tests do not share faults, clock and journal with others. */
const customer = Session.testCustomer("test-contract")

/** The mock server's session of this consumer: its clock, faults and journal. */
export const session = Effect.gen(function*() {
  const { create, session } = yield* Control.Control
  yield* create({ customerId: customer.customerId })
  return session(customer.customerId)
})

const layerWith = <E, R>(
  mock: Layer.Layer<MockServer.MockServer | Control.Control | HttpClient.HttpClient, E, R>,
  options: Partial<Idv.Options> = {}
) =>
  MockServer.MockServer.pipe(
    Effect.map((service) => Idv.layer({ ...service.options, ...customer, ...options })),
    Layer.unwrapEffect,
    Layer.provideMerge(mock),
    Layer.merge(layerCaseFile)
  )

/**
 * Without a socket, with the `TestClock`. The test fails if the consumer sends a request that the API
 * document does not allow.
 */
export const layerInProcess = (options?: Partial<Idv.Options>) =>
  layerWith(MockServer.layerHttpClientWith({ unexpected: "fail" }), options)

/** As `layerInProcess`, but allows unexpected requests, for a consumer with a wrong configuration. */
export const layerMisconfigured = (options: Partial<Idv.Options>) => layerWith(MockServer.layerHttpClient, options)

/** On a free port, with the production HTTP client, for faults that need a socket. */
export const layerOnSocket = (options: Partial<Idv.Options>) =>
  layerWith(Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici), options)

/** Sets the `TestClock` to 2026. It starts in 1970, before most applicants are born. */
export const setClock = TestClock.setTime(Date.UTC(2026, 0, 1))

/** Advances the `TestClock` second by second until the effect has ended. */
export const runWithClock = Effect.fn(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.fork(effect)
  yield* TestClock.adjust("1 second").pipe(
    Effect.zipRight(Fiber.poll(fiber)),
    Effect.repeat({ until: Option.isSome, times: 300 })
  )
  return yield* Fiber.join(fiber)
})

/** An applicant with this last name, which selects the response of the mock server. */
export const applicant = (lastName: string): Applicant => ({
  reference: lastName,
  name: `Zoë ${lastName}`,
  dateOfBirth: "1957-03-14"
})

/** Onboards an applicant, and returns the message and the entries of the case file. */
export const onboardAndReadCase = Effect.fn(function*(applicant: Applicant) {
  const message = yield* onboard(applicant)
  const [entry, ...otherEntries] = yield* Effect.flatten(Entries)
  return { message, entry, otherEntries }
})
