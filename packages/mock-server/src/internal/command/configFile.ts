/** Reads the JSON file of `--config`. */
import { fromViolations, UsageError } from "@effect-idv/cli/usageError"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as JsonText from "../schema/jsonText.ts"

const maxBytes = 1_048_576

const fail = (problem: string) => new UsageError({ text: `--config: the file ${problem}` })

const reasons: Record<string, string> = {
  NotFound: "does not exist",
  PermissionDenied: "is not readable by this user"
}

const readError = (error: PlatformError) =>
  fail(error._tag === "SystemError" ? reasons[error.reason] ?? "cannot be read" : "cannot be read")

/** Violations of the file as a usage error. */
export const invalid = fromViolations((field) => `--config: ${field === "" ? "the file" : field}`)

export const read = <A>(
  path: string,
  decode: (json: unknown) => Either.Either<A, UsageError>
): Effect.Effect<A, UsageError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size, type } = yield* Effect.mapError(fs.stat(path), readError)
    if (type === "Directory") return yield* fail("is a directory: expected a JSON file")
    if (size > maxBytes) return yield* fail("is too large: expected at most 1 MiB")
    const bytes = yield* Effect.mapError(fs.readFile(path), readError)
    const json = yield* Effect.mapError(JsonText.parse(bytes), ({ violations }) => invalid(violations))
    return yield* decode(json)
  })
