/**
 * The plan of a run: which probes a target receives, the worthiest first, and what they cost. A mock server receives
 * all of them. A sandbox receives what its budget allows, the first probe of each case before the second one of any.
 */
import * as Arr from "effect/Array"
import * as Order from "effect/Order"
import * as Record from "effect/Record"
import type { Case, Cost, Plan, PlannedProbe, Probe } from "../model.ts"
import type { AmlStep, ServiceStep, Step, TokenStep } from "../steps.ts"
import { needsListed, personOf, type Target } from "../target.ts"
import * as Templates from "../templates.ts"
import {
  badTokensSpent,
  budgetOf,
  budgetSpent,
  checksOf,
  checksSpent,
  defaultBadTokens,
  defaultBudget,
  defaultWrongCredentials,
  inapplicable,
  reserve,
  wrongCredentialsSpent
} from "./limits.ts"

const serviceSteps = (steps: ReadonlyArray<Step>): ReadonlyArray<ServiceStep> =>
  steps.flatMap((step): ReadonlyArray<ServiceStep> =>
    step.to === "together" ? step.steps : step.to === "control" || step.to === "clock" ? [] : [step]
  )

const isWrongCredential = (step: ServiceStep): boolean => step.to === "token" && step.authorization !== undefined

const isBadToken = (step: ServiceStep): boolean =>
  step.to === "aml" && (step.authorization !== undefined || step.isValid === false)

const count = (steps: ReadonlyArray<ServiceStep>, is: (step: ServiceStep) => boolean): number => steps.filter(is).length

/** A check of a probe should be refused, except for one with the documented body before it. */
const costOf = ({ reading }: Case, { steps }: Probe): Cost => {
  const all = serviceSteps(steps)
  const isAnswered = (step: ServiceStep) =>
    step.to === "aml" && !isBadToken(step) && (reading !== "credential withheld" || isUnchanged(step))
  return {
    requests: all.length,
    checks: count(all, isAnswered),
    wrongCredentials: count(all, isWrongCredential),
    badTokens: count(all, isBadToken)
  }
}

const isUnchanged = ({ body, contentType, method, query }: AmlStep): boolean =>
  [body, contentType, method, query].every((change) => change === undefined)

const sum = (left: Cost, right: Cost): Cost => Record.map(left, (amount, what) => amount + right[what])

const nothing: Cost = { requests: 0, checks: 0, wrongCredentials: 0, badTokens: 0 }

/** The documented token request and check, and the requests that show a web page at the address of the API. */
const preflight: Cost = { requests: 3, checks: 1, wrongCredentials: 0, badTokens: 1 }

/** Further checks that are kept, because a lenient service answers probes too. */
const lenientChecks = 1

type Limit = readonly [of: keyof Cost, most: number, reason: string]

/** The limits of a sandbox. */
const limitsOf = ({ budget = defaultBudget, wrongKeys }: Target, sufficient: number): ReadonlyArray<Limit> => {
  const checks = checksOf(budget)
  const bad: ReadonlyArray<Limit> = [
    ["wrongCredentials", defaultWrongCredentials, wrongCredentialsSpent(defaultWrongCredentials)],
    ["badTokens", defaultBadTokens, badTokensSpent(defaultBadTokens)]
  ]
  return [
    ["requests", budget - reserve.requests, budgetSpent(budget, sufficient)],
    ["checks", Math.max(1, checks - reserve.checks - lenientChecks), checksSpent(checks, sufficient)],
    ...(wrongKeys === true ? [] : bad)
  ]
}

/** The fewest checks that allow probes of the API: the documented one, one that a probe may receive, and the reserve. */
const checksForProbes = 3

/** Why a budget allows no probe of the API, although a correct service would bill none. */
const probeObstacle = (
  { budget = defaultBudget, kind }: Target,
  { steps }: Probe,
  sufficient: number
): string | undefined => {
  const checks = checksOf(budget)
  return kind === "sandbox" && checks < checksForProbes && serviceSteps(steps).some(({ to }) => to === "aml")
    ? checksSpent(checks, sufficient)
    : undefined
}

/** Whether a request has the key of the customer where it may be logged: in an address, or in a header of its own. */
const exposesKey = (step: ServiceStep): step is TokenStep =>
  step.to === "token" &&
  [step.query, ...Object.values(step.headers ?? {}), step.body].some((template) => Templates.uses(template, "key"))

/** The probes of a case about persons that there are. */
export const probesOf = (target: Target, { more = [], steps, title }: Case): ReadonlyArray<Probe> => [
  { steps, title },
  ...more.filter((probe) =>
    serviceSteps(probe.steps).every((step) =>
      step.to !== "aml" || (step.person !== "listed 2" && step.person !== "listed 3") ||
      personOf(target, step.person) !== undefined
    )
  )
]

