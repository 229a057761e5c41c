/** A file that a flag names. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { UsageError } from "./usageError.ts"

const maxBytes = 1_048_576

const reasons: Readonly<Record<string, string>> = {
  NotFound: "the file does not exist",
  PermissionDenied: "the file is not readable by this user"
}

/** The bytes of a file of at most 1 MiB. `flag` has no dashes. */
export const read = (flag: string, path: string): Effect.Effect<Uint8Array, UsageError, FileSystem.FileSystem> => {
  const fail = (reason = "the file cannot be read") => new UsageError({ text: `--${flag}: ${reason}` })
  return Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size, type } = yield* fs.stat(path)
    if (type === "Directory") return yield* fail("the path is a directory: expected a file")
    return size > maxBytes
      ? yield* fail("the file is too large: expected at most 1 MiB")
      : yield* fs.readFile(path)
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "UsageError" ? error : fail(error._tag === "SystemError" ? reasons[error.reason] : undefined)
    )
  )
}

/** The text of such a file. */
export const readText = (flag: string, path: string) =>
  Effect.map(read(flag, path), (bytes) => new TextDecoder().decode(bytes))
