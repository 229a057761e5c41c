/** Runs a command of `idv-contract`. Each command loads only the modules that it needs. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import type { Command } from "commander"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as CommandLine from "./commandLine.ts"
import * as ContractCommands from "./contractCommands.ts"

/** Makes the program. Parsing a command line calls `invoke` with the result. */
const make = (version: string) => (invoke: CommandLine.Invoke): Command => {
  const program = CommandLine.program(
    "idv-contract",
    "The reference contract of the identity verification service: checks any server, and compares contracts",
    version,
    invoke
  )
  ContractCommands.addVerify(program, invoke)
  ContractCommands.addClaims(program, "claims", invoke)
  ContractCommands.addDiff(program, invoke)
  CommandLine.addHelp(program)
  return program
}

export const main = (words: ReadonlyArray<string>, version: string) =>
  Effect.gen(function*() {
    const invocation = yield* CommandLine.read(make(version), words)
    if (invocation._tag === "Text") return yield* Console.log(invocation.text.trimEnd())
    const name = `idv-contract ${invocation.command}`
    switch (invocation.command) {
      case "verify":
        return yield* ContractCommands.verify(invocation.args, { claims: "idv-contract claims", name, version })
      case "claims":
        return yield* ContractCommands.claims(invocation.args)
      default:
        return yield* ContractCommands.diff(invocation.args, name)
    }
  }).pipe(Effect.provide(NodeContext.layer))
