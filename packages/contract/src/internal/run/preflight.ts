/** The two right requests, on which all else stands, and why nothing can be learned without their answers. */
import type { Send, ToAml, ToToken } from "../cases/requestSpec.ts"
import * as People from "../cases/testPeople.ts"
import type { Reading, Seen } from "../readings/readings.ts"
import { isErrorBody, isHtml, isSuccess } from "../readings/responseReadings.ts"
import * as Trust from "./refusalConfirmation.ts"

/** The request of section 4.1. */
export const token: ToToken = { to: "token" }

/** The request of section 4.2, about somebody who is on no list. */
export const check: ToAml = { to: "aml", body: People.about(People.clear) }

export const grant: ReadonlyArray<Send> = [token]
export const checked: ReadonlyArray<Send> = [check]

const isSame = (one: ReadonlyArray<Send>) => {
  const text = JSON.stringify(one)
  return (other: ReadonlyArray<Send>): boolean => JSON.stringify(other) === text
}

export const isGrant = isSame(grant)
export const isCheck = isSame(checked)

/** `at`: the case that tells it, and with which `causes` what else is read of the same answer tells why. */
export interface Lost {
  readonly at: string
  readonly reason: string
  readonly causes: ReadonlyArray<Reading>
}

const answerOf = (seen: ReadonlyArray<Seen>) => {
  const exchange = seen[0]?.exchange
  return exchange?._tag === "Answered" ? exchange : undefined
}

const causesOf = (status: number): ReadonlyArray<Reading> => status >= 300 && status < 400 ? ["redirect"] : []

export const lostToken = (seen: ReadonlyArray<Seen>): Lost | undefined => {
  const answer = answerOf(seen)
  const at = "token.granted"
  if (answer === undefined) return { at, reason: "the token endpoint does not answer", causes: [] }
  return Trust.isGood("token", answer)
    ? undefined
    : { at, reason: "the customer is given no token", causes: causesOf(answer.status) }
}

const aml = "aml.answered"

export const lostAml = (seen: ReadonlyArray<Seen>): Lost | undefined => {
  const answer = answerOf(seen)
  if (answer === undefined) return { at: aml, reason: "the API does not answer", causes: [] }
  if (!isSuccess(answer) || isErrorBody(answer)) {
    const reason = `the API refuses the right request with ${answer.status}`
    return { at: aml, reason, causes: causesOf(answer.status) }
  }
  return isHtml(answer)
    ? { at: aml, reason: "the API answers the right request with HTML", causes: ["body"] }
    : undefined
}

/** What is wrong in such an answer is told by those who read it. */
export const withoutCredential = (seen: ReadonlyArray<Seen>): Lost | undefined => {
  const answer = answerOf(seen)
  return answer !== undefined && Trust.isGood("aml", answer)
    ? undefined
    : { at: aml, reason: "the API answers the right request without a credential", causes: [] }
}
