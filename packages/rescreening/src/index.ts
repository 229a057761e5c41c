/** @since 0.1.0 */
export * as Comparison from "./Comparison.ts"

/** @since 0.1.0 */
export * as Coverage from "./Coverage.ts"

/** @since 0.1.0 */
export * as Decisions from "./Decisions.ts"

/** @since 0.1.0 */
export * as EncryptionKeys from "./EncryptionKeys.ts"

/** @since 0.1.0 */
export * as History from "./History.ts"

/** @since 0.1.0 */
export * as Ledger from "./Ledger.ts"

/** @since 0.1.0 */
export * as LedgerRow from "./LedgerRow.ts"

/** @since 0.1.0 */
export * as Matches from "./Matches.ts"

/** @since 0.1.0 */
export * as People from "./People.ts"

/** @since 0.1.0 */
export * as PersonalData from "./PersonalData.ts"

/** @since 0.1.0 */
export * as Population from "./Population.ts"

/** @since 0.1.0 */
export * as Report from "./Report.ts"

/** @since 0.1.0 */
export * as Rescreening from "./Rescreening.ts"

/** @since 0.1.0 */
export * as RescreeningError from "./RescreeningError.ts"

/** @since 0.1.0 */
export * as RescreeningMetrics from "./RescreeningMetrics.ts"

/** @since 0.1.0 */
export * as Run from "./Run.ts"
