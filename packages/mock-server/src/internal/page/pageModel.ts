/** The content of the page of a session. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Journal from "../../Journal.ts"
import * as Session from "../../Session.ts"
import type * as TestPerson from "../../TestPerson.ts"
import * as SessionOptions from "../operations/sessionOptions.ts"
import type { FaultState } from "../session/sessionFaults.ts"
import * as Request from "../wire/request.ts"
import * as JournalView from "./journalView.ts"

export interface Page {
  readonly path: string
  readonly session: Session.Session
  /** The address at which the user's browser reaches this server. */
  readonly origin: string
}

export const root = "/_mock/ui"

export const pathOf = (customerId: string): string => `${root}/${encodeURIComponent(customerId)}`

type Services = Session.Sessions | HttpServerRequest.HttpServerRequest

const origin = Effect.map(
  HttpServerRequest.HttpServerRequest,
  (request) => `${Request.isSecure(request) ? "https" : "http"}://${request.headers["host"] ?? "localhost"}`
)

/** The page of a customer, if a session exists. */
export const find = (customerId: string): Effect.Effect<Option.Option<Page>, never, Services> =>
  Effect.gen(function*() {
    const { known } = yield* Session.Sessions
    const address = yield* origin
    return Option.map(yield* known(customerId), (session) => ({
      path: pathOf(customerId),
      session,
      origin: address
    }))
  })

export interface ClockState {
  readonly now: number
  readonly frozen: boolean
  /** How far the clock is ahead of real time, in milliseconds. */
  readonly ahead: number
}

/** A page at one moment. */
export interface State {
  readonly page: Page
  readonly entries: ReadonlyArray<Journal.Entry>
  readonly view: JournalView.View
  /** How many exchanges the journal received since it was last cleared, with those that it no longer keeps. */
  readonly total: number
  readonly clock: ClockState
  readonly faults: ReadonlyArray<FaultState>
  readonly testPersons: ReadonlyArray<TestPerson.Listed>
  readonly options: Effect.Effect.Success<ReturnType<typeof SessionOptions.read>>
  /** The customer ids of all sessions. */
  readonly customers: ReadonlyArray<string>
  /** How many requests belong to no session. */
  readonly unmatched: number
}

export const clockOf = ({ clock }: Session.Session): Effect.Effect<ClockState> =>
  Effect.zipWith(
    clock.read,
    Clock.currentTimeMillis,
    ({ frozen, now }, real) => ({ frozen, now, ahead: now - real })
  )

export const totalOf = ({ dropped, entries }: Journal.Journal) =>
  Effect.zipWith(entries, dropped, ({ length }, dropped) => length + dropped)

/** The customer ids of all sessions. */
export const customers = Effect.flatMap(
  Session.Sessions,
  ({ list }) => Effect.map(list, (sessions) => sessions.map(({ customerId }) => customerId))
)

export const read = (
  page: Page,
  request: JournalView.Request = JournalView.latest
): Effect.Effect<State, never, Session.Sessions> =>
  Effect.gen(function*() {
    const sessions = yield* Session.Sessions
    const { session } = page
    const { journal } = session
    const entries = yield* journal.entries
    const listed = request.isWithoutSession ? sessions.unmatched : journal
    return {
      page,
      entries,
      view: JournalView.make(yield* listed.entries, request, yield* listed.dropped),
      total: yield* totalOf(journal),
      clock: yield* clockOf(session),
      faults: yield* session.faults.list,
      testPersons: yield* session.testPersons.list,
      options: yield* SessionOptions.read(session),
      customers: yield* customers,
      unmatched: yield* totalOf(sessions.unmatched)
    }
  })