/** Why a target cannot receive a probe, whatever the budget. */
const obstacle = (target: Target, { needsOwnCustomer, notOnSandbox }: Case, { steps }: Probe): string | undefined => {
  const all = serviceSteps(steps)
  if (needsOwnCustomer === true && target.kind === "mock" && (target.customerId ?? "").startsWith("test-")) {
    return inapplicable.testCustomer
  }
  if (target.kind === "sandbox" && notOnSandbox !== undefined) return notOnSandbox
  if (all.some((step) => step.to === "aml" && personOf(target, step.person) === undefined)) return needsListed
  if (target.kind === "mock") return undefined
  if (target.clock === undefined && steps.some(({ to }) => to === "clock")) {
    return "the clock of a service cannot be moved (--wait-for-expiry)"
  }
  return target.wrongKeys !== true && all.some(exposesKey)
    ? "the key would be sent where it may be logged (--wrong-keys)"
    : undefined
}

const byWorth = Order.reverse(Order.mapInput(Order.number, ({ worth = 1 }: Case) => worth))

/**
 * Harmless requests first: a service may lock out a customer after bad tokens and wrong credentials. The less worthy
 * checks come last: they show whether `searched_on` moves, and that the API still answers, and a service that answers
 * probes leaves none for them.
 */
const phaseOf = ({ probe, testCase }: PlannedProbe): number => {
  const { badTokens, checks, requests, wrongCredentials } = costOf(testCase, probe)
  if (requests === 0) return 5
  if (wrongCredentials > 0) return 3
  if (badTokens > 0) return 2
  const isWorthy = probe.steps === testCase.steps && (testCase.worth ?? 1) > 5
  return isWorthy ? 0 : checks === 0 ? 1 : 4
}

/** Probes with the same key are sent once. */
const keyOf = ({ steps }: Probe): string => JSON.stringify(steps)

/** The name of a probe among those of all cases. */
export const nameOf = ({ probe, testCase }: PlannedProbe): string => `${testCase.id}: ${probe.title}`

export const make = (target: Target, cases: ReadonlyArray<Case>): Plan => {
  const isUnlimited = target.kind === "mock" || target.budget === Infinity
  /** A plan without a limit shows which budget is enough. */
  const sufficient = isUnlimited ? Infinity : make({ ...target, budget: Infinity }, cases).sufficientBudget
  const limits = target.kind === "mock" ? [] : limitsOf(target, sufficient)
  const all = Arr.sort(cases, byWorth).map((testCase) => ({ testCase, probes: probesOf(target, testCase) }))
  const rounds = Math.max(0, ...all.map(({ probes }) => probes.length))
  const candidates = Arr.makeBy(rounds, (round) =>
    all.flatMap(({ probes, testCase }): ReadonlyArray<PlannedProbe> => {
      const probe = probes[round]
      return probe === undefined ? [] : [{ testCase, probe }]
    })).flat()
  let cost = preflight
  /** The sequences that are sent anyway. Other cases read them without a request of their own. */
  const sent = new Set([JSON.stringify([{ to: "token" }]), JSON.stringify([{ to: "aml" }])])
  const items: Array<PlannedProbe> = []
  const reasons = new Map<string, string>()
  for (const item of candidates) {
    const key = keyOf(item.probe)
    const own = sent.has(key) ? nothing : costOf(item.testCase, item.probe)
    const next = sum(cost, own)
    const reason = obstacle(target, item.testCase, item.probe) ??
      (own.requests === 0
        ? undefined
        : probeObstacle(target, item.probe, sufficient) ??
          limits.find(([of, most]) => own[of] > 0 && next[of] > most)?.[2])
    if (reason !== undefined) {
      reasons.set(nameOf(item), reason)
      continue
    }
    cost = next
    sent.add(key)
    items.push(item)
  }
  const reasonsOfCases = all.flatMap(({ probes, testCase }) =>
    Arr.dedupe(probes.flatMap((probe) => reasons.get(nameOf({ testCase, probe })) ?? []))
  )
  const whole = target.kind === "mock" ? cost : sum(cost, { ...nothing, ...reserve })
  return {
    items: target.kind === "mock" ? items : Arr.sortWith(items, phaseOf, Order.number),
    cost: whole,
    sufficientBudget: isUnlimited
      ? budgetOf(whole.requests, whole.checks + lenientChecks)
      : sufficient,
    whyNot: (testCase, probe) => reasons.get(nameOf({ testCase, probe })),
    notTested: Object.entries(Arr.groupBy(reasonsOfCases, (reason) => reason))
      .map(([reason, group]) => [reason, group.length] as const)
  }
}
