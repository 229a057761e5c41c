/**
 * Runs the cases of its claim against every mutant, prints which cases failed, and writes `docs/mutants.md`.
 * Exits with 1 if a mutant survives, if a documented claim has no mutant, or if the mock server raises an alarm.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Conformance from "../../src/Conformance.ts"
import * as Contract from "../../src/Contract.ts"
import * as Mutant from "../mutants/Mutant.ts"
import * as MutantGate from "./mutantGate.ts"
import * as MutantMatrix from "./mutantMatrix.ts"

const docs = fileURLToPath(new URL("../../../../docs/mutants.md", import.meta.url))

const ownMutants = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const evidence = yield* Contract.load()
  const observed = yield* MutantGate.observe(Mutant.mutants)
  const gate = MutantGate.gate(evidence, Conformance.cases, observed)
  yield* Console.log(MutantMatrix.lines(gate).join("\n"))
  yield* fs.writeFileString(docs, MutantMatrix.page(gate, evidence))
  if (!gate.isPassed) yield* Effect.fail("failed")
})

ownMutants.pipe(
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: false })
)
