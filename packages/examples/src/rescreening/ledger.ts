/**
 * What became of each row so far, and how many there are of each kind: what the events of the record
 * add up to. It takes two bytes for each line, whatever is written there.
 */
import { type Event, phases } from "./event.ts"

export type Phase = typeof phases[number]

const settled: ReadonlyArray<Phase> = ["no_match", "no_match_doubtful", "potential_match", "wrong_row"]

export class Ledger {
  readonly #phases: Uint8Array
  readonly #starts: Uint8Array
  readonly #counts = new Map<Phase, number>()
  readonly #startsAfter = new Map<Phase, number>()

  /** Of a file of so many lines, of which so many are rows. */
  constructor({ lines, rows }: { readonly lines: number; readonly rows: number }) {
    this.#phases = new Uint8Array(lines + 1)
    this.#starts = new Uint8Array(lines + 1)
    this.#counts.set("not_started", rows)
  }

  apply({ event, line }: Event): void {
    const before = this.phaseOf(line)
    this.#counts.set(before, this.count(before) - 1)
    this.#counts.set(event, this.count(event) + 1)
    this.#phases[line] = phases.indexOf(event)
    if (event !== "started") return
    this.#startsAfter.set(before, this.startsAfter(before) + 1)
    this.#starts[line] = Math.min(255, this.startsOf(line) + 1)
  }

  phaseOf(line: number): Phase {
    return phases[this.#phases[line] ?? 0] ?? "not_started"
  }

  /** How often a check of this row was begun, up to 255 times. */
  startsOf(line: number): number {
    return this.#starts[line] ?? 0
  }

  /** How many rows are in this phase. */
  count(phase: Phase): number {
    return this.#counts.get(phase) ?? 0
  }

  /** How many checks were begun of rows in this phase: `started` are those that a kill interrupted. */
  startsAfter(phase: Phase): number {
    return this.#startsAfter.get(phase) ?? 0
  }

  /** Those that need no other check: the service answered, or the row cannot be sent. */
  get settled(): number {
    return settled.reduce((sum, phase) => sum + this.count(phase), 0)
  }
}

/** Whether a row in this phase needs no other check. */
export const isSettled = (phase: Phase): boolean => settled.includes(phase)
