/** @jsxRuntime automatic */
/** @jsxImportSource preact */
/** The HTML documents around the panels. */
import type { ComponentChildren } from "preact"
import type * as Journal from "../../Journal.ts"
import { ClockPanel } from "./clockPanel.tsx"
import { Panel } from "./components.tsx"
import { Exchange } from "./exchangeRow.tsx"
import { ExchangesPanel } from "./exchangesPanel.tsx"
import { FaultsPanel } from "./faultsPanel.tsx"
import type { SentForm } from "./forms.ts"
import { type Page, root, type State } from "./pageModel.ts"
import { ProfilePanel } from "./profilePanel.tsx"
import { SendPanel } from "./sendPanel.tsx"
import { StartPanel } from "./startPanel.tsx"
import { TestPersonsPanel } from "./testPersonsPanel.tsx"

/** The content of each tab, and the clock beside them. */
const panels = {
  clock: ClockPanel,
  exchanges: (state: State) => (
    <>
      <StartPanel {...state} />
      <ExchangesPanel {...state} />
    </>
  ),
  faults: FaultsPanel,
  profile: ProfilePanel,
  "test-persons": TestPersonsPanel,
  send: SendPanel
}

export type PanelId = keyof typeof panels

/** `sent` is a form of the panel that is shown again. */
export const PanelOf = (
  { id, sent, state }: { readonly id: PanelId; readonly state: State; readonly sent?: SentForm | undefined }
) => {
  const Content = panels[id]
  return <Content {...state} sent={sent} />
}

/** Disables what the content security policy forbids, such as the inline style of htmx. */
const htmxConfig = JSON.stringify({ includeIndicatorCSS: false, history: false, extensions: "sse" })

const icon = "data:image/svg+xml," + encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='#3451b2'/>" +
    "<path d='M4 5.5h8M4 8h5M4 10.5h7' stroke='#fff' stroke-width='1.5' stroke-linecap='round'/></svg>"
)

const Document = (
  { assets, children, title }: {
    readonly assets: string
    readonly title: string
    readonly children: ComponentChildren
  }
) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="htmx-config" content={htmxConfig} />
      <title>{`${title} – idv-mock`}</title>
      <link rel="icon" href={icon} />
      <link rel="stylesheet" href={`${assets}/style.css`} />
      {/* Not deferred: htmx would start between two deferred scripts, before its extension is loaded. */}
      <script src={`${assets}/htmx.js`} />
      <script src={`${assets}/hx-sse.js`} />
      <script src={`${assets}/inspector.js`} />
    </head>
    <body>
      <a class="skip" href="#main">Skip to the requests</a>
      {children}
    </body>
  </html>
)

/** Updated live, because sessions begin and end while the page is open. */
export const Sessions = (
  { current, customers }: { readonly current: string | undefined; readonly customers: ReadonlyArray<string> }
) => (
  <form method="get" action={root} id="sessions" class="switch" aria-label="Session">
    <label for="session">Session</label>
    <select id="session" name="session">
      {current === undefined && <option value="" selected>–</option>}
      {customers.map((customerId) => (
        <option value={customerId} selected={customerId === current} key={customerId}>{customerId}</option>
      ))}
    </select>
    <button type="submit" class="small">Open</button>
  </form>
)

const Bar = (
  { children, current, customers }: {
    readonly current: string | undefined
    readonly customers: ReadonlyArray<string>
    readonly children?: ComponentChildren
  }
) => (
  <header class="bar">
    <a class="brand" href={root}>idv-mock</a>
    <a class="api" href="/_mock/docs">API</a>
    <Sessions current={current} customers={customers} />
    {children}
  </header>
)

const tabs = [
  ["exchanges", "Requests"],
  ["faults", "Faults"],
  ["profile", "Profile"],
  ["test-persons", "Test persons"],
  ["send", "Send"]
] as const

