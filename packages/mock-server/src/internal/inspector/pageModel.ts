/** What a page is about: a session, or the requests that carry none. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Journal from "../../Journal.ts"
import type * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import type { Armed } from "../session/faultBoard.ts"

/** - `path`: of its page. `title`: its name for a person. */
export interface Place {
  readonly path: string
  readonly title: string
  readonly journal: Journal.Journal
  readonly session: Option.Option<Session.Session>
}

export const root = "/_mock/ui"

/** Not below the root, where a customer may have any name. */
export const strangersPath = "/_mock/strangers/ui"

export const pathOf = (customerId: string): string => `${root}/${encodeURIComponent(customerId)}`

const ofSession = (session: Session.Session): Place => ({
  path: pathOf(session.customerId),
  title: session.customerId,
  journal: session.journal,
  session: Option.some(session)
})

/** The place of a customer, as long as it has a session. */
export const find = (customerId: string): Effect.Effect<Option.Option<Place>, never, Session.Sessions> =>
  Effect.flatMap(Session.Sessions, ({ known }) => Effect.map(known(customerId), Option.map(ofSession)))

export const strangers: Effect.Effect<Place, never, Session.Sessions> = Effect.map(Session.Sessions, (sessions) => ({
  path: strangersPath,
  title: "Requests without a session",
  journal: sessions.unmatched,
  session: Option.none()
}))

/** - `ahead`: how far before the real time its own is, in milliseconds. */
export interface ClockState {
  readonly now: number
  readonly frozen: boolean
  readonly ahead: number
}

export interface SessionState {
  readonly customerId: string
  readonly clock: ClockState
  readonly faults: ReadonlyArray<Armed>
  readonly profile: Profile.Profile
}

/**
 * A place at one moment.
 *
 * - `total`: how many exchanges there were since the last clearing, with those that are not kept.
 * - `customers`: of all sessions.
 */
export interface State {
  readonly place: Place
  readonly entries: ReadonlyArray<Journal.Entry>
  readonly total: number
  readonly session: Option.Option<SessionState>
  readonly customers: ReadonlyArray<string>
  readonly strangers: number
}

export const clockOf = ({ clock }: Session.Session): Effect.Effect<ClockState> =>
  Effect.zipWith(
    clock.read,
    Clock.currentTimeMillis,
    ({ frozen, now }, real) => ({ frozen, now, ahead: now - real })
  )

export const sessionState = (session: Session.Session): Effect.Effect<SessionState> =>
  Effect.all({
    customerId: Effect.succeed(session.customerId),
    clock: clockOf(session),
    faults: session.faults.list,
    profile: Ref.get(session.profile)
  })

const totalOf = ({ dropped, entries }: Journal.Journal) =>
  Effect.zipWith(entries, dropped, ({ length }, dropped) => length + dropped)

export const read = (place: Place): Effect.Effect<State, never, Session.Sessions> =>
  Effect.gen(function*() {
    const sessions = yield* Session.Sessions
    return {
      place,
      entries: yield* place.journal.entries,
      total: yield* totalOf(place.journal),
      session: yield* Option.match(place.session, {
        onNone: () => Effect.succeedNone,
        onSome: (session) => Effect.asSome(sessionState(session))
      }),
      customers: (yield* sessions.list).map(({ customerId }) => customerId),
      strangers: yield* totalOf(sessions.unmatched)
    }
  })
