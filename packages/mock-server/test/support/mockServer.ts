/** The mock server in process, at a time after the births of the test persons. */
import { MockServer } from "@effect-idv/mock-server"
import { Layer, TestClock } from "effect"

/** The `TestClock` starts in 1970, when a date of birth in 1990 is in the future. */
export const layerWith = (options: MockServer.InProcessOptions) =>
  Layer.merge(
    MockServer.layerHttpClientWith(options),
    Layer.effectDiscard(TestClock.setTime(Date.UTC(2026, 0, 31)))
  )

export const layer = layerWith({})
