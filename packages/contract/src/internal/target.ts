/** The target of a run: the server to test, the defaults of its options, and the persons whom its checks are about. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { NameAndDob, Person, PersonRef } from "./steps.ts"

/**
 * The kind of a target: a mock server, which must behave exactly as the contract's defaults, or a service,
 * which may do everything that the contract accepts.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "mock" | "sandbox"

/**
 * A test person of a sandbox, with the result that the vendor promises.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestPerson {
  readonly name: string
  /** The date of birth, in the form `dd-mm-yyyy`. */
  readonly dob: string
  readonly matchFound: "Potential match" | "No"
}

/**
 * The server to test. A mock server receives the requests without a wait between them and without a budget.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  /** What the target is: a `mock` server or a `sandbox`, which may bill checks. */
  readonly kind: Kind
  /** The base address of the token endpoint (section 1). */
  readonly authUrl: string
  /** The base address of the API (section 1). */
  readonly baseUrl: string
  /**
   * The customer whose token requests are sent.
   *
   * @default a test customer of the mock server, created for this run
   */
  readonly customerId?: string | undefined
  /**
   * The key of this customer.
   *
   * @default the key of the test customer
   */
  readonly customerKey?: Redacted.Redacted<string> | undefined
  /**
   * The address of a mock server's control API.
   *
   * @default the origin of `baseUrl`
   */
  readonly controlUrl?: string | undefined
  /**
   * The token of a mock server's control API.
   *
   * @default undefined, no token is sent
   */
  readonly controlToken?: Redacted.Redacted<string> | undefined
  /**
   * The vendor's test persons. Every claim about `Potential match` is tested on the listed ones. The first one who is on
   * no list takes the place of the suite's fictional person.
   *
   * @default undefined, the checks are about fictional people only
   */
  readonly persons?: ReadonlyArray<TestPerson> | undefined
  /**
   * The most requests that a sandbox receives. At most a fifth of them may be checks that the sandbox answers and may
   * bill. Cases that would exceed the budget are skipped.
   *
   * @default 60
   */
  readonly budget?: number | undefined
  /**
   * The wait between two requests to a sandbox, at most 24.8 days.
   *
   * @default "500 millis"
   */
  readonly spacing?: Duration.DurationInput | undefined
  /**
   * How long a response may take, at least 1 ms and at most 24.8 days.
   *
   * @default "10 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * Moves the clock of the target forward by some milliseconds, or waits for that time.
   *
   * @default the control API of a mock server; without one, the cases that need it are skipped
   */
  readonly clock?: ((millis: number) => Effect.Effect<void>) | undefined
  /**
   * How far `clock` may move in a run. Cases that would exceed it are skipped.
   *
   * @default undefined, without a limit
   */
  readonly clockLimit?: Duration.DurationInput | undefined
  /**
   * Whether a sandbox may receive any number of wrong keys and bad tokens, which may lock the customer out, and the key
   * where it may be logged.
   *
   * @default false, at most 2 wrong credentials and 12 bad tokens
   */
  readonly wrongKeys?: boolean | undefined
}

/** How long a run waits between two requests to a sandbox. */
export const defaultSpacing: Duration.DurationInput = "500 millis"

/** How long a response may take. */
export const defaultDeadline: Duration.DurationInput = "10 seconds"

/** The longest wait of a timer, in milliseconds. */
const longest = 2 ** 31 - 1

const isWait = (input: Duration.DurationInput, shortest: number): boolean =>
  Option.exists(
    Duration.decodeUnknown(input),
    (duration) => Duration.toMillis(duration) >= shortest && Duration.toMillis(duration) <= longest
  )

/** Dies, naming the option, if a duration is invalid: without a deadline, a run might never end. */
export const checkDurations = (
  { deadline = defaultDeadline, spacing = defaultSpacing }: Target
): Effect.Effect<void> => {
  const invalid = (option: string, shortest: number) =>
    Effect.die(new TypeError(`${option} should be a duration from ${shortest} to ${longest} ms (24.8 days)`))
  if (!isWait(deadline, 1)) return invalid("deadline", 1)
  return isWait(spacing, 0) ? Effect.void : invalid("spacing", 0)
}

/** An address without its user, password, query and fragment, which may be secret. */
export const shownAddress = (address: string): string => {
  if (!URL.canParse(address)) return "no address"
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/\/+$/, "")}`
}

/** A target whose addresses may be shown. */
export const withShownAddresses = (target: Target): Target => ({
  ...target,
  authUrl: shownAddress(target.authUrl),
  baseUrl: shownAddress(target.baseUrl)
})

const potentialMatch = "Potential match"

/** What the last word of a name means to a mock server. */
const resultOf = (name: string): string => /\bTest(pep|sanc)$/i.test(name) ? potentialMatch : "No"

const fictional = {
  clear: { name: "Zoë Ana Testclear", dob: "01-02-1990" },
  listed: { name: "Noor Lee Testpep", dob: "14-03-1957" },
  "listed 2": { name: "Max Vale Testsanc", dob: "30-11-1971" }
}

const places = ["listed", "listed 2", "listed 3"] as const

/** Why a check cannot be about this person. */
export const needsListed = "needs a listed test person (--person)"

/** The test persons that the user named, in the form of a check: those who are on a list, or the others. */
const namedBy = ({ persons = [] }: Target, isListed: boolean, variables: ReadonlyArray<string>) =>
  persons.filter(({ matchFound }) => (matchFound === potentialMatch) === isListed).map((
    { dob, matchFound, name },
    i
  ): Person => ({ name, dob, promised: matchFound, variable: variables[i] ?? "" }))

/** The person of a check, or `undefined` if the user named none. */
export const personOf = (target: Target, ref: PersonRef | undefined): Person | undefined => {
  const invented = (person: NameAndDob): Person => ({
    ...person,
    ...(target.kind === "mock" && { promised: resultOf(person.name) })
  })
  if (typeof ref === "object") return invented(ref)
  if (ref === "any listed") {
    return personOf(target, "listed 2") ?? personOf(target, "listed") ?? personOf(target, undefined)
  }
  const isClear = ref === undefined || ref === "clear"
  if (target.persons !== undefined && target.persons.length > 0) {
    const [clear] = namedBy(target, false, ["PERSON"])
    const listed = namedBy(target, true, ["LISTED", "LISTED_2", "LISTED_3"])
    return isClear ? clear ?? (ref === undefined ? listed[0] : undefined) : listed[places.indexOf(ref)]
  }
  if (isClear) return invented(fictional.clear)
  return target.kind === "mock" && ref !== "listed 3" ? invented(fictional[ref]) : undefined
}
