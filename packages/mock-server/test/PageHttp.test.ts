/** The page without a browser: its documents, its forms with and without the script, and its live updates. */
import { Control, Session } from "@effect-idv/mock-server"
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertMatch, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Deferred, Effect, Exit, Fiber, Redacted, Scope, Stream } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { accessToken, start } from "./support/inspected.ts"

const entities: Readonly<Record<string, string>> = { quot: "\"", amp: "&", lt: "<", gt: ">", "#39": "'" }

const decoded = (text: string) => text.replaceAll(/&(quot|amp|lt|gt|#39);/g, (_, name: string) => entities[name] ?? "")

/** What a reader sees of a document or of a part of one, in one line. */
const visible = (html: string) => decoded(html.replaceAll(/<[^>]*>/g, "")).replaceAll(/\s+/g, " ")

interface Shown {
  readonly status: number
  readonly url: string
  readonly html: string
  readonly text: string
}

const shown = (url: string, init?: RequestInit): Effect.Effect<Shown> =>
  Effect.promise(() =>
    fetch(url, init).then((response) =>
      response.text().then((html) => ({
        status: response.status,
        url: response.url,
        html,
        text: visible(html)
      }))
    )
  )

type Fields = Readonly<Record<string, string>>

/** Sends a form of a page as a browser without a script does. The page must have the form. */
const submit = (page: string, path: string, fields: Fields) =>
  Effect.flatMap(shown(page), ({ html }) => {
    const action = `${new URL(page).pathname.replace(/\/$/, "")}${path}`
    assertMatch(html, new RegExp(`action="${action}(#[a-z-]+)?"`))
    return shown(new URL(action, page).href, { method: "POST", body: new URLSearchParams(fields) })
  })

/** Sends a form as the script does, and returns a part of the page. */
const swap = (page: string, path: string, fields: Fields) =>
  shown(`${page}${path}`, { method: "POST", body: new URLSearchParams(fields), headers: { "hx-request": "true" } })

const run = (commands: string) =>
  Effect.promise(() => promisify(execFile)("sh", ["-c", commands]).then(({ stdout }) => stdout))

const events = (url: string) =>
  HttpClient.get(url).pipe(
    Effect.map(({ stream }) => stream),
    Stream.unwrap,
    Stream.decodeText(),
    Stream.provideLayer(FetchHttpClient.layer)
  )

const firstEvent = (url: string) => Effect.map(Stream.runCollect(Stream.take(events(url), 1)), ([text = ""]) => text)

/** Whether the event replaces the whole list, instead of adding rows to it. */
const isWhole = (event: string) => event.includes("hx-target=\"#exchanges\" hx-swap=\"outerMorph\"")

describe("The page over HTTP", () => {
  it.scopedLive("works without a script by forms and redirects", () =>
    Effect.gen(function*() {
      const { page: root } = yield* start
      const missing = yield* shown(`${root}/test-quiet`)
      strictEqual(missing.status, 404)
      assertInclude(missing.text, "No such session")
      assertInclude(missing.html, `value="demo-customer"`)
      assertInclude(missing.html, "action=\"/_mock/ui\"")
      const begun = yield* shown(root, { method: "POST", body: new URLSearchParams({ session: "test-quiet" }) })
      const page = `${root}/test-quiet`
      strictEqual(begun.url, page)
      assertInclude((yield* submit(page, "/clock", { advance: "61 minutes" })).text, "1h 1m ahead of real time")
      assertInclude((yield* submit(page, "/faults/text", { text: "aml:status=500" })).text, "0 of 0 requests")
      const check = yield* submit(page, "/send/example", { example: "Check" })
      const requestIn = ({ html }: Shown) => decoded(/<textarea[^>]*>([^<]*)/.exec(html)?.[1] ?? "")
      assertInclude((yield* submit(page, "/send", { request: requestIn(check) })).text, "Returned status 500")
      const detail = yield* shown(`${page}/exchanges/1`)
      assertInclude(detail.text, "Request 1")
      assertInclude(
        detail.text,
        "Returned status 500 instead of the service's response: fault f1, at its request 1"
      )
      const unknown = yield* submit(page, "/send/example", { example: "Unknown token" })
      assertInclude(unknown.text, "Bearer unknown")
      assertInclude((yield* submit(page, "/send", { request: requestIn(unknown) })).text, "HTTP/1.1 401 Unauthorized")
      const found = yield* submit(page, "/exchanges", { search: "500" })
      assertInclude(found.html, "id=\"exchange-1\"")
      strictEqual(found.html.includes("id=\"exchange-2\""), false)
      strictEqual((yield* submit(page, "/faults/remove", { id: "f1" })).text.includes("0 of 0 requests"), false)
      const refused = yield* submit(page, "/faults/text", { text: "aml:nonsense" })
      strictEqual(refused.status, 422)
      // The form of a fault that another page removed.
      const removed = yield* shown(`${page}/faults/remove`, { method: "POST", body: new URLSearchParams({ id: "f1" }) })
      strictEqual(removed.status, 422)
      assertInclude(removed.html, "<p id=\"message\" role=\"status\">Not applied: ")
      assertInclude(refused.text, "what.kind is invalid: expected one of latency, status")
    }))

  it.scopedLive("changes the profile and the clock, and what the server then does", () =>
    Effect.gen(function*() {
      const { check, control, page: root, token } = yield* start
      const { profile } = Context.get(control, Control.Control).session("demo-customer")
      const page = `${root}/demo-customer`
      const own = accessToken(yield* token())
      assertInclude((yield* swap(page, "/clock", { advance: "61 minutes" })).text, "Clock: 1h 1m ahead of real time")
      strictEqual(yield* check(own, "Ada Testclear"), 401)
      assertInclude((yield* shown(page)).text, "The token is expired, by this session's clock")
      assertInclude((yield* swap(page, "/clock", { frozen: "true" })).text, "Clock: frozen")
      assertInclude((yield* swap(page, "/clock", { real: "true" })).text, "Clock: real time")
      strictEqual(yield* check(own, "Ada Testclear"), 200)

      assertInclude((yield* swap(page, "/profile", { tokenField: "accessToken" })).text, "Profile changed")
      assertInclude(JSON.stringify(yield* token()), "\"accessToken\":")
      strictEqual((yield* profile).tokenField, "accessToken")
      assertInclude(
        (yield* swap(page, "/profile", { preset: "hostile" })).text,
        "Profile changed to the preset hostile"
      )
      strictEqual((yield* profile).credVersion, "1.7")
    }))

  it.scopedLive("answers the person of a request with another response, without showing the person", () =>
    Effect.gen(function*() {
      const { check, page: root, token } = yield* start
      const page = `${root}/demo-customer`
      const own = accessToken(yield* token())
      yield* check(own, "Grace Canary")
      assertInclude((yield* shown(`${page}/exchanges/2`)).html, `action="/_mock/ui/demo-customer/test-persons/like`)
      const { html, text } = yield* swap(page, "/test-persons/like", { id: "2", response: "status" })
      assertInclude(text, "The next checks of this person receive: status")
      assertInclude(text, "name and dateOfBirth")
      deepStrictEqual([yield* check(own, "Grace Canary"), yield* check(own, "Grace Other")], [503, 200])
      strictEqual((html + (yield* shown(page)).html).includes("Canary"), false)
    }))

  it.scopedLive("names the field of a problem, and keeps what was typed", () =>
    Effect.gen(function*() {
      const { page: root } = yield* start
      const page = `${root}/demo-customer`
      const hello = yield* swap(page, "/send", { request: "hello" })
      assertMatch(hello.html, /id="own-request-error"[^>]*>[^<]*expected a first line such as POST \/api\/aml HTTP/)
      assertMatch(hello.html, /<textarea[^>]*>hello</)
      // HTML drops a line feed after the tag, so there is one more.
      for (const request of ["\nhello", "\r\nhello"]) {
        assertMatch((yield* swap(page, "/send", { request })).html, new RegExp(`<textarea[^>]*>\n${request}<`))
      }
      assertInclude((yield* swap(page, "/send", { request: "A".repeat(70_000) })).text, "The form is too long")
    }))

  it.scopedLive("shows the requests that it sends", () =>
    Effect.gen(function*() {
      const { page: root } = yield* start
      const page = `${root}/demo-customer`
      assertInclude((yield* shown(page)).text, "POST /api/aml HTTP/1.1")
      const example = "POST /api/aml\nauthorization: Bearer <token>"
      assertInclude(
        (yield* swap(page, "/send", { request: example })).text,
        "The content type of this operation is application/json"
      )
    }))

  it.scopedLive("shows each session separately, and the requests without one", () =>
    Effect.gen(function*() {
      const { check, page: root, token, url } = yield* start
      const [one, other] = [Session.testCustomer("test-one"), Session.testCustomer("test-a/b&c")]
      yield* check(accessToken(yield* token(one)), "Ada Testpep")
      yield* check(accessToken(yield* token(other)), "Ada Testclear")
      const opened = yield* shown(`${root}?session=${encodeURIComponent(other.customerId)}`)
      const page = `${root}/${encodeURIComponent(other.customerId)}`
      strictEqual(opened.url, page)
      assertInclude(opened.text, "No: the name ends with Testclear")
      strictEqual(opened.text.includes("Testpep:"), false)
      // The numbers count the requests of the session.
      deepStrictEqual(
        Array.from(opened.html.matchAll(/class="open[^>]*>(\d+)</g), ([, number]) => number),
        ["2", "1"]
      )
      assertInclude((yield* swap(page, "/clock", { advance: "2 hours" })).text, "2h ahead")
      assertMatch((yield* shown(`${root}/test-one`)).html, /<span class="muted real">UTC, real time</)

      yield* shown(`${url}/elsewhere`)
      const unmatched = yield* swap(page, "/exchanges", { session: "none" })
      assertInclude(unmatched.text, "1 request matches")
      assertInclude(unmatched.text, "GET /***")

      const cleared = yield* swap(page, "/exchanges/clear", {})
      assertInclude(cleared.text, "0 requests")
      assertInclude(cleared.text, "No requests yet. Run the commands above in a terminal")
    }))

  it.scopedLive("shows commands that a terminal runs as they are", () =>
    Effect.gen(function*() {
      const { control, page: root } = yield* start
      const { create, session } = Context.get(control, Control.Control)
      const page = `${root}/demo-customer`
      const [, origin = ""] = /^(.*)\/_mock/.exec(root) ?? []
      const { html } = yield* shown(page)
      const summary = visible(/<details id="start"[\s\S]*<\/dl>/.exec(html)?.[0] ?? "")
      for (const text of [`${origin}/oauth/service`, `${origin}/api/aml`, "demo-customer", "demo-key"]) {
        assertInclude(summary, text)
      }
      for (const tokenField of ["access_token", "accessToken", "token", "data.access_token", "text"] as const) {
        yield* session("demo-customer").changeProfile({ tokenField })
        const { html } = yield* shown(page)
        const [, commands = ""] = /data-copy="(token=[^"]*)"/.exec(html) ?? []
        assertInclude(yield* run(decoded(commands)), "\"match_found\":\"Potential match\"")
      }
      yield* create({ customerId: "acme", customerKey: Redacted.make("secret-key") })
      const acme = yield* shown(`${root}/acme`)
      assertInclude(acme.text, "curl -s -u acme -d")
      strictEqual(acme.html.includes("secret-key"), false)
    }))
})

describe("The events of the page", () => {
  it.scopedLive("send all exchanges to a page of an earlier run of the server, whatever its cursor", () =>
    Effect.gen(function*() {
      const { page, token } = yield* start
      const eventsAfter = (cursor: string) => firstEvent(`${page}/demo-customer/events?after=${cursor}`)
      for (let count = 0; count < 3; count++) yield* token()
      const [, run = ""] = /^id: ([a-z0-9]+)\.3\.3$/m.exec(yield* eventsAfter("0.0.0")) ?? []

      for (const cursor of ["earlierrun.0.0", "earlierrun.1.1", "earlierrun.3.3", `x${run}.3.3`, ".3.3", ""]) {
        const event = yield* eventsAfter(cursor)
        strictEqual(isWhole(event), true, cursor)
        for (const id of [1, 2, 3]) assertInclude(event, `id="exchange-${id}"`)
      }

      const later = yield* eventsAfter(`${run}.1.1`)
      strictEqual(isWhole(later), false)
      deepStrictEqual([...new Set(later.match(/(?<=id="exchange-)\d+/g))], ["3", "2"])
    }))

  it.scopedLive("begin after the exchanges of the document, and end when the server stops", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { page, token } = yield* Scope.extend(start, scope)
      yield* token()
      yield* token()
      const { html } = yield* shown(`${page}/demo-customer`)
      const [, cursor = ""] = /after=([a-z0-9]+\.2\.2)"/.exec(html) ?? []
      yield* token()
      const first = yield* firstEvent(`${page}/demo-customer/events?after=${cursor}`)
      assertInclude(first, "id=\"exchange-3\"")
      strictEqual(first.includes("id=\"exchange-2\""), false)
      assertMatch(first, /^id: [a-z0-9]+\.3\.3$/m)
      // The list of sessions is part of the event, because sessions begin while the page is open.
      assertInclude(first, "hx-target=\"#sessions\"")

      const began = yield* Deferred.make<void>()
      const reader = yield* events(`${page}/demo-customer/events`).pipe(
        Stream.runForEach(() => Deferred.succeed(began, undefined)),
        Effect.fork
      )
      yield* Deferred.await(began)
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(reader)
    }))
})
