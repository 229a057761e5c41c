/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/**
 * The page, kept up to date: what changed of a place, as server-sent events of HTML. The state is
 * looked at whenever something is announced, and every second, so that nothing is missed: neither an
 * exchange between two looks, nor a fault that somebody else sets.
 */
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import * as Session from "../../Session.ts"
import * as Lifecycle from "../transport/lifecycle.ts"
import { ClockPanel, description } from "./clockPanel.tsx"
import { Count, ExchangesPanel, Row, rowsOf } from "./exchangesPanel.tsx"
import { FaultList } from "./faultsPanel.tsx"
import { Sessions } from "./page.tsx"
import type { Place, State } from "./pageModel.ts"
import * as Places from "./pageModel.ts"
import { ProfilePanel } from "./profilePanel.tsx"

/**
 * Up to where a page knows a place: the run of the server, for numbers begin anew with each; how
 * many exchanges there were, for there are less after they were cleared; and the last of them.
 */
export interface Cursor {
  readonly run: string
  readonly total: number
  readonly last: number
}

export const cursorOf = (run: string, { entries, total }: Pick<State, "entries" | "total">): Cursor => ({
  run,
  total,
  last: entries.at(-1)?.id ?? 0
})

export const formatCursor = ({ last, run, total }: Cursor): string => `${run}.${total}.${last}`

/** What is no cursor knows nothing. */
export const parseCursor = (text: string): Cursor => {
  const [, run = "", total, last] = /^([a-z0-9]+)\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  return { run, total: Number(total ?? 0), last: Number(last ?? 0) }
}

/** Content for a place of the page, as htmx takes several at once. */
export const partial = (target: string, swap: "outerMorph" | "afterend" | "textContent", content: string): string =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${content}</hx-partial>`

const replacing = (target: string, content: VNode): string => partial(target, "outerMorph", render(content))

interface Panel {
  readonly target: string
  /** What is compared: the time itself always differs. */
  readonly key: string
  readonly html: string
}

const panels = ({ customers, place: { path }, session, strangers }: State): ReadonlyArray<Panel> => {
  const own = Option.getOrUndefined(session)
  const panel = (target: string, content: VNode): Panel => {
    const html = replacing(target, content)
    return { target, key: html, html }
  }
  const header = panel(
    "#sessions",
    <Sessions current={own?.customerId} customers={customers} strangers={strangers} />
  )
  if (own === undefined) return [header]
  const { clock, faults, profile } = own
  return [
    header,
    {
      ...panel("#clock", <ClockPanel path={path} clock={clock} />),
      key: clock.frozen ? String(clock.now) : description(clock)
    },
    panel("#fault-list", <FaultList path={path} faults={faults} />),
    panel("#profile", <ProfilePanel path={path} profile={profile} />)
  ]
}

const exchanges = (known: Cursor, cursor: Cursor, state: State): string => {
  const { entries, place: { path }, total } = state
  if (known.run !== cursor.run || total < known.total) return replacing("#exchanges", <ExchangesPanel {...state} />)
  const rows = rowsOf(entries.filter(({ id }) => id > known.last))
  return rows.length === 0 ? "" : [
    partial(
      "#exchange-head",
      "afterend",
      render(
        <>
          {rows.map(({ entry, isOlder }) => <Row path={path} entry={entry} isOlder={isOlder} isNew key={entry.id} />)}
        </>
      )
    ),
    replacing("#exchange-count", <Count entries={entries} total={total} />)
  ].join("")
}

const event = (id: string, data: string): string =>
  `id: ${id}\n${data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`).join("\n")}\n\n`

/** The page stops listening. */
const gone = "event: gone\ndata: gone\n\n"

interface Known {
  readonly cursor: Cursor
  readonly keys: ReadonlyMap<string, string>
}

const nothingShown = (cursor: Cursor): Known => ({ cursor, keys: new Map() })

const difference = (run: string, known: Known, state: State): readonly [Known, string] => {
  const cursor = cursorOf(run, state)
  const now = panels(state)
  const html = exchanges(known.cursor, cursor, state) +
    now.filter(({ key, target }) => known.keys.get(target) !== key).map(({ html }) => html).join("")
  return [
    { cursor, keys: new Map(now.map(({ key, target }) => [target, key])) },
    html === "" ? "" : event(formatCursor(cursor), html)
  ]
}

const isThere = (place: Place): Effect.Effect<boolean, never, Session.Sessions> =>
  Option.match(place.session, {
    onNone: () => Effect.succeed(true),
    onSome: (session) =>
      Effect.flatMap(Session.Sessions, ({ known }) => Effect.map(known(session.customerId), Option.contains(session)))
  })

/** Not more often than this, however much happens. */
const pause = "50 millis"

/**
 * All that changes after `cursor`, until the place is gone or the server stops. The first event has
 * every panel: since the page was made, anything may have changed.
 */
export const events = (
  run: string,
  place: Place,
  cursor: Cursor
): Stream.Stream<Uint8Array, never, Session.Sessions | Lifecycle.Lifecycle> =>
  Stream.unwrap(Effect.gen(function*() {
    const { stopping } = yield* Lifecycle.Lifecycle
    const { unmatched } = yield* Session.Sessions
    const heartbeat = Stream.as(Stream.drop(Stream.tick("15 seconds"), 1), ": still here\n\n")
    const announced = [place.journal.changes, unmatched.changes].map(Stream.map(constVoid))
    const changes = Stream.mergeAll([...announced, Stream.tick("1 second")], { concurrency: "unbounded" }).pipe(
      Stream.buffer({ capacity: 1, strategy: "sliding" }),
      Stream.mapAccumEffect(nothingShown(cursor), (known) =>
        Effect.gen(function*() {
          yield* Effect.sleep(pause)
          return (yield* isThere(place)) ? difference(run, known, yield* Places.read(place)) : [known, gone] as const
        })),
      Stream.filter((text) => text !== "")
    )
    return Stream.merge(changes, heartbeat).pipe(
      Stream.takeUntil((text) => text === gone),
      Stream.interruptWhen(stopping),
      Stream.encodeText
    )
  }))
