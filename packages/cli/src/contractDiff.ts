/** `idv-contract diff` and `idv-mock contract diff`: compares two evidence files. */
import type * as Contract from "@effect-idv/contract/Contract"
import * as ContractDiff from "@effect-idv/contract/ContractDiff"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as EvidenceFile from "./evidenceFile.ts"
import type { ParsedArguments } from "./parsedArguments.ts"

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

const digestOf = ({ document }: Contract.Evidence): string => document === undefined ? "unknown" : document.sha256

/** Reports if the claims were read from two versions of the service document. */
const documentLines = (older: Contract.Evidence, newer: Contract.Evidence): ReadonlyArray<string> =>
  digestOf(older) === digestOf(newer)
    ? []
    : [`document: SHA-256 ${digestOf(older)} before, ${digestOf(newer)} now`]

export const diff = ({ words: [oldPath = "", newPath = ""] }: ParsedArguments, name: string) =>
  Effect.gen(function*() {
    const older = yield* EvidenceFile.ofArgument("<old>", oldPath)
    const newer = yield* EvidenceFile.ofArgument("<new>", newPath)
    const changes = ContractDiff.diff(older, newer)
    const lines = [...documentLines(older, newer), ...changes.flatMap(linesOf)]
    const text = lines.length === 0 ? "The claims are the same" : lines.join("\n")
    yield* Console.log(text.replaceAll(/[^\P{Cc}\n]/gu, "\ufffd"))
    const count = changes.filter(({ isBreaking }) => isBreaking).length
    if (count > 0) return yield* new BreakingChanges({ name, count })
  })
