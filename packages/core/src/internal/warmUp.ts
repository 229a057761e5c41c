/** Prepares a store while its layer is built. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as TokenStore from "../TokenStore.ts"

/**
 * Leads and reads under a name of its own, so that the first caller finds open connections: as many as an acquisition
 * needs.
 */
export const warmUp = ({ read, tryLead }: TokenStore.Service): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const name = `idv-token-start-${crypto.randomUUID()}`
    return Effect.scoped(Effect.zipRight(tryLead(name, Duration.seconds(2)), read(name)))
  })
