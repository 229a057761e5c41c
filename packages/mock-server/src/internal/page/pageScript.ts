/** The page's own script, for what htmx has no attribute for. It is a string, so that the build copies no files. */
import { pageSize } from "./journalView.ts"

export const script = `"use strict"
document.documentElement.classList.add("scripted")

// htmx 4.0.1 passes options to this function, and Chromium 143 rejects them. Without it, htmx uses DOMParser.
try {
  Document.parseHTMLUnsafe?.("", {})
} catch {
  Document.parseHTMLUnsafe = undefined
}

const showMessage = (text) => {
  document.getElementById("message").textContent = text
}

const all = (selector) => [...document.querySelectorAll(selector)]

// Tabs: one is shown, and the address has its name.
const showTab = (tab) => {
  for (const other of all("[role=tab]")) {
    other.setAttribute("aria-selected", String(other === tab))
    other.tabIndex = other === tab ? 0 : -1
    document.getElementById(other.getAttribute("aria-controls")).classList.toggle("shown", other === tab)
  }
}

const showHash = () => {
  const tabs = all("[role=tab]")
  if (tabs.length > 0) showTab(tabs.find(({ hash }) => hash === location.hash) ?? tabs[0])
}

// The list is one stop: the arrow keys move in it, and the detail follows.
const openers = () => all("#exchange-table button.open")

const focusable = (opener) => {
  for (const other of openers()) other.tabIndex = other === opener ? 0 : -1
}

const rove = () => {
  if (openers().every(({ tabIndex }) => tabIndex === -1)) focusable(openers()[0])
}

const select = (opener) => {
  focusable(opener)
  for (const other of openers()) {
    if (other === opener) other.setAttribute("aria-current", "true")
    else other.removeAttribute("aria-current")
  }
}

document.addEventListener("DOMContentLoaded", () => {
  showHash()
  rove()
})
window.addEventListener("hashchange", showHash)

const step = (items, item, { key }) => {
  const at = items.indexOf(item)
  return {
    ArrowDown: items[at + 1],
    ArrowRight: items[at + 1],
    ArrowUp: items[at - 1],
    ArrowLeft: items[at - 1],
    Home: items[0],
    End: items.at(-1)
  }[key]
}

document.addEventListener("keydown", (event) => {
  const item = event.target.closest?.("[role=tab], button.open")
  if (!item) return
  const next = step(item.matches("[role=tab]") ? all("[role=tab]") : openers(), item, event)
  if (next === undefined) return
  event.preventDefault()
  next.focus()
  next.click()
})

const close = () => {
  document.getElementById("detail").replaceChildren()
  const opener = document.querySelector("#exchange-table [aria-current]")
  opener?.removeAttribute("aria-current")
  opener?.focus()
}

const copy = (text, name = text) =>
  (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(
    () => showMessage("Copied: " + name),
    () => showMessage("Not copied: browsers allow copying only on localhost and over HTTPS")
  )

document.addEventListener("click", (event) => {
  const { target } = event
  if (!(target instanceof Element)) return
  const button = target.closest("button")
  const tab = target.closest("[role=tab]")
  const row = target.closest("#exchange-table > tbody")
  if (tab !== null) {
    event.preventDefault()
    history.replaceState(null, "", tab.hash)
    showTab(tab)
  }
  if (target.closest(".skip") !== null && openers().length > 0) {
    event.preventDefault()
    openers().find(({ tabIndex }) => tabIndex === 0)?.focus()
  }
  if (button?.dataset.copy !== undefined) copy(button.dataset.copy, button.dataset.name)
  if (button?.classList.contains("close")) close()
  else if (button?.classList.contains("open")) select(button)
  else if (row !== null && target.closest("a") === null) row.querySelector("button.open").click()
})

document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  // On a narrow page, the detail would hide the row.
  if (ctx.target?.id === "detail") document.querySelector("#exchange-table [aria-current]")?.scrollIntoView({ block: "nearest" })
  if (ctx.request?.method !== "POST" || ctx.sourceElement.id === "exchange-refresh") return
  // If the pressed button was removed with its row, the panel receives the focus.
  if (document.activeElement === document.body) document.getElementById(ctx.target?.id)?.querySelector("h2")?.focus()
  // htmx keeps what the user typed, even if the server returned other values.
  const id = ctx.sourceElement.dataset.resets
  if (id !== undefined) document.getElementById(id)?.reset()
})

let isLatest = true

// A list that is filtered or shows older exchanges is requested again, at most every 300 ms.
let refreshing
const refresh = () => {
  refreshing ??= setTimeout(() => {
    refreshing = undefined
    document.getElementById("exchange-refresh")?.dispatchEvent(new Event("refresh"))
  }, 300)
}

// The latest page keeps its newest rows, each once: a row may arrive by an event and with the panel.
const trim = (rows) => {
  const older = document.getElementById("older")
  const seen = new Set()
  for (const row of rows) {
    if (seen.has(row.id)) row.remove()
    else if (seen.size >= ${pageSize}) {
      row.remove()
      older.form.hidden = false
    } else {
      seen.add(row.id)
      row.dataset.kept = ""
      older.value = row.id.replace("exchange-", "")
    }
  }
}

let shownCount

document.addEventListener("htmx:after:swap", () => {
  rove()
  const table = document.getElementById("exchange-table")
  if (table === null) return
  const wasLatest = isLatest
  isLatest = table.dataset.latest !== undefined
  const count = document.getElementById("exchange-count").textContent
  const isNew = shownCount !== undefined && shownCount !== count
  shownCount = count
  if (isLatest) {
    // The list was cleared during a search: the search ends.
    if (!wasLatest) document.getElementById("filters").reset()
    trim([...table.tBodies])
    return
  }
  for (const row of table.querySelectorAll("tbody.new:not([data-kept])")) row.remove()
  if (isNew) refresh()
})

// The server does not respond to a form.
document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
  if (ctx?.request?.method === "POST") showMessage("Not sent: the server does not respond. Start it again, and repeat")
})

const showLive = (state, text) => {
  const shown = document.getElementById("live-state")
  shown.className = state
  if (shown.textContent !== text) shown.textContent = text
}
document.addEventListener("htmx:sse:after:connection", () => {
  if (document.getElementById("live-state").className === "off") showMessage("The server responds again")
  showLive("on", "live")
})
document.addEventListener("htmx:sse:before:connection", ({ detail }) => {
  if (detail.connection.attempt > 0) {
    showLive("off", "no connection")
    showMessage("The server does not respond. The page continues by itself when the server runs again")
  }
})
document.addEventListener("gone", () => {
  showLive("off", "ended")
  showMessage("This session was removed, or 1,000 test customers were used since. Open another one above")
})

// The displayed time continues from the last time that the server sent.
let received
let receivedAt
const tick = () => {
  const shown = document.getElementById("now")
  if (shown === null) return
  const key = shown.dataset.now + shown.dataset.frozen
  if (received !== key) {
    received = key
    receivedAt = performance.now()
  }
  const passed = shown.dataset.frozen ? 0 : performance.now() - receivedAt
  const now = new Date(Number(shown.dataset.now) + passed)
  const text = Number.isNaN(now.getTime()) ? shown.textContent : now.toISOString().slice(0, 19).replace("T", " ")
  // An equal text would cost a layout.
  if (shown.textContent !== text) shown.textContent = text
}
tick()
setInterval(tick, 250)
`
