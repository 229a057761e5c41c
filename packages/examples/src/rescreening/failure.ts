import { Data } from "effect"

/** Why the program cannot go on, in a line that holds neither a name nor a date. */
export class RescreeningFailed extends Data.TaggedError("RescreeningFailed")<{ readonly message: string }> {}

/** A file that cannot be used: which, and the reason that the platform gives. */
export const ofFile = (path: string) => (error: { readonly _tag: string; readonly reason?: string }) =>
  new RescreeningFailed({ message: `${path} cannot be used: ${error.reason ?? error._tag}` })
