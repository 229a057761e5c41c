/** What several commands use: the ledger, the run, standard input, and the exit code. */
import type * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { UsageError } from "@effect-idv/cli/usageError"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Ledger from "../../Ledger.ts"
import { RunNotFound } from "../../RescreeningError.ts"
import * as Run from "../../Run.ts"
import * as Settings from "./settings.ts"

/** 12 comes first: results may be wrong. Then 11: a report that was written before is no longer complete. */
export const exitCode = (counts: Run.Counts, { amended }: Run.Run, toReview: number): number => {
  if (counts.control_failed > 0) return 12
  if (amended > 0) return 11
  if (Run.left(counts) + counts.not_screened + counts.unknown + counts.wrong_row > 0) return 2
  return toReview > 0 ? 10 : 0
}

/** A command that only needs the ledger. */
export const withLedger = <A, E, R>(
  args: ParsedArguments.ParsedArguments,
  required: Parameters<typeof Settings.flags>[1],
  use: (flags: Settings.Flags) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    Settings.flags(args, required),
    (flags) => Effect.as(Effect.provide(use(flags), Settings.layerLedger(flags)), 0)
  )

/** The run of `--run`, or the newest one that fits. */
export const selectedRun = ({ run }: Settings.Flags, fits: (run: Run.Run) => boolean = () => true) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    if (run !== undefined) return yield* ledger.run(run)
    const runs = yield* ledger.runs
    if (runs.length === 0) return yield* new RunNotFound({ run: "" })
    return runs.find(fits) ?? (yield* new UsageError({
      text: "All runs are complete. Wait until plan has stored the next run, or name a run with --run."
    }))
  })

export const onStandardInput = Stream.suspend(() =>
  NodeStream.fromReadable<UsageError, Uint8Array>(
    () => process.stdin,
    () => new UsageError({ text: "Standard input cannot be read" })
  )
)

export const printJson = (value: unknown) => Console.log(JSON.stringify(value))
