/** @since 0.1.0 */
export * as Ledger from "./Ledger.ts"

/** @since 0.1.0 */
export * as LedgerRow from "./LedgerRow.ts"

/** @since 0.1.0 */
export * as RescreeningError from "./RescreeningError.ts"

/** @since 0.1.0 */
export * as Run from "./Run.ts"
