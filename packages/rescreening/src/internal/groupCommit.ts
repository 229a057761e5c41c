/**
 * Group commit: writes the requests of concurrent fibers with one statement, because a statement and its wait for the
 * disk take longer than the rows that it changes.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"

/** How long a group waits for further requests. It also takes those that arrive while the previous group is written. */
const groupingTime = Duration.millis(4)

interface Waiting<Request, A, E> {
  readonly request: Request
  readonly result: Deferred.Deferred<A, E>
}

/**
 * Returns a function that performs a request as part of a group, and returns its result. `perform` receives a group and
 * returns the result of each request; if it fails, all requests of the group fail. If a fiber that waits is interrupted,
 * its request stays in the group.
 */
export const make = <Request, A, E>(
  perform: (group: ReadonlyArray<Request>) => Effect.Effect<(request: Request) => A, E>
): (request: Request) => Effect.Effect<A, E> => {
  let waiting: Array<Waiting<Request, A, E>> = []
  let isPerforming = false

  const performGroups = Effect.gen(function*() {
    while (waiting.length > 0) {
      yield* Effect.sleep(groupingTime)
      const group = waiting
      waiting = []
      const exit = yield* Effect.exit(Effect.suspend(() => perform(group.map(({ request }) => request))))
      for (const { request, result } of group) {
        Deferred.unsafeDone(result, Exit.map(exit, (resultOf) => resultOf(request)))
      }
    }
    isPerforming = false
  })

  return (request) =>
    // Uninterruptible until the fiber of the group exists, because later requests rely on it.
    Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const result = Deferred.unsafeMake<A, E>(FiberId.none)
        // In one step with the decision about the fiber. A fiber may yield between two effects, and the last group may
        // end meanwhile.
        waiting.push({ request, result })
        const wait = restore(Deferred.await(result))
        if (isPerforming) return wait
        isPerforming = true
        // A daemon, because the group belongs to several fibers.
        return Effect.zipRight(Effect.forkDaemon(performGroups), wait)
      })
    )
}
