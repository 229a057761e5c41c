/** A file that tells a port to whoever waits for it to be there. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Refusal } from "./usageError.ts"

const refusal = () => new Refusal({ text: "--port-file cannot be written: expected a path in a directory" })

/**
 * Removes the file of a server that ended without doing so. Without this, a program that waits for
 * the file would take the old port for that of the server that is about to start.
 */
export const remove = (path: string): Effect.Effect<void, Refusal, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.mapError(fs.remove(path, { force: true }), refusal))

/**
 * There until the scope closes, unless another server has written its own port meanwhile. It comes
 * by a rename, so that nobody reads half of a number; no other server of this machine has the port,
 * or the name with it.
 */
export const write = (
  path: string,
  port: number
): Effect.Effect<void, Refusal, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const draft = `${path}.${port}`
    const text = `${port}\n`
    yield* Effect.acquireRelease(
      fs.writeFileString(draft, text).pipe(
        Effect.zipRight(fs.rename(draft, path)),
        Effect.tapError(() => Effect.ignore(fs.remove(draft))),
        Effect.mapError(refusal)
      ),
      () =>
        Effect.ignore(
          Effect.flatMap(fs.readFileString(path), (found) => found === text ? fs.remove(path) : Effect.void)
        )
    )
  })
