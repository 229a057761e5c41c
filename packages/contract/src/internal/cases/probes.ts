/** How the tables of probes become cases. A probe is a request that should receive no token, or no credential. */
import type { Case } from "../model.ts"
import type { AmlStep, Json, TokenStep } from "../steps.ts"
import * as TestPeople from "./testPeople.ts"

/** A check of a person on no list, with these changes. */
export const check = (changes: Omit<AmlStep, "to" | "body"> & { readonly body?: Json } = {}): AmlStep => ({
  to: "aml",
  body: TestPeople.bodyOf(TestPeople.clear),
  ...changes
})

/** The same with changed fields in its body. */
export const withFields = (changes: { readonly [field: string]: Json | undefined }): AmlStep =>
  check({ body: TestPeople.bodyOf(TestPeople.clear, changes) })

/** The id of a probe's case, its title, and its request. */
export type Probe<Step> = readonly [id: string, title: string, step: Step]

export const tokenProbes = (
  claim: string,
  prefix: string,
  probes: ReadonlyArray<Probe<Omit<TokenStep, "to">>>,
  options: Pick<Case, "needsOwnCustomer" | "needsWrongKeys"> = {}
): ReadonlyArray<Case> =>
  probes.map(([id, title, step]): Case => ({
    id: `token.${prefix}.${id}`,
    claim,
    title,
    steps: [{ to: "token", ...step }],
    reading: "token withheld",
    ...options
  }))

export const checkProbes = (
  claim: string,
  prefix: string,
  probes: ReadonlyArray<Probe<AmlStep>>
): ReadonlyArray<Case> =>
  probes.map(([id, title, step]): Case => ({
    id: `aml.${prefix}.${id}`,
    claim,
    title,
    steps: [step],
    reading: "credential withheld"
  }))
