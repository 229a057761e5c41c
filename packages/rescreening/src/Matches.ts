/**
 * The evidence of potential matches and doubtful "No"s, for a person who reviews them.
 *
 * @since 0.1.0
 */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Rows from "./internal/report/rows.ts"
import * as Ledger from "./Ledger.ts"
import * as People from "./People.ts"
import type * as Report from "./Report.ts"
import type { EncryptionKeyError, RunErased, RunNotFound, SumsDiffer } from "./RescreeningError.ts"

/**
 * A row that a person must review, and its evidence.
 *
 * @category models
 * @since 0.1.0
 */
export interface Match {
  readonly row: Report.Row
  /** The check with the response; `undefined` if the policy keeps no evidence. */
  readonly check: AmlCheck.AmlCheck | undefined
  /** The checks whose result arrived after the row was screened again, if their evidence is stored. */
  readonly late: ReadonlyArray<AmlCheck.AmlCheck>
}

/**
 * Returns the rows of a run that a person must review, in the order of their lines, with their evidence. Before it
 * returns a row, it appends to the history that `reader` viewed the evidence of this person.
 *
 * @category reviewing
 * @since 0.1.0
 */
export const review = (run: string, options: {
  /** Who looks at the evidence. */
  readonly reader: string
}): Stream.Stream<
  Match,
  Ledger.Failure | RunNotFound | RunErased | SumsDiffer | EncryptionKeyError,
  Ledger.Ledger | People.People
> =>
  Stream.unwrap(Effect.map(Effect.all([Ledger.Ledger, People.People]), ([ledger, people]) =>
    Rows.all(run, people).pipe(
      Stream.mapChunks(Chunk.filter(({ ledgerRow }) => Rows.needsReview(ledgerRow))),
      Stream.mapChunksEffect((chunk) =>
        Effect.gen(function*() {
          const matches = yield* Effect.forEach(chunk, ({ ledgerRow, row }) =>
            Effect.gen(function*() {
              const stored = [ledgerRow.evidence, ...ledgerRow.late.map(({ evidence }) => evidence ?? null)]
              const [check, ...late] = yield* Effect.forEach(
                stored,
                (evidence) =>
                  evidence === null ? Effect.succeed(undefined) : Rows.checkOf(people, run, ledgerRow, evidence)
              )
              return { row, check, late: late.filter((check) => check !== undefined) }
            }))
          if (matches.length > 0) {
            yield* ledger.append(
              matches.map(({ row: { digest, id } }) => ({ kind: "viewed", id, actor: options.reader, run, digest }))
            )
          }
          return Chunk.unsafeFromArray(matches)
        })
      )
    )))
