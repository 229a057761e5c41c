/** The text of a file, or why there is none, in words. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"

const reasons: Readonly<Record<string, string>> = {
  NotFound: "there is no such file",
  PermissionDenied: "it may not be read",
  BadResource: "it is no file"
}

const reasonOf = (error: PlatformError): string =>
  (error._tag === "SystemError" ? reasons[error.reason] : undefined) ?? "it cannot be read"

export const read = (path: string): Effect.Effect<string, string, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.mapError(fs.readFileString(path), reasonOf))
