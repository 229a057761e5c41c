/** The output file of a command. The command checks it before it sends a request, so that no result is lost. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Text from "./textField.ts"
import { UsageError } from "./usageError.ts"

const fail = (flag: string, path: string, reason: string) =>
  new UsageError({ text: `--${flag} ${Text.printable(path)} cannot be written: ${reason}` })

const reasons: Readonly<Record<string, string>> = {
  NotFound: "the directory does not exist",
  PermissionDenied: "permission denied"
}

const toUsageError = (flag: string, path: string) => (error: PlatformError | UsageError) =>
  error._tag === "UsageError"
    ? error
    : fail(
      flag,
      path,
      (error._tag === "SystemError" ? reasons[error.reason] : undefined) ?? "it is not the path of a file"
    )

/** Checks that the file can be written. Writes nothing. */
export const check = (flag: string, path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    if (yield* fs.exists(path)) {
      if ((yield* fs.stat(path)).type === "Directory") return yield* fail(flag, path, "it is a directory")
      return yield* fs.access(path, { writable: true })
    }
    yield* fs.access(dirname(path), { writable: true })
  }).pipe(Effect.mapError(toUsageError(flag, path)))

/** Checks also that the file does not exist, because it may contain earlier observations. */
export const checkNew = (flag: string, path: string) =>
  Effect.gen(function*() {
    yield* check(flag, path)
    const fs = yield* FileSystem.FileSystem
    // Writing to a pipe or a device overwrites nothing.
    if ((yield* fs.exists(path)) && (yield* fs.stat(path)).type === "File") {
      return yield* fail(flag, path, "it exists, and is not overwritten")
    }
  }).pipe(Effect.mapError(toUsageError(flag, path)))

export const write = (flag: string, path: string, text: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, `${text.trimEnd()}\n`)).pipe(
    Effect.mapError(toUsageError(flag, path))
  )
