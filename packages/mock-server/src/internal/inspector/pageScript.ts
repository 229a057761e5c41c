/** The page's own script, for what htmx has no attribute for. It is a string, so that the build copies no files. */
import { maxRows, maxUnexpected } from "./exchangesPanel.tsx"

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

const toggle = (button) => {
  const detail = document.getElementById(button.getAttribute("aria-controls"))
  detail.hidden = !detail.hidden
  button.setAttribute("aria-expanded", String(!detail.hidden))
}

const copy = (text) =>
  (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(
    () => showMessage("Copied: " + text),
    () => showMessage("Not copied: browsers allow copying only on localhost and over HTTPS")
  )

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button") : null
  if (button === null) return
  if (button.hasAttribute("aria-controls")) toggle(button)
  if (button.dataset.copy !== undefined) copy(button.dataset.copy)
})

// If the pressed button was removed with its row, the panel receives the focus.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  if (ctx.request?.method === "POST" && document.activeElement === document.body) {
    document.getElementById(ctx.target?.id)?.querySelector("h2")?.focus()
  }
})

// htmx keeps what the user typed, even if the server returned an empty field.
document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
  const form = ctx.sourceElement
  if (ctx.request?.method === "POST" && form.dataset.resets !== undefined) form.reset()
})

// Removes rows that arrived twice, by an event and with a panel, and rows beyond the limits.
document.addEventListener("htmx:after:swap", () => {
  const seen = new Set()
  for (const row of document.querySelectorAll("#exchange-table > tbody")) {
    const isOlder = seen.size >= ${maxRows}
    const isKept = !isOlder || row.classList.contains("unexpected") && seen.size < ${maxUnexpected}
    if (seen.has(row.id) || !isKept) row.remove()
    else {
      seen.add(row.id)
      row.classList.toggle("older", isOlder)
    }
  }
})

const showLive = (state, text) => {
  const shown = document.getElementById("live-state")
  shown.className = state
  if (shown.textContent !== text) shown.textContent = text
}
document.addEventListener("htmx:sse:after:connection", () => showLive("on", "live"))
document.addEventListener("htmx:sse:before:connection", ({ detail }) => {
  if (detail.connection.attempt > 0) showLive("off", "reconnecting")
})
document.addEventListener("gone", () => {
  showLive("off", "ended")
  showMessage("This session was removed")
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
  if (!Number.isNaN(now.getTime())) shown.textContent = now.toISOString().slice(0, 19).replace("T", " ")
}
tick()
setInterval(tick, 250)
`
