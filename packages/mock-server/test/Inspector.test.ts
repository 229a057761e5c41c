import { Control, Session } from "@effect-idv/mock-server"
import { FetchHttpClient, FileSystem, HttpClient } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Deferred, Effect, Schema } from "effect"
import { createRequire } from "node:module"
import type { Page, Request } from "playwright-core"
import * as Browser from "./support/browser.ts"
import { accessToken, start } from "./support/inspected.ts"

const Axe = Schema.Struct({
  violations: Schema.Array(Schema.Struct({
    id: Schema.String,
    nodes: Schema.Array(Schema.Struct({ html: Schema.String, failureSummary: Schema.optional(Schema.String) }))
  }))
})

/** The violations that axe-core finds on a page, by all of its rules or by one. */
const audit = (tab: Browser.Tab, rule?: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const source = yield* fs.readFileString(createRequire(import.meta.url).resolve("axe-core/axe.min.js"))
    yield* tab.act((page) => page.evaluate(source))
    const result = yield* Schema.decodeUnknown(Axe)(
      yield* tab.act((page) =>
        page.evaluate(`axe.run(${rule === undefined ? "" : JSON.stringify({ runOnly: [rule] })})`)
      )
    )
    return result.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ failureSummary, html }) => `${id}: ${html} ${failureSummary}`)
    )
  }).pipe(Effect.provide(NodeContext.layer))

/** The visible elements that are wider than the window or than the element around them, which hides the rest. */
const overflowing = `[...document.querySelectorAll("body, body *")].filter((element) =>
  element.checkVisibility() && element.closest("pre, .hidden, svg") === null && (
    element.getBoundingClientRect().right > innerWidth + 0.5 ||
    !["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName) && getComputedStyle(element).display !== "inline" &&
      element.scrollWidth > element.clientWidth + 1
  )
).map(({ outerHTML }) => outerHTML.slice(0, 80))`

/** Opens a tab of the page, such as `faults`. */
const show = (tab: Browser.Tab, id: string) => tab.act((page) => page.click(`#tab-${id}`))

const statuses = (tab: Browser.Tab) =>
  tab.act((page) => page.locator("#exchange-table > tbody .status").allInnerTexts())

