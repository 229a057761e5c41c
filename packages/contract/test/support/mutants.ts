/**
 * Runs the cases of its claim against every mutant, prints which cases failed, and writes `docs/mutants.md`.
 * Exits with 1 if a mutant survives, if a documented claim has no mutant, or if the mock server raises an alarm.
 *
 * With `--unseen`, it runs the suite against the servers in `test/unseen` instead, and prints totals. A folder may
 * follow, and then two numbers such as `1 3` for the second of three parts.
 */
import { FileSystem, type HttpClient } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Conformance from "../../src/Conformance.ts"
import * as Contract from "../../src/Contract.ts"
import * as Mutant from "../mutants/Mutant.ts"
import * as MutantGate from "./mutantGate.ts"
import * as MutantMatrix from "./mutantMatrix.ts"
import * as UnseenGate from "./unseenGate.ts"

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

const [first, folder, part, parts] = process.argv.slice(2)

const program: Effect.Effect<void, unknown, NodeContext.NodeContext | HttpClient.HttpClient> = first === "--unseen"
  ? UnseenGate.run({ folder, part: parts === undefined ? undefined : [Number(part), Number(parts)] })
  : ownMutants

program.pipe(
  Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]),
  NodeRuntime.runMain({ disableErrorReporting: false })
)
