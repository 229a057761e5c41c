/** @since 0.1.0 */
export * as AmlEndpoint from "./AmlEndpoint.ts"

/** @since 0.1.0 */
export * as AmlProfile from "./AmlProfile.ts"

/** @since 0.1.0 */
export * as Conformance from "./Conformance.ts"

/** @since 0.1.0 */
export * as Contract from "./Contract.ts"

/** @since 0.1.0 */
export * as Control from "./Control.ts"

/** @since 0.1.0 */
export * as ControlApi from "./ControlApi.ts"

/** @since 0.1.0 */
export * as Fault from "./Fault.ts"

/** @since 0.1.0 */
export * as Inspector from "./Inspector.ts"

/** @since 0.1.0 */
export * as Journal from "./Journal.ts"

/** @since 0.1.0 */
export * as MockServer from "./MockServer.ts"

/** @since 0.1.0 */
export * as Profile from "./Profile.ts"

/** @since 0.1.0 */
export * as Session from "./Session.ts"

/** @since 0.1.0 */
export * as Subject from "./Subject.ts"

/** @since 0.1.0 */
export * as TokenEndpoint from "./TokenEndpoint.ts"
