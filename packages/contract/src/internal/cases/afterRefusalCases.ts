/** A refused request of each kind, and what follows it: it must change nothing for the requests after it. */
import type { Case } from "../model.ts"
import type { AmlStep, Step, TokenStep } from "../steps.ts"
import { check, withFields } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

const minute = 60

const token: TokenStep = { to: "token" }

const exposed = check({ body: TestPeople.bodyOf(TestPeople.exposed) })

/** A request that no service should accept. */
interface Refused {
  readonly id: string
  readonly title: string
  readonly step: TokenStep | AmlStep
  readonly needsWrongKeys?: true
}

const refusedTokenRequests: ReadonlyArray<Refused> = [
  { id: "no-credentials", title: "a token request without credentials", step: { ...token, authorization: null } },
  {
    id: "unknown-customer",
    title: "a token request of an unknown customer",
    step: { ...token, authorization: "Basic base64({otherId}:{otherKey})" }
  },
  {
    id: "wrong-key",
    title: "a token request with a wrong key",
    step: { ...token, authorization: "Basic base64({id}:{otherKey})" },
    needsWrongKeys: true
  },
  {
    id: "other-grant-type",
    title: "a token request with another grant_type",
    step: { ...token, body: "grant_type=password" }
  },
  { id: "empty-form", title: "a token request without grant_type", step: { ...token, body: "" } }
]

const refusedChecks: ReadonlyArray<Refused> = [
  { id: "no-token", title: "a check without a token", step: check({ authorization: null }) },
  { id: "forged-token", title: "a check with a forged token", step: check({ authorization: "Bearer {otherKey}" }) },
  { id: "iso-date", title: "a check with the year first", step: withFields({ name: "Left Over", dob: "1990-02-01" }) },
  { id: "no-name", title: "a check without a name", step: withFields({ name: undefined }) },
  { id: "company", title: "a check of a company", step: withFields({ entity_type: "company" }) },
  { id: "cut-body", title: "a check with a body that ends early", step: check({ body: "{\"entity_type\":" }) }
]

const refusedRequests = [...refusedTokenRequests, ...refusedChecks]

const caseOf = (
  { id, needsWrongKeys, step, title }: Refused,
  prefix: string,
  after: string,
  claim: string,
  reading: Case["reading"],
  followedBy: ReadonlyArray<Step>
): Case => ({
  id: `${prefix}.${id}`,
  claim,
  title: `${after} after ${title}`,
  steps: [step, ...followedBy],
  reading,
  ...(needsWrongKeys !== undefined && { needsWrongKeys })
})

/** The steps around a refused request in the middle of the hour of a token. */
const inTheHour = ({ step }: Refused): ReadonlyArray<Step> => [
  token,
  { to: "clock", advance: 40 * minute },
  step,
  { to: "clock", advance: 20 * minute - 5 },
  { ...check(), token: 0, isValid: true },
  { to: "clock", advance: 7 },
  { ...check(), token: 0, isValid: false }
]

export const cases: ReadonlyArray<Case> = refusedRequests.flatMap((refused): ReadonlyArray<Case> => [
  caseOf(refused, "token.granted-after", "a token request", "token.request.path", "every grant", [token]),
  caseOf(
    refused,
    "aml.withheld-after",
    "a check without a token",
    "aml.request.authorization",
    "credential withheld",
    [check({ authorization: null })]
  ),
  caseOf(refused, "aml.answered-after", "two checks", "aml.request.people", "every answer", [exposed, check()]),
  caseOf(refused, "aml.fields-after", "two checks", "aml.answer.every", "every field", [exposed, check()])
])

/** These move the clock. */
export const lifetimeCases: ReadonlyArray<Case> = [
  ...refusedRequests.map((refused): Case => ({
    ...caseOf(refused, "token.lifetime.around", "the hour of a token", "token.lifetime", "lifetime", []),
    steps: inTheHour(refused)
  })),
  {
    id: "aml.withheld-after.ended-token",
    claim: "aml.request.authorization",
    title: "a check without a token after one with an ended token",
    steps: [
      token,
      { to: "clock", advance: 61 * minute },
      { ...check(), token: 0, authorization: "Bearer {token}" },
      check({ authorization: null })
    ],
    reading: "credential withheld"
  },
  {
    id: "token.lifetime.around.ended-token",
    claim: "token.lifetime",
    title: "a new token after a check with an ended one",
    steps: [
      token,
      { to: "clock", advance: 61 * minute },
      { ...check(), token: 0, isValid: false },
      token,
      { ...check(), token: 1, isValid: true }
    ],
    reading: "lifetime"
  }
]
