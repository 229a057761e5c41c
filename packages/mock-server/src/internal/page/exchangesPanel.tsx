/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The exchanges of a page: a search in the whole journal, one page of rows, and buttons for the other pages. */
import * as Option from "effect/Option"
import * as TestPerson from "../../TestPerson.ts"
import { Form, Panel, TextField } from "./components.tsx"
import { columns, Row } from "./exchangeRow.tsx"
import * as JournalView from "./journalView.ts"
import type { State } from "./pageModel.ts"

/** Updated live. The script requests a filtered list again when it changes. */
export const Count = ({ entries, total, unmatched }: Pick<State, "entries" | "total" | "unmatched">) => {
  const unexpected = entries.filter(({ unexpected }) => unexpected).length
  return (
    <span id="exchange-count" class="muted" data-unmatched={unmatched > 0 ? "" : undefined}>
      {total === 1 ? "1 request" : `${total} requests`}
      {total > entries.length && `, the latest ${entries.length} kept`}
      {unexpected > 0 && `, ${unexpected} unexpected`}
      {unmatched > 0 && `; ${unmatched} without a session`}
    </span>
  )
}

/** Of the forms that change the list, the last one counts. It also replaces a refresh of the list. */
const lastChoice = "#exchanges:replace"

const Search = ({ page: { path }, view: { request } }: Pick<State, "page" | "view">) => (
  <Form
    action={`${path}/exchanges`}
    panel="exchanges"
    class="fields filters"
    id="filters"
    label="Search the requests"
    sync={lastChoice}
  >
    <TextField
      id="search"
      name="search"
      label="Search"
      placeholder="503, aml, fault, or a last word"
      kind="text"
      list="searches"
      value={request.search}
      sent={undefined}
    />
    <datalist id="searches">
      {["error", "fault", "unexpected", "token", "aml", ...TestPerson.reserved.map(({ lastWord }) => lastWord)].map((
        word
      ) => <option value={word} key={word} />)}
    </datalist>
    <label class="check">
      <input type="checkbox" id="without-session" name="session" value="none" checked={request.isWithoutSession} />{" "}
      Without a session
    </label>
    <button type="submit">Search</button>
  </Form>
)

/** Ends the search, so that the latest exchanges appear live. */
const ShowAll = ({ path }: { readonly path: string }) => (
  <Form action={`${path}/exchanges`} panel="exchanges" sync={lastChoice}>
    <button type="submit">Show all</button>
  </Form>
)

const shownRange = ({ matches, newerCount, request, rows }: State["view"]): string =>
  `${newerCount + 1} to ${newerCount + rows.length} of ${matches}${
    JournalView.isFiltered(request) ? " that match" : ""
  }`

/**
 * The buttons for other pages, with the search in hidden fields. On the latest page the script keeps the button up to
 * date.
 */
const Pages = ({ page: { path }, view }: Pick<State, "page" | "view">) => {
  const { newer, older, request } = view
  const isLatest = JournalView.isLatest(request)
  return (
    <form
      id="exchange-pages"
      method="post"
      action={`${path}/exchanges#exchanges`}
      aria-label="Pages of requests"
      hidden={isLatest ? Option.isNone(older) : view.rows.length === 0}
      hx-post={`${path}/exchanges`}
      hx-target="#exchanges"
      hx-swap="outerMorph"
      hx-sync={lastChoice}
    >
      <input type="hidden" name="search" value={request.search} />
      <input type="hidden" name="session" value={request.isWithoutSession ? "none" : ""} />
      <input type="hidden" name="before" value={Option.getOrElse(Option.map(request.before, String), () => "")} />
      <p class="muted">{isLatest ? `The latest ${JournalView.pageSize}` : shownRange(view)}</p>
      <div class="buttons">
        <button type="submit" name="to" value="" disabled={Option.isNone(newer)}>Latest</button>
        <button type="submit" name="to" value={Option.getOrElse(newer, () => "")} disabled={Option.isNone(newer)}>
          Newer
        </button>
        <button
          type="submit"
          id="older"
          name="to"
          value={Option.getOrElse(older, () => "")}
          disabled={!isLatest && Option.isNone(older)}
        >
          Older
        </button>
      </div>
    </form>
  )
}

const Empty = ({ entries, total, view: { request } }: State) => (
  <p class="empty">
    {JournalView.isLatest(request) || entries.length === 0 && !request.isWithoutSession
      ? "No requests yet. Run the commands above in a terminal, or use the tab Send: the request appears here."
      : (
        <>
          No request matches. Search for other words, or show all requests.
          {total > entries.length && ` The journal keeps only the latest ${entries.length}.`}
        </>
      )}
  </p>
)

/**
 * Requests the shown page again, when the script sees a new exchange that it may have to include. A choice of the user
 * goes first: what was shown before it must not replace its response.
 */
const Refresh = ({ path }: { readonly path: string }) => (
  <span
    id="exchange-refresh"
    hidden
    hx-post={`${path}/exchanges`}
    hx-trigger="refresh"
    hx-include="#exchange-pages"
    hx-target="#exchanges"
    hx-swap="outerMorph"
    hx-sync="#exchanges:abort"
  />
)

/** The script inserts new rows only into the table of the latest page. */
export const ExchangesPanel = (state: State) => {
  const { page, view } = state
  return (
    <Panel id="exchanges" title="Requests" note={<Count {...state} />}>
      <Form action={`${page.path}/exchanges/clear`} panel="exchanges" class="clear-exchanges" sync={lastChoice}>
        <button type="submit" class="small">Clear</button>
      </Form>
      <Search page={page} view={view} />
      <div class="split">
        <div class="list">
          <table
            class="exchanges"
            id="exchange-table"
            data-latest={JournalView.isLatest(view.request) ? "" : undefined}
          >
            <caption class="hidden">Newest first. The arrow keys move in the list, and the detail follows.</caption>
            <thead id="exchange-head">
              <tr>{columns.map((column) => <th scope="col" key={column}>{column}</th>)}</tr>
            </thead>
            {view.rows.map((row) => <Row path={page.path} row={row} key={row.entry.id} />)}
          </table>
          <Empty {...state} />
          <div class="pages">
            <Pages page={page} view={view} />
            <Refresh path={page.path} />
            {!JournalView.isLatest(view.request) && <ShowAll path={page.path} />}
          </div>
        </div>
        <section id="detail" aria-label="The selected request" aria-live="polite" hx-morph-skip=""></section>
      </div>
    </Panel>
  )
}
