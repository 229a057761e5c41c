/** @since 0.1.0 */
export * as AmlEndpoint from "./AmlEndpoint.ts"

/** @since 0.1.0 */
export * as AmlProfile from "./AmlProfile.ts"

/** @since 0.1.0 */
export * as MockServer from "./MockServer.ts"

/** @since 0.1.0 */
export * as Session from "./Session.ts"

/** @since 0.1.0 */
export * as Subject from "./Subject.ts"

/** @since 0.1.0 */
export * as TokenEndpoint from "./TokenEndpoint.ts"
