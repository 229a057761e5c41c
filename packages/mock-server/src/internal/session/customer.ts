/** A customer of the service, and the customers that exist without configuration. */
import * as Redacted from "effect/Redacted"

/**
 * The credentials of a customer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Customer {
  readonly customerId: string
  readonly customerKey: Redacted.Redacted<string>
}

/**
 * The customer of a mock server without configured customers: `demo-customer` with the key `demo-key`.
 *
 * @category models
 * @since 0.1.0
 */
export const demoCustomer: Customer = { customerId: "demo-customer", customerKey: Redacted.make("demo-key") }

/**
 * The key of every test customer.
 *
 * @category models
 * @since 0.1.0
 */
export const testKey: Redacted.Redacted<string> = Redacted.make("test-key")

/**
 * A customer that needs no configuration: any id that begins with `test-`, of at most 128 characters, has the key
 * `test-key`. Its session begins with its first request. Each test should use a different id. An id must not contain a
 * percent sign, because the server would decode it as part of an encoded character.
 *
 * @category models
 * @since 0.1.0
 */
export const testCustomer = (customerId: `test-${string}`): Customer => ({ customerId, customerKey: testKey })

/** Whether an id is that of a test customer. */
export const isTestCustomer = (customerId: string): customerId is `test-${string}` =>
  /^test-[\x21-\x24\x26-\x39\x3b-\x7e]{1,123}$/.test(customerId)
