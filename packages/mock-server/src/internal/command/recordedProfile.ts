/** A file of `idv-mock record` as the value of `--profile`. */
import * as InputFile from "@effect-idv/cli/inputFile"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { fromViolations, UsageError } from "@effect-idv/cli/usageError"
import * as Effect from "effect/Effect"

/** Whether a value of `--profile` is a file, and not a preset or a variant: `record --output` accepts any name. */
export const isFile = (text: string): boolean => /\.ya?ml$/i.test(text) || /^[^=]*[./][^=]*$/.test(text)

/** Reads the file, if there is one. */
export const read = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const [path, ...others] = ParsedArguments.values(args, "profile").filter(isFile)
    if (path === undefined) return undefined
    if (others.length > 0) return yield* new UsageError({ text: "--profile: expected at most one file" })
    const text = yield* InputFile.readText("profile", path)
    const { parse } = yield* Effect.promise(() => import("../record/profileFile.ts"))
    return yield* Effect.mapError(
      parse(text),
      fromViolations((field) => field === "" ? "--profile: the file" : `--profile: ${field}`)
    )
  })
