/**
 * Fictional people whose result is known beforehand: the last word of the name decides, whatever
 * its case. Everybody else is clear, the same every time. Some are faults, for a client that has no
 * other way to ask for one.
 *
 * @since 0.1.0
 */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import * as Duration from "effect/Duration"
import type * as Fault from "./Fault.ts"

/**
 * - `matchFound`: what the mock answers, unless the fault has it otherwise.
 * - `fault`: what happens to the answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestPerson {
  readonly lastWord: string
  readonly matchFound: MatchFound
  readonly description: string
  readonly fault?: Fault.What
}

const clear = (lastWord: string, description: string): TestPerson => ({ lastWord, matchFound: "No", description })

const listed = (lastWord: string, description: string): TestPerson => ({
  lastWord,
  matchFound: "Potential match",
  description
})

/** Somebody who is listed, so that a client which takes the fault for a "No" is found out. */
const faulty = (lastWord: string, description: string, fault: Fault.What): TestPerson => ({
  ...listed(lastWord, description),
  fault
})

const plainText = "text/plain; charset=utf-8"

const status = (status: number, seconds?: number): Fault.What => ({
  kind: "status",
  status,
  contentType: plainText,
  ...(seconds !== undefined && { retryAfter: { kind: "seconds", seconds } })
})

/**
 * The reserved names.
 *
 * @category models
 * @since 0.1.0
 */
export const reserved: ReadonlyArray<TestPerson> = [
  clear("Testclear", "is on no list"),
  listed("Testpep", "may be a politically exposed person"),
  listed("Testsanc", "may be on a sanctions list"),
  {
    ...clear("Testslow", "is on no list, which is told after 5 s"),
    fault: { kind: "latency", distribution: { kind: "fixed", delay: Duration.seconds(5) } }
  },
  faulty("Testhang", "gets no answer, on a connection that stays open", { kind: "hang", at: "headers" }),
  faulty("Test401", "gets a 401, whatever the token", status(401)),
  faulty("Test403", "gets a 403", status(403)),
  faulty("Test429", "gets a 429 that asks for 1 s", status(429, 1)),
  faulty("Test500", "gets a 500", status(500)),
  faulty("Test503", "gets a 503 that asks for 1 s", status(503, 1)),
  faulty("Testhtml", "gets a page of HTML with status 200", { kind: "html" }),
  faulty("Testempty", "gets an empty body with status 200", { kind: "empty" }),
  faulty("Testcut", "gets half of a body, and then the end of the stream", { kind: "truncation" }),
  faulty("Testreset", "gets half of a body, and then a reset connection", { kind: "reset", at: "body" }),
  faulty("Testecho", "gets the answer about somebody else", { kind: "somebodyElse" }),
  faulty("Testunknown", "gets a match_found that the document does not list", { kind: "unknownMatch" })
]

const byLastWord = new Map(reserved.map((subject) => [subject.lastWord.toLowerCase(), subject]))

/**
 * The reserved name that a name ends with, or everybody else.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (name: string): Omit<TestPerson, "lastWord"> =>
  byLastWord.get(name.trim().split(/\s+/).at(-1)?.toLowerCase() ?? "") ??
    { matchFound: "No", description: "has no reserved name, and so is on no list" }
