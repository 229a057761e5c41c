/** A file of JSON that is named on the command line. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as JsonText from "../http/jsonText.ts"
import { of, Refusal } from "./usageError.ts"

const maxBytes = 1_048_576

const refuse = (problem: string) => new Refusal({ text: `--config: the file ${problem}` })

const reasons: Record<string, string> = {
  NotFound: "does not exist",
  PermissionDenied: "may not be read by this user"
}

const unreadable = (error: PlatformError) =>
  refuse(error._tag === "SystemError" ? reasons[error.reason] ?? "cannot be read" : "cannot be read")

/** Violations in the words of the command line. */
export const refused = of((field) => `--config: ${field === "" ? "the file" : field}`)

export const read = <A>(
  path: string,
  decode: (json: unknown) => Either.Either<A, Refusal>
): Effect.Effect<A, Refusal, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size, type } = yield* Effect.mapError(fs.stat(path), unreadable)
    if (type === "Directory") return yield* refuse("is a directory: expected a file of JSON")
    if (size > maxBytes) return yield* refuse("is over 1 MiB: expected at most that")
    const bytes = yield* Effect.mapError(fs.readFile(path), unreadable)
    const json = yield* Effect.mapError(JsonText.parse(bytes), ({ violations }) => refused(violations))
    return yield* decode(json)
  })
