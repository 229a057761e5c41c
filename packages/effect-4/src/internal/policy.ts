/** What the combinators of `AmlClient` set for the checks in an effect. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Sent } from "../AmlError.ts"
import type * as Options from "./options.ts"

/** What to change in the checks of this fiber. */
export interface Overrides {
  readonly policy: Options.PolicyOptions | undefined
  readonly beforeEachRequest: Effect.Effect<void> | undefined
  readonly onInterruptedCheck: ((sent: Sent) => Effect.Effect<void>) | undefined
}

const none: Overrides = { policy: undefined, beforeEachRequest: undefined, onInterruptedCheck: undefined }

export const Current = Context.Reference<Overrides>("@effect-idv/effect-4/internal/Overrides", {
  defaultValue: () => none
})
