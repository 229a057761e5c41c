/** @since 0.1.0 */
export * as Conformance from "./Conformance.ts"

/** @since 0.1.0 */
export * as Contract from "./Contract.ts"

/** @since 0.1.0 */
export * as ContractDiff from "./ContractDiff.ts"

/** @since 0.1.0 */
export * as Readings from "./Readings.ts"
