/** The cases of a property. */
import { Config, Effect, FastCheck } from "effect"

const factor = Effect.runSync(Config.withDefault(Config.integer("CASES"), 1))

/** `pnpm test` runs so many cases, and `pnpm test:slow`, which sets `CASES`, so many times more. */
export const cases = (count: number): number => count * factor

/** `pnpm test` runs every so many of these, and `pnpm test:slow` all. */
export const sample = <A>(all: ReadonlyArray<A>, every: number): ReadonlyArray<A> =>
  factor > 1 ? all : all.filter((_, index) => index % every === 0)

/** `pnpm test` runs the same cases each time, and `pnpm test:slow` other ones. */
if (factor === 1) FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: 1 })
