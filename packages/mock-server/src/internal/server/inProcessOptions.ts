/** The options that a server on a port and a server in process share. */
import type * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import type * as Journal from "../../Journal.ts"
import type * as Session from "../../Session.ts"

/**
 * The options of a server in process. `seed`, `profile` and `faults` apply to each new session.
 *
 * @category models
 * @since 0.1.0
 */
export interface InProcessOptions extends Session.Settings {
  /**
   * The customers that can request a token, beside all test customers (`test-*`). Two customers with the same id are a
   * defect.
   *
   * @default [Session.demoCustomer]
   */
  readonly customers?: Arr.NonEmptyReadonlyArray<Session.Customer> | undefined
  /**
   * Whether the journal keeps names and secrets unmasked.
   *
   * @default false
   */
  readonly reveal?: boolean | undefined
  /**
   * Called for each exchange, before the response is sent.
   *
   * @default () => Effect.void
   */
  readonly onExchange?: ((entry: Journal.Entry) => Effect.Effect<void>) | undefined
  /**
   * With `fail`, closing the scope dies if a request broke the service document. The test then fails.
   *
   * @default "ignore"
   */
  readonly unexpected?: "fail" | "ignore" | undefined
}
