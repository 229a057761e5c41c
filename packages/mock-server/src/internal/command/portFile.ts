/** The file of `--port-file`. It exists while the server listens, and contains the port, for other programs. */
import { UsageError } from "@effect-idv/cli/usageError"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const cannotWrite = () =>
  new UsageError({ text: "--port-file cannot be written: expected the path of a file in an existing directory" })

/**
 * Removes the file of a server that was killed. Otherwise a program that waits for the file would read the old port. A
 * file that contains anything else than a port is refused.
 */
export const remove = (path: string): Effect.Effect<void, UsageError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* Effect.mapError(fs.exists(path), cannotWrite))) return
    const { size, type } = yield* Effect.mapError(fs.stat(path), cannotWrite)
    const text = type === "File" && size < 8 ? yield* Effect.mapError(fs.readFileString(path), cannotWrite) : undefined
    if (text === undefined || !/^\d*\n?$/.test(text)) {
      return yield* new UsageError({
        text: "--port-file cannot be written: the path exists, and is not the file of a port"
      })
    }
    yield* Effect.mapError(fs.remove(path, { force: true }), cannotWrite)
  })

/**
 * Writes the port, and removes the file when the scope closes, unless another server has written its own port
 * meanwhile. A rename makes the write atomic. The name of the temporary file contains the port, which no other server
 * has.
 */
export const write = (
  path: string,
  port: number
): Effect.Effect<void, UsageError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const temporaryPath = `${path}.${port}`
    const text = `${port}\n`
    yield* Effect.acquireRelease(
      fs.writeFileString(temporaryPath, text).pipe(
        Effect.zipRight(fs.rename(temporaryPath, path)),
        Effect.tapError(() => Effect.ignore(fs.remove(temporaryPath))),
        Effect.mapError(cannotWrite)
      ),
      () =>
        Effect.ignore(
          Effect.flatMap(fs.readFileString(path), (content) => content === text ? fs.remove(path) : Effect.void)
        )
    )
  })