describe("The page", { concurrent: true }, () =>
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.scoped("sends a request by keyboard, and shows the exchange", () =>
      Effect.gen(function*() {
        const { page } = yield* start
        const tab = yield* Browser.open(page)
        yield* tab.lives
        const press = (key: string) => tab.act((page) => page.keyboard.press(key))
        const focused = tab.act((page) =>
          page.evaluate("document.activeElement.id || document.activeElement.textContent")
        )
        yield* press("Tab")
        strictEqual(yield* focused, "Skip to the requests")
        for (let i = 0; i < 20 && (yield* focused) !== "tab-exchanges"; i++) yield* press("Tab")
        yield* press("End")
        strictEqual(yield* focused, "tab-send")
        yield* press("Tab")
        strictEqual(yield* focused, "Check")
        for (let i = 0; i < 20 && (yield* focused) !== "own-request"; i++) yield* press("Tab")
        yield* press("Tab")
        strictEqual(yield* focused, "Send")
        yield* press("Enter")

        yield* tab.sees("#sent .reason", "No: the name ends with Testclear")
        strictEqual(yield* focused, "Send")
        const wire = (yield* tab.act((page) => page.locator("#sent pre").allTextContents())).join("\n")
        assertInclude(wire, "POST /api/aml HTTP/1.1")
        assertInclude(wire, "authorization: Bearer ***")
        assertInclude(wire, "\"name\": \"*** Testclear\"")
        assertInclude(wire, "\"match_found\": \"No\"")
        yield* tab.sees("#exchange-1 .why", "No: the name ends with Testclear")
        deepStrictEqual(yield* statuses(tab), ["200"])
      }))

    it.scoped("sets a fault, and shows the failed request live with the reason", () =>
      Effect.gen(function*() {
        const { check, page, token } = yield* start
        const tab = yield* Browser.open(page)
        yield* tab.lives
        yield* tab.act((page) => page.evaluate("window.isStillThere = true"))
        const own = accessToken(yield* token())
        yield* show(tab, "faults")
        yield* tab.act((page) => page.selectOption("#fault-what", "status"))
        yield* tab.act((page) => page.selectOption("#fault-when", "nth"))
        yield* tab.act((page) => page.fill("#fault-when-nth-n", "2"))
        yield* tab.act((page) => page.fill("#fault-ttl", "10 minutes"))
        yield* tab.act((page) => page.click("text=Set the fault"))
        yield* tab.sees("#fault-list", "0 of 0")
        yield* tab.sees("#fault-list .when", "for 600000 ms")

        deepStrictEqual([yield* check(own, "Ada Testclear"), yield* check(own, "Ada Testclear")], [200, 503])
        yield* tab.sees("#exchange-3.failure .status", "503")
        yield* tab.sees(
          "#exchange-3 .why",
          "Returned status 503 instead of the service's response: fault f1, at its request 2"
        )
        yield* tab.sees("#fault-list", "1 of 2")
        deepStrictEqual(yield* statuses(tab), ["503", "200", "200"])

        // Anywhere in the row.
        yield* show(tab, "exchanges")
        yield* tab.act((page) => page.click("#exchange-3 .why"))
        yield* tab.sees("#detail pre", "HTTP/1.1 503 Service Unavailable")
        yield* tab.sees("#detail pre", "\"name\": \"*** Testclear\"")
        strictEqual(yield* tab.act((page) => page.getAttribute("#exchange-3 button.open", "aria-current")), "true")

        yield* show(tab, "faults")
        yield* tab.act((page) => page.click("text=Remove"))
        yield* tab.sees("#fault-list", "No faults set")
        strictEqual(yield* tab.act((page) => page.evaluate("document.activeElement.textContent")), "Faults")
        strictEqual(yield* check(own, "Ada Testclear"), 200)
        yield* tab.sees("#exchange-4 .status", "200")
        strictEqual(yield* tab.act((page) => page.evaluate("window.isStillThere")), true)
      }))

    it.scoped("finds a request, its reason, sets a fault and moves the clock with fewer than 25 keys", () =>
      Effect.gen(function*() {
        const { check, control, page, token } = yield* start
        const own = accessToken(yield* token())
        for (const lastWord of ["Testclear", "Test500", ...Array.from({ length: 12 }, () => "Testclear")]) {
          yield* check(own, `Ada ${lastWord}`)
        }
        const tab = yield* Browser.open(page, { viewport: { width: 1280, height: 800 } })
        yield* tab.lives
        const visible = yield* tab.act((page) =>
          page.locator("#exchange-table > tbody").evaluateAll((rows) =>
            rows.filter((row) => row.getBoundingClientRect().bottom <= 800).length
          )
        )
        strictEqual(visible >= 12, true, `${visible} rows`)

        let keys = 0
        const press = (key: string) => Effect.suspend(() => (keys++, tab.act((page) => page.keyboard.press(key))))
        const focused = tab.act((page) => page.evaluate("document.activeElement.textContent.trim()"))
        yield* press("Tab")
        yield* press("Enter")
        strictEqual(yield* focused, "15")
        yield* press("End")
        yield* press("ArrowUp")
        yield* press("ArrowUp")
        yield* tab.sees(
          "#detail .reason",
          "Returned status 500 instead of the service's response: the name ends with Test500"
        )
        yield* press("Tab")
        strictEqual(yield* focused, "Fail the next one")
        yield* press("Enter")
        yield* tab.sees("#message", "Fault f1 set: status on aml")
        while ((yield* focused) !== "+61 min" && keys < 25) yield* press("Shift+Tab")
        yield* press("Enter")
        yield* tab.sees("#clock", "1h 1m ahead of real time")
        strictEqual(keys < 25, true, `${keys} keys`)
        const { faults } = Context.get(control, Control.Control).session("demo-customer")
        deepStrictEqual((yield* faults).map(({ fault: { on, what } }) => [on, what.kind]), [["aml", "status"]])
      }))

    it.scoped("shows changes of others live: the profile, a fault, the clock, a session", () =>
      Effect.gen(function*() {
        const { control, page, token } = yield* start
        const { advance, changeProfile, clearJournal, fault, freeze } = Context.get(control, Control.Control).session(
          "demo-customer"
        )
        yield* token()
        const tab = yield* Browser.open(page)
        yield* tab.lives
        yield* changeProfile({ preset: "strict", tokenField: "accessToken" })
        yield* tab.sees("#profile tr.changed #profile-tokenParameters option[selected]", "400 invalid_request")
        yield* tab.sees("#curl", "\"accessToken\"")
        yield* fault({ on: "both", what: { kind: "drip" } })
        yield* tab.sees("#fault-list", "drip")
        yield* advance("61 minutes")
        yield* tab.sees("#clock", "1h 1m ahead of real time")
        yield* freeze
        yield* tab.sees("#clock", "frozen")
        const now = tab.act((page) => page.innerText("#now"))
        const frozen = yield* now
        yield* token(Session.testCustomer("test-other"))
        yield* tab.sees("#session option", "test-other")
        // A connection that is not closed would try again, and replace the message.
        const other = yield* Browser.open(`${page}/test-other`)
        yield* other.lives
        const listen =
          "closing = new Promise((done) => addEventListener('htmx:sse:close', ({ detail }) => done(detail.reason)))"
        yield* other.act((page) => page.evaluate(`void (${listen})`))
        yield* Context.get(control, Control.Control).session("test-other").remove
        strictEqual(yield* other.act((page) => page.evaluate("closing")), "message")
        yield* other.sees("#message", "This session was removed")
        yield* clearJournal
        yield* tab.sees("#exchange-count", "0 requests")
        // More than a second has passed, because the page looks for such changes once a second.
        strictEqual(yield* now, frozen)
        deepStrictEqual(yield* statuses(tab), [])
      }))

    it.scoped("shows a problem beside its field, which keeps the typed text", () =>
      Effect.gen(function*() {
        const { page } = yield* start
        const tab = yield* Browser.open(page)
        yield* tab.lives
        yield* show(tab, "faults")
        yield* tab.act((page) => page.fill("#fault-text", "aml:nonsense"))
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-text-error", "what.kind is invalid: expected one of latency, status")
        strictEqual(yield* tab.act((page) => page.inputValue("#fault-text")), "aml:nonsense")
        strictEqual(yield* tab.act((page) => page.getAttribute("#fault-text", "aria-invalid")), "true")

        yield* tab.act((page) => page.selectOption("#fault-when", "every"))
        yield* tab.act((page) => page.fill("#fault-when-every-n", "-1"))
        yield* tab.act((page) => page.click("text=Set the fault"))
        yield* tab.sees("#fault-when-every-n-error", "when.n is invalid: expected a whole number from 1")
        strictEqual(yield* tab.act((page) => page.inputValue("#fault-when")), "every")
        // Only the fields of the selected options are visible, and their values make the fault.
        yield* tab.act((page) => page.selectOption("#fault-when", "first"))
        yield* tab.act((page) => page.fill("#fault-when-first-n", "7"))
        yield* tab.act((page) => page.selectOption("#fault-what", "latency"))
        yield* tab.act((page) => page.selectOption("#fault-what-latency-distribution", "uniform"))
        yield* tab.act((page) => page.fill("#fault-what-latency-distribution-uniform-max", "20 millis"))
        deepStrictEqual(
          yield* tab.act((page) =>
            page.locator("#fault-form input").evaluateAll((inputs) =>
              inputs.filter((input) => input.checkVisibility()).map(({ id }) => id)
            )
          ),
          [
            "fault-what-latency-distribution-uniform-min",
            "fault-what-latency-distribution-uniform-max",
            "fault-when-first-n",
            "fault-ttl"
          ]
        )
        yield* tab.act((page) => page.click("text=Set the fault"))
        yield* tab.sees("#fault-list", "\"max\":20")
        yield* tab.sees("#fault-list", "first n: 7")

        yield* tab.act((page) =>
          page.fill("#fault-text", "{\"on\":\"token\",\"what\":{\"kind\":\"hang\"},\"id\":\"mine\"}")
        )
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-list", "mine")
        strictEqual(yield* tab.act((page) => page.inputValue("#fault-text")), "")
        strictEqual(yield* tab.act((page) => page.locator("#fault-text-error").count()), 0)
      }))

    it.scoped("shows typed and sent text as text, even if it looks like HTML", () =>
      Effect.gen(function*() {
        const { page, url } = yield* start
        const canary = "\"><script>window.isRun = true</script><img src=x onerror=isRun=true>' </hx-partial> Testpep"
        const tab = yield* Browser.open(page)
        yield* tab.lives
        yield* show(tab, "send")
        const sent = "POST /api/aml\nauthorization: Bearer <token>\ncontent-type: application/json\n\n" +
          JSON.stringify({ entity_type: "person", name: canary, dob: "01-02-1990" })
        yield* tab.act((page) => page.fill("#own-request", sent))
        yield* tab.act((page) => page.click("#send-form button"))
        yield* tab.sees("#sent .reason", "Potential match")
        strictEqual(yield* tab.act((page) => page.inputValue("#own-request")), sent)

        yield* show(tab, "faults")
        yield* tab.act((page) => page.fill("#fault-text", canary))
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-text-error")
        strictEqual(yield* tab.act((page) => page.inputValue("#fault-text")), canary)

        yield* HttpClient.get(`${url}/<script>isRun=1</script>`).pipe(Effect.provide(FetchHttpClient.layer))
        yield* show(tab, "exchanges")
        yield* tab.sees("#exchange-count", "1 without a session")
        yield* tab.act((page) => page.check("#without-session"))
        yield* tab.act((page) => page.click("#filters button"))
        yield* tab.sees("#message", "1 request matches")
        yield* tab.act((page) => page.click("#exchange-table > tbody .why"))
        yield* tab.sees("#detail pre", "GET /***")
        strictEqual(yield* tab.act((page) => page.evaluate("typeof isRun")), "undefined")
        strictEqual(yield* tab.act((page) => page.locator("main script, main img").count()), 0)
        // Further requests without a session arrive in the filtered list.
        yield* HttpClient.get(`${url}/elsewhere`).pipe(Effect.provide(FetchHttpClient.layer))
        yield* tab.sees("#exchange-table > tbody + tbody")
      }))

    it.scoped("shows the last search, also if the list was requested again before it and arrives later", () =>
      Effect.gen(function*() {
        const { check, page, token } = yield* start
        const own = accessToken(yield* token())
        yield* check(own, "Ada Lovelace")
        yield* check(own, "Ada Test503")
        const tab = yield* Browser.open(page)
        yield* tab.lives
        const search = (text: string) =>
          tab.act((page) => page.fill("#search", text).then(() => page.click("#filters button")))
        yield* search("LOVELACE")
        yield* tab.sees("#message", "1 request matches")

        const isHeld = yield* Deferred.make<void>()
        const isEnded = yield* Deferred.make<boolean>()
        let release = () => {}
        const released = new Promise<void>((resolve) => release = resolve)
        yield* tab.act((page) => {
          const end = (isAborted: boolean) => (request: Request) => {
            if (request.postData()?.includes("LOVELACE") === true) {
              Deferred.unsafeDone(isEnded, Effect.succeed(isAborted))
            }
          }
          page.on("requestfailed", end(true)).on("requestfinished", end(false))
          return page.route("**/exchanges", (route) => {
            if (!route.request().postData()?.includes("LOVELACE")) return route.continue()
            Deferred.unsafeDone(isHeld, Effect.void)
            // The page may have aborted the request meanwhile.
            return released.then(() => route.continue()).catch(() => {})
          })
        })
        yield* check(own, "Grace Lovelace")
        yield* Deferred.await(isHeld)
        yield* search("aml 503")
        yield* tab.sees("#exchange-3")
        release()
        strictEqual(yield* Deferred.await(isEnded), true)
        deepStrictEqual(yield* statuses(tab), ["503"])
      }))

    it.scoped("keeps the list, an older page and a search up to date", () =>
      Effect.gen(function*() {
        const { check, page, token } = yield* start
        const wrong = token({ ...Session.demoCustomer, customerKey: Session.testKey })
        const many = (n: number) => Effect.replicateEffect(token(), n, { concurrency: 10, discard: true })
        const own = accessToken(yield* token())
        yield* check(own, "Ada Lovelace")
        yield* check(own, "Ada Test500")
        yield* wrong
        yield* many(30)
        const tab = yield* Browser.open(page)
        yield* tab.lives
        const ids = tab.act((page) =>
          page.locator("#exchange-table > tbody").evaluateAll((rows) =>
            rows.map(({ id }) => Number(id.replace("exchange-", "")))
          )
        )
        const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index)
        const press = (name: string) => tab.act((page) => page.click(`.pages >> text=${name}`))
        const search = (fill: (page: Page) => Promise<unknown>) =>
          Effect.zipRight(tab.act(fill), tab.act((page) => page.click("#filters button")))
        deepStrictEqual(yield* ids, range(34, 10))

        // On the latest page the rows arrive live, and the button leads to the row after the last one.
        yield* many(2)
        yield* tab.sees("#exchange-36")
        deepStrictEqual(yield* ids, range(36, 12))
        // An older page stays as it is when requests arrive.
        yield* press("Older")
        yield* tab.sees(".pages", "26 to 36 of 36")
        deepStrictEqual(yield* ids, range(11, 1))
        yield* many(1)
        yield* tab.sees(".pages", "27 to 37 of 37")
        deepStrictEqual(yield* ids, range(11, 1))

        yield* search((page) => page.fill("#search", "LOVELACE"))
        yield* tab.sees("#message", "1 request matches")
        deepStrictEqual(yield* ids, [2])
        yield* tab.act((page) => page.click("#exchange-2 button.open"))
        yield* tab.sees("#detail pre", "\"name\": \"***\"")
        yield* tab.act((page) => page.evaluate("document.activeElement.blur()"))
        yield* check(own, "Grace Lovelace")
        yield* tab.sees("#exchange-38 .why", "No: the name is not reserved")
        // The new list takes no focus, and so does not scroll the page.
        strictEqual(yield* tab.act((page) => page.evaluate("document.activeElement === document.body")), true)
        deepStrictEqual(yield* ids, [38, 2])
        strictEqual(yield* tab.act((page) => page.isVisible("#detail pre")), true)

        yield* check(own, "Ada Test503")
        yield* search((page) => page.fill("#search", "aml 503"))
        yield* tab.sees("#exchange-39")
        deepStrictEqual(yield* ids, [39])
        yield* search((page) => page.fill("#search", "unexpected"))
        yield* tab.sees("#exchange-4")
        deepStrictEqual(yield* ids, [4])
        yield* wrong
        yield* tab.sees("#exchange-40")
        deepStrictEqual(yield* ids, [40, 4])

        // Clearing the journal ends the search.
        yield* tab.act((page) => page.click(".clear-exchanges button"))
        yield* tab.sees("#exchange-count", "0 requests")
        strictEqual(yield* tab.act((page) => page.inputValue("#search")), "")
        yield* token()
        yield* tab.sees("#exchange-41")
      }))

    it.scoped("shows every part of the page without a script", () =>
      Effect.gen(function*() {
        const { page } = yield* start
        const tab = yield* Browser.open(page, { javaScriptEnabled: false })
        yield* tab.act((page) => page.fill("#fault-text", "aml:status=500"))
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-list", "500")
        yield* tab.act((page) => page.click("#send-form button"))
        yield* tab.sees("#sent .reason", "Returned status 500")
        yield* tab.act((page) => page.click("#exchange-1 noscript a"))
        yield* tab.sees("h1", "Request 1")
      }))

    it.scoped("has no accessibility violation by axe-core, in light and dark, and fits 390 px", () =>
      Effect.gen(function*() {
        const { check, page, profileOf, token } = yield* start
        const own = accessToken(yield* token())
        yield* check(own, "Ada Test500")
        yield* check(own, "Ada Testcut")
        yield* token({ ...Session.demoCustomer, customerKey: Session.testKey })
        const tab = yield* Browser.open(page, { bypassCSP: true, mayComplain: true })
        yield* tab.lives
        yield* show(tab, "faults")
        yield* tab.act((page) => page.fill("#fault-text", "aml:latency=1 second:every=3"))
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-list", "latency")
        yield* tab.act((page) => page.fill("#fault-text", "none"))
        yield* tab.act((page) => page.press("#fault-text", "Enter"))
        yield* tab.sees("#fault-text-error")
        const profile = yield* profileOf(own, "Zoë Testpep")
        yield* show(tab, "exchanges")
        yield* tab.act((page) => page.click("#start summary"))
        yield* tab.act((page) => page.click("#exchange-2 button.open"))
        yield* tab.sees("#detail .facts")
        yield* tab.act((page) => page.setViewportSize({ width: 390, height: 844 }))
        deepStrictEqual(yield* tab.act((page) => page.evaluate(overflowing)), [], "the detail")
        yield* tab.act((page) => page.click("#detail .close"))
        strictEqual(yield* tab.act((page) => page.isVisible("#detail")), false)
        const bar = yield* tab.act((page) => page.locator(".bar").boundingBox())
        strictEqual((bar?.height ?? 100) < 75, true, `two lines, and it is ${bar?.height} high`)
        for (const id of ["exchanges", "profile", "test-persons", "send", "faults"]) {
          yield* show(tab, id)
          deepStrictEqual(yield* tab.act((page) => page.evaluate(overflowing)), [], id)
        }
        for (const what of ["status", "latency", "quota"]) {
          yield* tab.act((page) => page.selectOption("#fault-what", what))
          deepStrictEqual(yield* tab.act((page) => page.evaluate(overflowing)), [], what)
        }
        yield* show(tab, "send")
        yield* tab.act((page) => page.click("text=ISO date of birth"))
        yield* tab.sees("#message", "Example")
        yield* tab.act((page) => page.click("#send-form button"))
        yield* tab.sees("#sent .status", "422")
        deepStrictEqual(yield* tab.act((page) => page.evaluate(overflowing)), [], "a sent request")
        yield* tab.act((page) => page.setViewportSize({ width: 1280, height: 900 }))
        const empty = `${page}/test-empty`
        yield* token(Session.testCustomer("test-empty"))
        // All tabs at once, as without a script: one audit covers them.
        const showAll = tab.act((page) => page.addStyleTag({ content: ".pane { display: grid !important }" }))
        for (const address of ["", profile, `${page}/test-nobody`, empty]) {
          if (address === "") yield* showAll
          else yield* tab.act((page) => page.goto(address))
          if (address === profile) yield* tab.sees("dd", "Zoë Testpep")
          if (address === empty) {
            yield* tab.act((page) => page.fill("#search", "nobody"))
            yield* tab.act((page) => page.press("#search", "Enter"))
            yield* tab.sees("#exchanges .empty", "No request matches")
          }
          yield* tab.act((page) => page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" }))
          deepStrictEqual(yield* audit(tab), [], `${address} in light`)
          // Only the contrast depends on the scheme.
          yield* tab.act((page) => page.emulateMedia({ colorScheme: "dark" }))
          deepStrictEqual(yield* audit(tab, "color-contrast"), [], `${address} in dark`)
        }
        deepStrictEqual(tab.problems.filter((problem) => !problem.includes("404")), [])
      }))
  }))
