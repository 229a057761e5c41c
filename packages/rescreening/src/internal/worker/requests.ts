/** Counts the requests of a check, also of one that failed: a replay after a 401 is a second request. */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** The client writes the number of its requests into its span, as this attribute. */
const isCheck = (name: string) => name === "AmlClient.check"
const attribute = "attempts"

export const counted = <A, E, R>(check: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.tracer, (tracer) =>
    Effect.suspend(() => {
      let span: Tracer.Span | undefined
      const observing = Tracer.make({
        span: (...args) => {
          const made = tracer.span(...args)
          if (isCheck(args[0])) span = made
          return made
        },
        context: (...args) => tracer.context(...args)
      })
      return Effect.map(Effect.either(Effect.withTracer(check, observing)), (result) => {
        const requests = Number(span?.attributes.get(attribute))
        // A check that failed before its first request counts as one, so that the ledger never counts too few.
        return { result, requests: requests >= 1 ? requests : 1 }
      })
    }))
