/** Prepares a store while its layer is built. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as TokenStore from "../../TokenStore.ts"

/**
 * Takes a lead and reads a value, under a name that nothing else uses. This opens as many connections as an acquisition
 * needs, before the first caller.
 */
export const warmUp = ({ read, tryLead }: TokenStore.Service): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const name = `idv-token-start-${crypto.randomUUID()}`
    return Effect.scoped(Effect.zipRight(tryLead(name, Duration.seconds(2)), read(name)))
  })
