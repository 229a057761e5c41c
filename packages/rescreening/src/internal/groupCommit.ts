/**
 * Group commit: writes the requests of concurrent fibers with one statement, because a statement and its wait for the
 * disk take longer than the rows that it changes.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** How long a group waits for further requests. It also takes those that arrive while the previous group is written. */
const groupingTime = Duration.millis(4)

interface Waiting<Request, A, E> {
  readonly request: Request
  readonly resume: (result: Exit.Exit<A, E>) => void
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

  const performGroup = Effect.gen(function*() {
    yield* Effect.sleep(groupingTime)
    const group = waiting
    waiting = []
    const exit = yield* Effect.exit(perform(group.map(({ request }) => request)))
    for (const { request, resume } of group) resume(Exit.map(exit, (resultOf) => resultOf(request)))
    isPerforming = waiting.length > 0
  })

  // A daemon, because the group belongs to several fibers.
  const performGroups = Effect.forkDaemon(Effect.repeat(performGroup, { while: () => isPerforming }))

  return (request) => {
    const result = Effect.async<A, E>((resume) => {
      waiting.push({ request, resume })
    })
    return Effect.suspend(() => {
      if (isPerforming) return result
      isPerforming = true
      return Effect.zipRight(performGroups, result)
    })
  }
}
