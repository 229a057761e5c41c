/** Why a case does not run. */
import * as Data from "effect/Data"

export class Skipped extends Data.TaggedError("Skipped")<{
  readonly reason: string
  /** The id of the failed case that this one depends on. */
  readonly dependsOn?: string
}> {}

export const skip = (reason: string, dependsOn?: string): Skipped =>
  new Skipped({ reason, ...(dependsOn !== undefined && { dependsOn }) })
