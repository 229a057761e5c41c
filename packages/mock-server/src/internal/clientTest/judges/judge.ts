/** What the judges share. A judge is a pure function of the checks of a day. */
import * as Arr from "effect/Array"
import type { Check, Finding, Judge, Request, Step } from "../day.ts"
import * as Persons from "../persons.ts"
import * as Replies from "../replies.ts"

export const found = (
  verdict: Finding["verdict"],
  text: string,
  change: string,
  basis: string,
  request?: Request,
  steps: ReadonlyArray<Step> = []
): Finding => ({ verdict, text, steps: steps.map(({ label }) => label), change, basis, request })

/** The findings of each check. */
export const each = (findings: (check: Check) => ReadonlyArray<Finding>): Judge => (checks) => checks.flatMap(findings)

/** Findings with the same text as one, with the steps of all. */
export const merged = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  Array.from(
    findings.reduce((byText, finding) => {
      const first = byText.get(finding.text)
      return byText.set(
        finding.text,
        first === undefined ? finding : { ...first, steps: Arr.dedupe([...first.steps, ...finding.steps]) }
      )
    }, new Map<string, Finding>()).values()
  )

export const requestsTo = (operation: "aml" | "token", { requests }: Check): ReadonlyArray<Request> =>
  requests.filter(({ entry }) => entry.operation === operation)

export const stepsOf = (checks: ReadonlyArray<Check>): ReadonlyArray<Step> => checks.map(({ step }) => step)

/** Whether the mock server responded as the step says, and not with a refusal of the request or of its token. */
export const isReached = ({ person, requests, step }: Check): boolean =>
  // A client may refuse such a person itself.
  !Persons.isPossible(person) ||
  requests.some(({ entry: { facts, faults } }) =>
    faults.some(({ kind }) => kind !== "latency") ||
    (step.faults ?? Replies.lateToken) === Replies.lateToken && facts.kind === "checked"
  )

/** The request whose redirect to another host a request followed. */
export const redirecting = (request: Request, { requests }: Check): Request | undefined =>
  requests.slice(0, requests.indexOf(request)).findLast(({ entry: { response: { status } }, host }) =>
    status >= 300 && status < 400 && host !== request.host
  )

/** Requests for one operation that followed no redirect to another host. */
export const ownRequestsTo = (operation: "aml" | "token", check: Check): ReadonlyArray<Request> =>
  requestsTo(operation, check).filter((request) => redirecting(request, check) === undefined)
