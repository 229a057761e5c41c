/**
 * The world of the consumer in a test: the client that it has in production, the mock server as the
 * service, and a case file in memory.
 */
import { Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import type { HttpClient } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Context, Effect, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { type Applicant, CaseFile, type Entry, onboard } from "./onboard.ts"

/** What is in the case file, oldest first. */
export class Cases extends Context.Tag("contract-testing/Cases")<Cases, Effect.Effect<ReadonlyArray<Entry>>>() {}

const layerCases = Layer.effectContext(
  Effect.map(
    Ref.make<ReadonlyArray<Entry>>([]),
    (entries) =>
      Context.make(CaseFile, { add: (entry) => Ref.update(entries, (entries) => [...entries, entry]) }).pipe(
        Context.add(Cases, Ref.get(entries))
      )
  )
)

/** A session of the mock's own, so that no test sees the faults, the clock or the requests of another. */
const customer = Session.testCustomer("test-contract")

/** The mock's session of this consumer: its clock, its faults, its journal. */
export const session = Effect.gen(function*() {
  const { create, session } = yield* Control.Control
  yield* create({ customerId: customer.customerId })
  return session(customer.customerId)
})

const layerOn = <E, R>(
  mock: Layer.Layer<MockServer.MockServer | Control.Control | HttpClient.HttpClient, E, R>,
  options: Partial<Idv.Options> = {}
) =>
  MockServer.MockServer.pipe(
    Effect.map((service) => Idv.layer({ ...service.options, ...customer, ...options })),
    Layer.unwrapEffect,
    Layer.provideMerge(mock),
    Layer.merge(layerCases)
  )

/**
 * Without a socket, in the time of the `TestClock`. The test fails if the consumer sends anything that
 * the service document does not have.
 */
export const layerInProcess = (options?: Partial<Idv.Options>) =>
  layerOn(MockServer.layerHttpClientWith({ unexpected: "fail" }), options)

/** The same, for a consumer that is set up wrongly: what it sends may be unexpected. */
export const layerMisconfigured = (options: Partial<Idv.Options>) => layerOn(MockServer.layerHttpClient, options)

/** On a free port, with the HTTP client of production: for what only a socket can break. */
export const layerOnSocket = (options: Partial<Idv.Options>) =>
  layerOn(Layer.merge(MockServer.layerTest, NodeHttpClient.layerUndici), options)

/** The TestClock begins in 1970, when most applicants are not born. */
export const today = TestClock.setTime(Date.UTC(2026, 0, 1))

/** Lets the time of the TestClock pass, a second at a time, until the effect has ended. */
export const inTime = Effect.fn(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.fork(effect)
  yield* TestClock.adjust("1 second").pipe(
    Effect.zipRight(Fiber.poll(fiber)),
    Effect.repeat({ until: Option.isSome, times: 300 })
  )
  return yield* Fiber.join(fiber)
})

const born = { dateOfBirth: "1957-03-14" }

/** Somebody whose name ends with this word, and so decides what the mock does. */
export const applicant = (lastWord: string): Applicant => ({ reference: lastWord, name: `Zoë ${lastWord}`, ...born })

/** What somebody is told, and the only entry that the case file has afterwards. */
export const onboarded = Effect.fn(function*(applicant: Applicant) {
  const answer = yield* onboard(applicant)
  const [entry, ...others] = yield* Effect.flatten(Cases)
  return { answer, entry, others }
})
