/** @since 0.1.0 */
export * as ClientTest from "./ClientTest.ts"

/** @since 0.1.0 */
export * as Control from "./Control.ts"

/** @since 0.1.0 */
export * as ControlApi from "./ControlApi.ts"

/** @since 0.1.0 */
export * as Fault from "./Fault.ts"

/** @since 0.1.0 */
export * as Journal from "./Journal.ts"

/** @since 0.1.0 */
export * as MockServer from "./MockServer.ts"

/** @since 0.1.0 */
export * as Profile from "./Profile.ts"

/** @since 0.1.0 */
export * as Session from "./Session.ts"

/** @since 0.1.0 */
export * as TestPerson from "./TestPerson.ts"

/** @since 0.1.0 */
export * as TestServer from "./TestServer.ts"

/** @since 0.1.0 */
export * as Verification from "./Verification.ts"
