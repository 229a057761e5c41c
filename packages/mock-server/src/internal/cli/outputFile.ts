/** A file that a command is to write. It is asked for before the work, which should not be lost. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Text from "./textField.ts"
import { Refusal } from "./usageError.ts"

const refuse = (flag: string, path: string, reason: string) =>
  new Refusal({ text: `--${flag} ${Text.printable(path)} cannot be written: ${reason}` })

const reasons: Readonly<Record<string, string>> = {
  NotFound: "there is no such directory",
  PermissionDenied: "that is not permitted"
}

const failed = (flag: string, path: string) => (error: PlatformError | Refusal) =>
  error._tag === "Refusal"
    ? error
    : refuse(
      flag,
      path,
      (error._tag === "SystemError" ? reasons[error.reason] : undefined) ?? "it is no place for a file"
    )

/** Nothing is written yet. */
export const check = (flag: string, path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    if (yield* fs.exists(path)) {
      if ((yield* fs.stat(path)).type === "Directory") return yield* refuse(flag, path, "it is a directory")
      return yield* fs.access(path, { writable: true })
    }
    yield* fs.access(dirname(path), { writable: true })
  }).pipe(Effect.mapError(failed(flag, path)))

/** The same of a file that is not there yet: what was seen is not to be lost. */
export const checkNew = (flag: string, path: string) =>
  Effect.gen(function*() {
    yield* check(flag, path)
    const fs = yield* FileSystem.FileSystem
    // A pipe or a device loses nothing.
    if ((yield* fs.exists(path)) && (yield* fs.stat(path)).type === "File") {
      return yield* refuse(flag, path, "it is there already, and is not overwritten")
    }
  }).pipe(Effect.mapError(failed(flag, path)))

export const write = (flag: string, path: string, text: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, `${text.trimEnd()}\n`)).pipe(
    Effect.mapError(failed(flag, path))
  )
