/** Limits how many checks run at once. */
import * as Effect from "effect/Effect"

/** A place in the queue, and then among those that run. */
export interface Place {
  /** Waits until the place is granted: at once if one is free, or else in the order of the calls of `enter`. */
  readonly granted: Effect.Effect<void>
  /** Frees the place, or leaves the queue. The owner calls it once, however its wait or its check ended. */
  readonly leave: () => void
}

/**
 * Makes `count` places. A wait changes no count, so its interruption loses no place, at whatever step it comes. A
 * semaphore does: a fiber may take a permit, yield, and be interrupted there.
 */
export const make = (count: number) => {
  let free = count
  const queue = new Set<() => void>()
  const allFree = Effect.unsafeMakeLatch(true)

  const release = (): void => {
    const [grant] = queue
    if (grant !== undefined) {
      queue.delete(grant)
      grant()
    } else if (++free === count) allFree.unsafeOpen()
  }

  const enter = (): Place => {
    if (free > 0) {
      free--
      allFree.unsafeClose()
      return { granted: Effect.void, leave: release }
    }
    const latch = Effect.unsafeMakeLatch(false)
    const grant = () => void latch.unsafeOpen()
    queue.add(grant)
    return {
      granted: latch.await,
      leave: () => {
        if (!queue.delete(grant)) release()
      }
    }
  }

  return { enter, awaitAllFree: allFree.await }
}
