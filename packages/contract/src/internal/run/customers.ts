/** The customers of a run: the one that sends the requests, another one, and one that no service has issued. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type { Target } from "../model.ts"

/** The credentials of a customer. */
export interface Customer {
  readonly id: string
  readonly key: string
}

export interface Customers {
  readonly own: Customer
  /** Another customer of the service, with a key of its own; none of a service. */
  readonly second: Customer | undefined
  /** A random id and key. The key is also used as an unknown token. */
  readonly unknown: Customer
}

/** The key of every test customer of a mock server. */
const testKey = "test-key"

export const randomHex = (digits: number): Effect.Effect<string> =>
  Effect.map(
    Effect.all(Array.from({ length: digits }, () => Random.nextIntBetween(0, 16))),
    (values) => values.map((value) => value.toString(16)).join("")
  )

/** A key with everything that a careless server may read in another way: a colon, a code, a sign, and a letter beyond ASCII. */
export const makeKey: Effect.Effect<string> = Effect.map(randomHex(12), (hex) => `Kq-7:é+%2B_${hex}`)

/** A customer that the target names, or one that `create` creates. If it cannot, every id that begins with `test-` is one. */
export const make = (
  { customerId, customerKey, kind }: Target,
  create: (id: string) => Effect.Effect<Customer, unknown>
): Effect.Effect<Customers> =>
  Effect.gen(function*() {
    const hex = yield* randomHex(8)
    const test = { id: `test-conformance-${hex}`, key: testKey }
    const created = (id: string) =>
      kind === "mock" ? Effect.orElseSucceed(create(id), () => undefined) : Effect.succeed(undefined)
    return {
      own: customerId === undefined
        ? (yield* created(`conformance-${hex}`)) ?? test
        : { id: customerId, key: customerKey === undefined ? testKey : Redacted.value(customerKey) },
      second: yield* created(`conformance-${yield* randomHex(8)}`),
      unknown: { id: `nobody-${yield* randomHex(8)}`, key: yield* randomHex(24) }
    }
  })
