import type { Strict } from "./strict.ts"

export interface Mutant {
  readonly id: string
  readonly area: string
  readonly sentence: string
  readonly what: string
  readonly apply: (s: Strict) => void
}
export const area = (name: string) => (id: string, sentence: string, what: string, apply: (s: Strict) => void): Mutant => ({
  id,
  area: name,
  sentence,
  what,
  apply
})
