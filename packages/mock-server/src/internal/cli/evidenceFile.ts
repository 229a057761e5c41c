/** The claims of `--evidence`, or those of the reference contract. */
import * as Contract from "@effect-idv/contract/Contract"
import * as Effect from "effect/Effect"
import * as ParsedArguments from "./parsedArguments.ts"
import * as Text from "./textField.ts"
import { UsageError } from "./usageError.ts"

/** The file is read once, because it may be a pipe. */
export const read = (args: ParsedArguments.ParsedArguments) => {
  const path = ParsedArguments.value(args, "evidence") ?? Contract.pathOf("evidence.yaml")
  return Effect.mapError(
    Contract.loadWithDigest(path),
    ({ message }) => new UsageError({ text: `--evidence ${Text.printable(path)}: ${message}` })
  )
}
