import type { Hooks, Mutant, Probe } from "./types.ts"

/** Returns a function that creates the mutants of one area. */
export const area =
  (name: string) =>
  (id: string, breaks: string, explanation: string, hooks: (base: Hooks) => Partial<Hooks>, probe: Probe): Mutant => ({
    id,
    area: name,
    breaks,
    explanation,
    hooks,
    probe
  })
