/** Checks the options of `TokenSharing`, alone or together with those of a store. */
import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Violation from "../../Violation.ts"
import * as ConfigErrors from "../schema/configErrors.ts"
import * as DurationInput from "../schema/durationInput.ts"
import * as TokenEncryption from "./tokenEncryption.ts"

export interface UncheckedOptions extends TokenEncryption.UncheckedOptions {
  readonly deadline?: Duration.DurationInput | undefined
}

const decodeDeadline = Violation.decodeUnknown(DurationInput.Positive)

const checkDeadline = ({ deadline }: UncheckedOptions) =>
  Either.mapLeft(decodeDeadline(deadline ?? "200 millis"), ConfigErrors.fromViolations(["deadline"]))

/** Returns the checked options, or one error with every invalid field. */
export const check = (options: UncheckedOptions) =>
  ConfigErrors.all({ keys: TokenEncryption.check(options), deadline: checkDeadline(options) })
