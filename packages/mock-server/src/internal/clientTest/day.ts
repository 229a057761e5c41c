/**
 * The words of a client test. A day is data: persons, how the mock server responds to each, and what is wrong if the
 * client behaves otherwise.
 */
import type * as Fault from "../../Fault.ts"
import type * as Profile from "../../Profile.ts"
import type { Entry } from "../journal/entry.ts"

/** What a client says about a person. Anything but `clear` and `review` is an `error`. */
export type Outcome = "clear" | "review" | "error"

export interface Person {
  readonly name: string
  /** In the form `yyyy-mm-dd`. */
  readonly dateOfBirth: string
}

/** Where a client finds the mock server, and its credentials. */
export interface Service {
  readonly authUrl: string
  readonly baseUrl: string
  readonly customerId: string
  readonly customerKey: string
}

/** One person of a day. */
export interface Step {
  /** What the mock server does, such as `status 500`. */
  readonly label: string
  /** What a correct client says. */
  readonly expect: Outcome | "not clear"
  /** What differs from a usual person. */
  readonly person?: Partial<Person>
  /** The faults while the client checks this person. */
  readonly faults?: (person: Person, now: Date, origin: string) => ReadonlyArray<typeof Fault.Fault.Encoded>
  /** How far the mock server's clock moves before the check. */
  readonly advance?: "61 minutes"
  /** How the service behaves where the document leaves a choice. */
  readonly profile?: Profile.Patch
  /** Whether all tokens are revoked before the check. */
  readonly revokeTokens?: boolean
  /** Variables of the environment of the client. */
  readonly variables?: Readonly<Record<string, string>>
}

/** A text that the client wrote. A `log` is what others may store: standard error, and the text of an error. */
export interface Text {
  readonly where: "output" | "log" | "response"
  readonly text: string
}

/** What the client did for one person, without its requests. */
export interface Reaction {
  readonly outcome: Outcome
  readonly texts: ReadonlyArray<Text>
  /** The exit code or the status of the response, if there is one. */
  readonly code?: number
  /** Whether it ended before the test stopped waiting. */
  readonly ended: boolean
}

/** A request that the mock server received, with what it sent, unmasked. */
export interface Request {
  readonly entry: Entry
  /** When it arrived, in milliseconds. */
  readonly at: number
  readonly authorization: string | undefined
  readonly target: string
  /** The values of the headers other than Authorization. */
  readonly headers: ReadonlyArray<string>
  readonly host: string | undefined
  readonly name: string | undefined
  /** In the form `yyyy-mm-dd`, if the request has it in the form of the document. */
  readonly dateOfBirth: string | undefined
}

/** What the client did for one person. */
export interface Check extends Reaction {
  readonly step: Step
  readonly person: Person
  readonly service: Service
  /** The requests that it sent meanwhile, the oldest first. */
  readonly requests: ReadonlyArray<Request>
}

/** Something that a client does wrong. `risky` is what neither the document nor a named practice forbids. */
export interface Finding {
  readonly verdict: "wrong" | "risky"
  /** The bug in one sentence, without a full stop. */
  readonly text: string
  /** The labels of the steps that show it, where they matter. */
  readonly steps: ReadonlyArray<string>
  readonly change: string
  /** The sentence of the service document, or the practice. */
  readonly basis: string
  /** The exchange that shows it. */
  readonly request?: Request | undefined
  /** The line of the client's text that shows it, masked. */
  readonly line?: string
}

/** What a judge knows of the client beside the checks. */
export interface Driver {
  /** Whether a command checks each person. */
  readonly isCommand: boolean
  /** Whether each check is a new process, which keeps no token. */
  readonly isProcess: boolean
  /** Whether the client has one customer for all days. */
  readonly isShared: boolean
  /** Whether the client responds to an applicant. */
  readonly isEndpoint: boolean
  /** Whether a person operates the client, one check after the other. */
  readonly isOperated: boolean
  /** Whether the mock server refuses the checks of the client, so that the days replace its responses. */
  readonly isSubstituted: boolean
  /** How long the test waits for a check, as a text. */
  readonly patience: string
  /** The checks of the days before, if the client is the same. */
  readonly history: ReadonlyArray<Check>
}

export type Judge = (checks: ReadonlyArray<Check>, driver: Driver) => ReadonlyArray<Finding>

export interface Day {
  readonly word: string
  readonly title: string
  readonly steps: ReadonlyArray<Step>
  /** The finding if the client clears persons whom it must not clear. */
  readonly cleared: Omit<Finding, "steps">
  /** Judges of this day only. */
  readonly judges: ReadonlyArray<Judge>
  /** The key of the customer, if it matters. */
  readonly customerKey?: string
  /** Whether the client waits in vain, so that this day should begin first. */
  readonly isLong: boolean
  /** Whether all checks but the first run at once. A client of the service that can forget its token does so before. */
  readonly isSimultaneous: boolean
  /** Why this day cannot be tested with this client, if it cannot. */
  readonly notTested: (driver: Driver) => string | undefined
}
