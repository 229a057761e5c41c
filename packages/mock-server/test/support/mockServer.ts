/** The mock server in process, in a year in which the people of the conformance suite are born. */
import { MockServer } from "@effect-idv/mock-server"
import { Layer, TestClock } from "effect"

/** The `TestClock` starts in 1970, when somebody who is born in 1990 has a date of birth in the future. */
export const layerWith = (options: MockServer.InProcessOptions) =>
  Layer.merge(
    MockServer.layerHttpClientWith(options),
    Layer.effectDiscard(TestClock.setTime(Date.UTC(2026, 0, 31)))
  )

export const layer = layerWith({})
