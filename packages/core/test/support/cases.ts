/** How much of a long proof runs. */
import { Config, Effect, FastCheck } from "effect"

const factor = Effect.runSync(Config.withDefault(Config.integer("CASES"), 1))

/** The number of cases of a property: `pnpm test:slow` sets `CASES`, and runs so many times more than `pnpm test`. */
export const runs = (count: number): number => count * factor

/** `pnpm test` runs every so many of these, and `pnpm test:slow` all. */
export const sample = <A>(all: ReadonlyArray<A>, every: number): ReadonlyArray<A> =>
  factor > 1 ? all : all.filter((_, index) => index % every === 0)

/** `pnpm test` runs the same cases each time, and `pnpm test:slow` other ones. */
if (factor === 1) FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: 1 })
