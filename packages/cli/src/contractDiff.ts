/** `idv-contract diff` and `idv-mock contract diff`: compares two files of claims. */
import type * as Contract from "@effect-idv/contract/Contract"
import * as ContractDiff from "@effect-idv/contract/ContractDiff"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ClaimsFile from "./claimsFile.ts"
import * as FlagValues from "./flagValues.ts"
import * as ParsedArguments from "./parsedArguments.ts"

/** The newer contract may break consumers. The output lists the changes. */
export class BreakingChanges extends Schema.TaggedError<BreakingChanges>(
  "@effect-idv/cli/BreakingChanges"
)("BreakingChanges", { name: Schema.String, count: Schema.Number }) {
  override get message() {
    return `${this.name}: ${this.count} breaking change${this.count === 1 ? "" : "s"}`
  }
}

const linesOf = ({ claim, differences, isBreaking, kind }: ContractDiff.Change): ReadonlyArray<string> => [
  `${kind}${isBreaking ? ", breaking" : ""}: ${claim}`,
  ...differences.map((text) => `  ${text}`)
]

const digestOf = ({ document }: Contract.Contract): string => document === undefined ? "unknown" : document.sha256

/** Reports if the claims were read from two versions of the service document. */
const documentLines = (older: Contract.Contract, newer: Contract.Contract): ReadonlyArray<string> =>
  digestOf(older) === digestOf(newer)
    ? []
    : [`document: SHA-256 ${digestOf(older)} before, ${digestOf(newer)} now`]

const Flags = Schema.Struct({ format: Schema.optionalWith(FlagValues.oneOf("table", "json"), { exact: true }) })

const tableOf = (older: Contract.Contract, newer: Contract.Contract, changes: ReadonlyArray<ContractDiff.Change>) => {
  const lines = [...documentLines(older, newer), ...changes.flatMap(linesOf)]
  const text = lines.length === 0 ? "The claims are the same" : lines.join("\n")
  return text.replaceAll(/[^\P{Cc}\n]/gu, "\ufffd")
}

export const diff = (args: ParsedArguments.ParsedArguments, name: string) =>
  Effect.gen(function*() {
    const [oldPath = "", newPath = ""] = args.words
    const { format = "table" } = yield* ParsedArguments.read(args, Flags)
    const older = yield* ClaimsFile.ofArgument("<old>", oldPath)
    const newer = yield* ClaimsFile.ofArgument("<new>", newPath)
    const changes = ContractDiff.diff(older, newer)
    yield* Console.log(
      format === "json" ? JSON.stringify({ version: 1, changes }, undefined, 2) : tableOf(older, newer, changes)
    )
    const count = changes.filter(({ isBreaking }) => isBreaking).length
    if (count > 0) return yield* new BreakingChanges({ name, count })
  })
