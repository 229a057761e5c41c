/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The exchanges of a page: filters on the whole journal, one page of rows, and buttons for the other pages. */
import * as Option from "effect/Option"
import * as TestPerson from "../../TestPerson.ts"
import { Form, Panel } from "./components.tsx"
import { columns, Row } from "./exchangeRow.tsx"
import * as JournalView from "./journalView.ts"
import type { State } from "./pageModel.ts"

export const Count = ({ entries, total }: Pick<State, "entries" | "total">) => {
  const unexpected = entries.filter(({ unexpected }) => unexpected).length
  return (
    <span id="exchange-count" class="muted">
      {total === 1 ? "1 request" : `${total} requests`}
      {total > entries.length && `, the latest ${entries.length} kept`}
      {unexpected > 0 && `, ${unexpected} unexpected`}
    </span>
  )
}

type SelectName = keyof JournalView.View["choices"]

const labels: Readonly<Record<SelectName, string>> = {
  session: "Session",
  status: "Status",
  operation: "Operation",
  rule: "Rule",
  fault: "Fault"
}

/** Choices that stand for several values. */
const groups: Readonly<Partial<Record<SelectName, readonly [value: string, text: string]>>> = {
  status: [JournalView.anyError, "errors (400 to 599)"],
  fault: [JournalView.anyFault, "any fault"]
}

const selectNames = ["session", "status", "operation", "rule", "fault"] as const satisfies ReadonlyArray<SelectName>

interface SelectProperties {
  readonly name: SelectName
  readonly view: State["view"]
}

const Options = ({ name, view: { choices, request } }: SelectProperties) => {
  const chosen = request.filter[name] ?? ""
  const options = [
    ["", name === "session" ? "this one" : "all"] as const,
    ...groups[name] === undefined ? [] : [groups[name]],
    ...choices[name].map(([value, count]) => [value, `${value} (${count})`] as const)
  ]
  return (
    <>
      {options.map(([value, text]) => <option value={value} selected={value === chosen} key={value}>{text}</option>)}
    </>
  )
}

/** Updated live. The script copies the options into the filters, because a filter must keep what the user selected. */
export const FilterOptions = ({ unmatched, view }: Pick<State, "unmatched" | "view">) => (
  <div id="filter-options" hidden data-unmatched={unmatched > 0 ? "" : undefined}>
    {selectNames.map((name) => (
      <select data-of={`filter-${name}`} key={name}>
        <Options name={name} view={view} />
      </select>
    ))}
  </div>
)

const Select = ({ name, view }: SelectProperties) => {
  const id = `filter-${name}`
  return (
    <div class="field">
      <label for={id}>{labels[name]}</label>
      <select id={id} name={name}>
        <Options name={name} view={view} />
      </select>
    </div>
  )
}

const Filters = ({ page: { path }, view }: Pick<State, "page" | "view">) => {
  const { filter } = view.request
  return (
    <Form
      action={`${path}/exchanges`}
      panel="exchanges"
      class="fields filters"
      id="filters"
      label="Filter the requests"
    >
      {selectNames.map((name) => <Select name={name} view={view} key={name} />)}
      <div class="field">
        <label for="filter-lastWord">Last word</label>
        <input
          id="filter-lastWord"
          name="lastWord"
          list="last-words"
          autocomplete="off"
          spellcheck={false}
          value={filter.lastWord ?? ""}
        />
        <datalist id="last-words">
          {TestPerson.reserved.map(({ lastWord }) => <option value={lastWord} key={lastWord} />)}
        </datalist>
      </div>
      <label class="check">
        <input
          type="checkbox"
          id="only-unexpected"
          name="unexpected"
          value="true"
          checked={filter.unexpected === "true"}
        />{" "}
        Unexpected
      </label>
      <button type="submit">Filter</button>
    </Form>
  )
}

/** Ends the search, so that the latest exchanges appear live. */
const ShowAll = ({ path }: { readonly path: string }) => (
  <Form action={`${path}/exchanges`} panel="exchanges">
    <button type="submit">Show all</button>
  </Form>
)

const shownRange = ({ matches, newerCount, request, rows }: State["view"]): string =>
  `${newerCount + 1} to ${newerCount + rows.length} of ${matches}${
    Object.keys(request.filter).length > 0 ? " that match" : ""
  }`

/**
 * The buttons for other pages, with the filter in hidden fields. The script sends the form again when a new exchange
 * arrives that the shown page may have to include. On the latest page the script keeps the button up to date.
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
      hx-trigger="submit, refresh"
      hx-target="#exchanges"
      hx-swap="outerMorph"
      hx-sync="this:replace"
    >
      {JournalView.filterNames.map((name) => {
        const value = request.filter[name]
        return value === undefined ? null : <input type="hidden" name={name} value={value} key={name} />
      })}
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
    {JournalView.isLatest(request) || entries.length === 0 && !JournalView.isWithoutSession(request)
      ? "No requests yet. Send the commands above in a terminal, or run a check on the tab Send: the request appears here."
      : (
        <>
          No request matches. Choose other filters, or show all requests.
          {total > entries.length && ` The journal keeps only the latest ${entries.length}.`}
        </>
      )}
  </p>
)

/** The script inserts new rows only into the table of the latest page. */
export const ExchangesPanel = (state: State) => {
  const { entries, page, total, unmatched, view } = state
  return (
    <Panel id="exchanges" title="Requests" note={<Count entries={entries} total={total} />}>
      <Form action={`${page.path}/exchanges/clear`} panel="exchanges" class="clear-exchanges">
        <button type="submit" class="small">Clear</button>
      </Form>
      <Filters page={page} view={view} />
      <FilterOptions view={view} unmatched={unmatched} />
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
            {!JournalView.isLatest(view.request) && <ShowAll path={page.path} />}
          </div>
        </div>
        <section id="detail" aria-label="The selected request" aria-live="polite" hx-morph-skip=""></section>
      </div>
    </Panel>
  )
}
