/**
 * Fictional persons with a known result. The last word of the name selects the result, in upper or lower case. Any
 * other name returns "No". Some names cause a fault, for tests that cannot use the control API.
 *
 * @since 0.1.0
 */
import type { MatchFound } from "@effect-idv/core/AmlCredential"
import * as Duration from "effect/Duration"
import type * as Fault from "./Fault.ts"

/**
 * A reserved name and what the mock server does for it.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestPerson {
  /** The last word of the name. */
  readonly lastWord: string
  /** The result, unless the fault changes it. */
  readonly matchFound: MatchFound
  /** What the mock server does, as the predicate of a sentence. */
  readonly description: string
  /**
   * The fault that is applied to the response.
   *
   * @default none
   */
  readonly fault?: Fault.What
}

const clearPerson = (lastWord: string, description: string): TestPerson => ({ lastWord, matchFound: "No", description })

const listedPerson = (lastWord: string, description: string): TestPerson => ({
  lastWord,
  matchFound: "Potential match",
  description
})

/** The fault hides a "Potential match", so that a client that treats the fault as a "No" fails its test. */
const faultyPerson = (lastWord: string, description: string, fault: Fault.What): TestPerson => ({
  ...listedPerson(lastWord, description),
  fault
})

const status = (status: number, seconds?: number): Fault.What => ({
  kind: "status",
  status,
  contentType: "text/plain; charset=utf-8",
  ...(seconds !== undefined && { retryAfter: { kind: "seconds", seconds } })
})

/**
 * The reserved names.
 *
 * @category models
 * @since 0.1.0
 */
export const reserved: ReadonlyArray<TestPerson> = [
  clearPerson("Testclear", "returns \"No\""),
  listedPerson("Testpep", "returns \"Potential match\" (politically exposed person)"),
  listedPerson("Testsanc", "returns \"Potential match\" (sanctions list)"),
  {
    ...clearPerson("Testslow", "returns \"No\" after 5 s"),
    fault: { kind: "latency", distribution: { kind: "fixed", delay: Duration.seconds(5) } }
  },
  faultyPerson("Testhang", "sends no response and leaves the connection open", { kind: "hang", at: "headers" }),
  faultyPerson("Test401", "returns status 401, whatever the token", status(401)),
  faultyPerson("Test403", "returns status 403", status(403)),
  faultyPerson("Test429", "returns status 429 with Retry-After: 1", status(429, 1)),
  faultyPerson("Test500", "returns status 500", status(500)),
  faultyPerson("Test503", "returns status 503 with Retry-After: 1", status(503, 1)),
  faultyPerson("Testhtml", "returns an HTML page with status 200", { kind: "html" }),
  faultyPerson("Testempty", "returns an empty body with status 200", { kind: "empty" }),
  faultyPerson("Testcut", "sends half of the body and closes the connection", { kind: "truncation" }),
  faultyPerson("Testreset", "sends half of the body and resets the connection", { kind: "reset", at: "body" }),
  faultyPerson("Testecho", "returns the credential of another person", { kind: "somebodyElse" }),
  faultyPerson("Testunknown", "returns a match_found that the service document does not list", { kind: "unknownMatch" })
]

const byLastWord = new Map(reserved.map((person) => [person.lastWord.toLowerCase(), person]))

/**
 * Returns what the mock server does for a name: that of the reserved name at its end, otherwise a "No".
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (name: string): Omit<TestPerson, "lastWord"> =>
  byLastWord.get(name.trim().split(/\s+/).at(-1)?.toLowerCase() ?? "") ??
    { matchFound: "No", description: "returns \"No\", because the name is not reserved" }
