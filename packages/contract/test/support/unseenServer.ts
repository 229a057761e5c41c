/** The servers of `test/unseen` as targets whose clock can be moved. */
import { Effect, Redacted } from "effect"
import type * as Conformance from "../../src/Conformance.ts"
import { serve, type Style } from "../unseen/service.ts"

/** The styles of the correct server. They refuse a request in different ways, and `lenient` accepts more. */
export const styles: ReadonlyArray<Style> = ["strict", "ok-false", "five-hundred", "hang-up", "lenient"]

/** A correct server, or one with this fault, until the scope closes. */
export const serving = (style: Style, fault?: string) =>
  Effect.gen(function*() {
    let moved = 0
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => serve({ style, now: () => Date.now() + moved, ...(fault === undefined ? {} : { fault }) })),
      ({ close }) => Effect.promise(() => close())
    )
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: server.url,
      baseUrl: server.url,
      customerId: server.customerId,
      customerKey: Redacted.make(server.customerKey),
      budget: 100_000,
      spacing: 0,
      deadline: "5 seconds",
      clock: (millis: number) => Effect.sync(() => void (moved += millis)),
      wrongKeys: true
    }
    return target
  })