/** Links to the panels, and the last message. With the script the links are tabs, of which one is shown. */
const Tabs = ({ message }: { readonly message: string }) => (
  <nav aria-label="Parts of the page">
    <div role="tablist" aria-label="Parts of the page">
      {tabs.map(([id, title]) => (
        <a
          href={`#${id}`}
          role="tab"
          id={`tab-${id}`}
          aria-controls={`pane-${id}`}
          aria-selected={id === "exchanges"}
          key={id}
        >
          {title}
        </a>
      ))}
    </div>
    <p id="message" role="status">{message}</p>
  </nav>
)

/** A form that its panel shows again, and a sentence about it. */
export interface Sent {
  readonly panel: PanelId
  readonly form: SentForm
  readonly message: string
}

/** The page of a session. */
export const OverviewPage = (
  { assets, cursor, sent, state }: {
    readonly assets: string
    /** How far this document shows the exchanges: see `liveUpdates.tsx`. */
    readonly cursor: string
    readonly state: State
    readonly sent: Sent | undefined
  }
) => {
  const { customers, page: { path, session: { customerId } } } = state
  return (
    <Document assets={assets} title={customerId}>
      <Bar current={customerId} customers={customers}>
        <ClockPanel {...state} />
        <div id="live" hx-sse:connect={`${path}/events?after=${cursor}`} hx-sse:close="gone">
          <span id="live-state" role="status">not live</span>
        </div>
      </Bar>
      <Tabs message={sent?.message ?? ""} />
      <main id="main">
        <h1 class="hidden">{customerId}</h1>
        {/* The script shows one of them. Updates replace the panel inside. */}
        {tabs.map(([id]) => (
          <div
            id={`pane-${id}`}
            class={id === "exchanges" ? "pane shown" : "pane"}
            role="tabpanel"
            aria-labelledby={`tab-${id}`}
            key={id}
          >
            <PanelOf id={id} state={state} sent={sent?.panel === id ? sent.form : undefined} />
          </div>
        ))}
      </main>
    </Document>
  )
}

/** One exchange, at its own address. */
export const ExchangePage = (
  { assets, customers, entry, page }: {
    readonly assets: string
    readonly customers: ReadonlyArray<string>
    readonly page: Page
    readonly entry: Journal.Entry
  }
) => (
  <Document assets={assets} title={`Request ${entry.id}`}>
    <Bar current={page.session.customerId} customers={customers} />
    <main id="main">
      <h1>Request {entry.id}</h1>
      <p>
        <a href={page.path}>All requests of {page.session.customerId}</a>
      </p>
      <Panel id="exchange" title={`${entry.request.method} ${entry.request.target}`}>
        <Exchange entry={entry} page={page} />
      </Panel>
    </main>
  </Document>
)

/** An error, such as a session that does not exist. */
export const ErrorPage = (
  { assets, children, customers, title }: {
    readonly assets: string
    readonly title: string
    readonly customers: ReadonlyArray<string>
    readonly children: ComponentChildren
  }
) => (
  <Document assets={assets} title={title}>
    <Bar current={undefined} customers={customers} />
    <main id="main" class="error-page">
      <h1>{title}</h1>
      {children}
    </main>
  </Document>
)

/** The content of an error page: the customer has no session. It says how to begin one. */
export const NoSession = ({ customerId }: { readonly customerId: string }) => (
  <>
    <p>
      There is no session of <strong class="mono">{customerId}</strong>.
    </p>
    {customerId.startsWith("test-")
      ? (
        <form method="post" action={root}>
          <p>
            The session of a test customer begins with its first token request, and ends when 1,000 other test customers
            were used since. You can also begin it now:
          </p>
          <input type="hidden" name="session" value={customerId} />
          <button type="submit" class="primary">Begin the session</button>
        </form>
      )
      : (
        <p>
          Start the server with <code>--customer</code>, create the session with the{" "}
          <a href="/_mock/docs">control API</a>, or use a customer id that begins with <code>test-</code>.
        </p>
      )}
    <p>The sessions of this server are in the list at the top.</p>
  </>
)
