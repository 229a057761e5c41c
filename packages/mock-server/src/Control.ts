/**
 * The control API as a service: sets a session's clock, faults and profile, and reads and verifies its journal. The
 * layers of `MockServer` provide it for the server that they start. `layer` connects to a server that runs elsewhere.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Operations from "./internal/operations/control.ts"
import * as Remote from "./internal/operations/remote.ts"

export {
  type Call,
  ControlUnavailable,
  type Search,
  type Service,
  type SessionControl
} from "./internal/operations/control.ts"

/**
 * The control API of a mock server.
 *
 * @example
 * import { Control } from "@effect-idv/mock-server"
 * import { Effect } from "effect"
 *
 * const anHourLater = Effect.gen(function*() {
 *   const { session } = yield* Control.Control
 *   yield* session("test-expiry").advance("61 minutes")
 * })
 *
 * @category tags
 * @since 0.1.0
 */
export class Control extends Context.Tag("@effect-idv/mock-server/Control")<Control, Operations.Service>() {}

/**
 * Where the server is, and how to authenticate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The address of the mock server, such as `http://127.0.0.1:4010`. */
  readonly url: string
  /**
   * The control token that the server was started with.
   *
   * @default undefined
   */
  readonly token?: Redacted.Redacted<string> | undefined
}

/**
 * Connects to the control API of a server.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<Operations.Service, never, HttpClient.HttpClient> =>
  Effect.map(Remote.make(options), Operations.make)

/**
 * The control API of a mock server that runs elsewhere.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Control, never, HttpClient.HttpClient> =>
  Layer.effect(Control, make(options))
