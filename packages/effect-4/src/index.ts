/** @since 0.1.0 */
export * as AmlCheck from "./AmlCheck.ts"

/** @since 0.1.0 */
export * as AmlClient from "./AmlClient.ts"

/** @since 0.1.0 */
export * as AmlCredential from "./AmlCredential.ts"

/** @since 0.1.0 */
export * as AmlError from "./AmlError.ts"

/** @since 0.1.0 */
export * as DateOfBirth from "./DateOfBirth.ts"

/** @since 0.1.0 */
export * as Failure from "./Failure.ts"

/** @since 0.1.0 */
export * as Idv from "./Idv.ts"

/** @since 0.1.0 */
export * as IdvHttp from "./IdvHttp.ts"

/** @since 0.1.0 */
export * as Person from "./Person.ts"

/** @since 0.1.0 */
export * as Screening from "./Screening.ts"

/** @since 0.1.0 */
export * as TokenError from "./TokenError.ts"

/** @since 0.1.0 */
export * as TokenProvider from "./TokenProvider.ts"

/** @since 0.1.0 */
export * as Violation from "./Violation.ts"
