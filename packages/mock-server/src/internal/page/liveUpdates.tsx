/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/**
 * Live updates of a page: server-sent events with the HTML of what changed. The state is read after each exchange, and
 * every second, because a change of the clock, a fault or the profile is not announced.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { VNode } from "preact"
import { render } from "preact-render-to-string"
import * as Session from "../../Session.ts"
import * as Lifecycle from "../wire/lifecycle.ts"
import { ClockPanel, description } from "./clockPanel.tsx"
import { Row } from "./exchangeRow.tsx"
import { Count, ExchangesPanel } from "./exchangesPanel.tsx"
import { FaultList } from "./faultsPanel.tsx"
import { Sessions } from "./page.tsx"
import type { Page, State } from "./pageModel.ts"
import * as PageModel from "./pageModel.ts"
import { ProfilePanel } from "./profilePanel.tsx"
import { StartPanel } from "./startPanel.tsx"
import { TestPersonsPanel } from "./testPersonsPanel.tsx"

/** How far a browser has received the exchanges of a page. */
export interface Cursor {
  /** The run of the server. The ids of exchanges begin at 1 with each. */
  readonly run: string
  /** How many exchanges there were. A smaller number means that the journal was cleared. */
  readonly total: number
  /** The id of the last one. */
  readonly last: number
}

export const cursorOf = (run: string, { entries, total }: Pick<State, "entries" | "total">): Cursor => ({
  run,
  total,
  last: entries.at(-1)?.id ?? 0
})

export const formatCursor = ({ last, run, total }: Cursor): string => `${run}.${total}.${last}`

/** An invalid text is the cursor of a browser that has received nothing. */
export const parseCursor = (text: string): Cursor => {
  const [, run = "", total, last] = /^([a-z0-9]+)\.(\d{1,15})\.(\d{1,15})$/.exec(text) ?? []
  return { run, total: Number(total ?? 0), last: Number(last ?? 0) }
}

/** New content for one element of the page. htmx accepts several in one response. */
export const partial = (target: string, swap: "outerMorph" | "afterend" | "textContent", content: string): string =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${content}</hx-partial>`

const replacing = (target: string, content: VNode): string => partial(target, "outerMorph", render(content))

interface Panel {
  readonly target: string
  /** What the panel shows, to compare with what it showed before: most panels never change, so none is rendered before. */
  readonly key: string
  readonly html: () => string
}

const panels = (state: State): ReadonlyArray<Panel> => {
  const { clock, customers, faults, options, page: { session }, testPersons, total, unmatched } = state
  const panel = (target: string, key: unknown, content: () => VNode): Panel => ({
    target,
    key: JSON.stringify(key),
    html: () => replacing(target, content())
  })
  return [
    panel("#sessions", customers, () => <Sessions current={session.customerId} customers={customers} />),
    panel("#exchange-count", [total, unmatched], () => <Count {...state} />),
    panel("#start", [options.profile, total === 0], () => <StartPanel {...state} />),
    // The time of a running clock always differs.
    panel("#clock", clock.frozen ? clock.now : description(clock), () => <ClockPanel {...state} />),
    panel("#fault-list", faults, () => <FaultList {...state} />),
    panel("#profile", options, () => <ProfilePanel {...state} />),
    panel("#test-persons", testPersons, () => <TestPersonsPanel {...state} />)
  ]
}

const exchanges = (known: Cursor, cursor: Cursor, state: State): string => {
  const { page: { path }, total, view } = state
  if (known.run !== cursor.run || total < known.total) return replacing("#exchanges", <ExchangesPanel {...state} />)
  const rows = view.rows.filter(({ entry: { id } }) => id > known.last)
  return rows.length === 0 ? "" : partial(
    "#exchange-head",
    "afterend",
    render(
      <>
        {rows.map((row) => <Row path={path} row={row} isNew key={row.entry.id} />)}
      </>
    )
  )
}

const event = (id: string, data: string): string =>
  `id: ${id}\n${data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`).join("\n")}\n\n`

/** Tells the browser to stop listening. */
const gone = "event: gone\ndata: gone\n\n"

interface Known {
  readonly cursor: Cursor
  readonly keys: ReadonlyMap<string, string>
  /** How many exchanges and unmatched requests there were when the page was last compared. */
  readonly counts: readonly [exchanges: number, unmatched: number]
  /** In how many turns it is compared again if there are new exchanges, and if there are none. */
  readonly wait: number
  readonly idle: number
}

const nothingShown = (cursor: Cursor): Known => ({ cursor, keys: new Map(), counts: [0, 0], wait: 0, idle: 0 })

const difference = (run: string, known: Known, state: State): readonly [Known, string] => {
  const cursor = cursorOf(run, state)
  const now = panels(state)
  const html = exchanges(known.cursor, cursor, state) +
    now.filter(({ key, target }) => known.keys.get(target) !== key).map(({ html }) => html()).join("")
  return [
    {
      cursor,
      keys: new Map(now.map(({ key, target }) => [target, key])),
      counts: [state.total, state.unmatched],
      wait: html === "" ? 0 : turnsAfterEvent,
      idle: turnsWithoutExchange
    },
    html === "" ? "" : event(formatCursor(cursor), html)
  ]
}

const exists = ({ session }: Page): Effect.Effect<boolean, never, Session.Sessions> =>
  Effect.flatMap(Session.Sessions, ({ known }) => Effect.map(known(session.customerId), Option.contains(session)))

/** A turn looks for new exchanges by their numbers, which costs nothing per exchange, however many pages are open. */
const turn = "100 millis"

/** Exchanges of a busy server are sent together. */
const turnsAfterEvent = 4

/** The clock, the faults and the profile are compared every second. */
const turnsWithoutExchange = 10

const countsOf = (page: Page) =>
  Effect.flatMap(
    Session.Sessions,
    ({ unmatched }) => Effect.all([PageModel.totalOf(page.session.journal), PageModel.totalOf(unmatched)])
  )

const next = (run: string, page: Page, known: Known) =>
  Effect.gen(function*() {
    const { idle, wait } = known
    const [exchanges, unmatched] = yield* countsOf(page)
    const isNew = exchanges !== known.counts[0] || unmatched !== known.counts[1]
    if (isNew ? wait > 0 : idle > 0) return [{ ...known, wait: wait - 1, idle: idle - 1 }, ""] as const
    return (yield* exists(page)) ? difference(run, known, yield* PageModel.read(page)) : [known, gone] as const
  })

/**
 * The changes after `cursor`, until the session is removed or the server stops. The first event has every panel, because
 * anything may have changed since the page was rendered.
 */
export const events = (
  run: string,
  page: Page,
  cursor: Cursor
): Stream.Stream<Uint8Array, never, Session.Sessions | Lifecycle.Lifecycle> =>
  Stream.unwrap(Effect.gen(function*() {
    const { stopping } = yield* Lifecycle.Lifecycle
    const heartbeat = Stream.as(Stream.drop(Stream.tick("15 seconds"), 1), ": still here\n\n")
    const changes = Stream.tick(turn).pipe(
      Stream.mapAccumEffect(nothingShown(cursor), (known) => next(run, page, known)),
      Stream.filter((text) => text !== "")
    )
    return Stream.merge(changes, heartbeat).pipe(
      Stream.takeUntil((text) => text === gone),
      Stream.interruptWhen(stopping),
      Stream.encodeText
    )
  }))
