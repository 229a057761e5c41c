/** The claims of a file: that of `--claims`, or by default those of the reference contract. */
import * as Contract from "@effect-idv/contract/Contract"
import * as Effect from "effect/Effect"
import * as ParsedArguments from "./parsedArguments.ts"
import * as Text from "./textField.ts"
import { UsageError } from "./usageError.ts"

/** The file is read once, because it may be a pipe. */
const load = (name: string, path: string) =>
  Effect.mapError(
    Contract.loadWithDigest(path),
    ({ message }) => new UsageError({ text: `${name} ${Text.printable(path)}: ${message}` })
  )

export const read = (args: ParsedArguments.ParsedArguments) =>
  load("--claims", ParsedArguments.value(args, "claims") ?? Contract.pathOf("claims.yaml"))

/** The claims of a file that is an argument of this name. */
export const ofArgument = (name: string, path: string) => Effect.map(load(name, path), ({ contract }) => contract)
