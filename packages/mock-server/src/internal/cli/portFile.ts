/** A file that tells a port to whoever waits for it to be there. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Refusal } from "./refusal.ts"

/**
 * There until the scope closes. It comes by a rename, so that nobody reads half of a number; no
 * other server of this machine has the port, or the name with it.
 */
export const write = (
  path: string,
  port: number
): Effect.Effect<void, Refusal, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const draft = `${path}.${port}`
    yield* Effect.acquireRelease(
      fs.writeFileString(draft, `${port}\n`).pipe(
        Effect.zipRight(fs.rename(draft, path)),
        Effect.tapError(() => Effect.ignore(fs.remove(draft))),
        Effect.mapError(() => new Refusal({ text: "--port-file cannot be written: expected a path in a directory" }))
      ),
      () => Effect.ignore(fs.remove(path))
    )
  })
