import * as Person from "@effect-idv/core/Person"
import { Fault, Session } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertMatch, assertNone, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Fiber, Option, Redacted, TestClock, TestServices } from "effect"
import * as RunCheck from "../src/internal/page/runCheck.ts"
import * as App from "../src/internal/server/app.ts"
import * as Profile from "../src/Profile.ts"

/** The result that the check form shows for a person, and its last exchange. */
const checked = (name: string, customer: Session.Customer = Session.demoCustomer) =>
  Effect.gen(function*() {
    const person = yield* Person.make({ name, dateOfBirth: "1990-02-01" })
    const { steps, verdict } = yield* RunCheck.run(customer, person, "http://localhost")
    return { steps, verdict, last: steps.at(-1) }
  })

const titles = (steps: ReadonlyArray<RunCheck.Step>) => steps.map(({ title }) => title)

const server = App.layer([Session.demoCustomer], {})

describe("The check form of the page", () => {
  it.live.each<[string, RunCheck.Verdict["outcome"], string]>([
    ["Testclear", "clear", "No"],
    ["Testpep", "potential", "Potential match"]
  ])(
    "shows the result about %s, with both exchanges and their journal entries",
    ([lastWord, outcome, text]) =>
      Effect.gen(function*() {
        const { steps, verdict } = yield* checked(`Ada ${lastWord}`)
        deepStrictEqual([verdict.outcome, verdict.text, Option.isSome(verdict.profile)], [outcome, text, true])
        deepStrictEqual(titles(steps), ["1. Token", "2. AML check"])
        deepStrictEqual(
          steps.map(({ end, entry }) => [end, Option.map(entry, ({ rule }) => rule)]),
          [[Option.none(), Option.some("token.granted")], [Option.none(), Option.some("aml.answered")]]
        )
      }).pipe(Effect.provide(server))
  )

  it.live.each<[string, number, string]>([
    ["Testempty", 200, "AmlResponseInvalid"],
    ["Test401", 401, "AmlUnauthorized"],
    ["Test403", 403, "AmlForbidden"],
    ["Test429", 429, "AmlRateLimited"],
    ["Test500", 500, "AmlUnavailable"],
    ["Test503", 503, "AmlUnavailable"]
  ])(
    "shows the response to %s, its empty body and the client's error",
    ([lastWord, status, tag]) =>
      Effect.gen(function*() {
        const { last, verdict } = yield* checked(`Ada ${lastWord}`)
        assertInclude(last?.title, "AML check")
        assertNone(last?.end ?? Option.some("there is no exchange"))
        assertInclude(last?.response, `HTTP/1.1 ${status} `)
        assertInclude(last?.response, "\n\n(the body is empty)")
        strictEqual(verdict.outcome, "none")
        strictEqual(verdict.text.startsWith(`${tag}: `), true, verdict.text)
      }).pipe(Effect.provide(server))
  )

  it.live("shows the replay after a 401 with a new token", () =>
    Effect.gen(function*() {
      const { steps } = yield* checked("Ada Test401")
      deepStrictEqual(titles(steps), ["1. Token", "2. AML check", "3. Token", "4. AML check"])
    }).pipe(Effect.provide(server)))

  it.live("shows the empty body of a rejected token request", () =>
    Effect.gen(function*() {
      const { steps, verdict } = yield* checked("Ada Testclear", {
        ...Session.demoCustomer,
        customerKey: Redacted.make("another")
      })
      deepStrictEqual(steps.map(({ end }) => end), [Option.none()])
      assertInclude(steps[0]?.response, "(the body is empty)")
      strictEqual(verdict.text.startsWith("TokenRejected: "), true, verdict.text)
    }).pipe(Effect.provide(
      App.layer([Session.demoCustomer], { profile: { ...Profile.defaultProfile, tokenError: "empty" } })
    )))

  it.live.each(["Testcut", "Testreset"])(
    "reports a broken connection only for the exchange of %s",
    (lastWord) =>
      Effect.gen(function*() {
        const { last, steps, verdict } = yield* checked(`Ada ${lastWord}`)
        assertNone(steps[0]?.end ?? Option.some("there is no exchange"))
        assertMatch(Option.getOrThrow(last?.end ?? Option.none()), /^The connection broke: [\w ]+$/)
        strictEqual(last?.response.includes("(the body is empty)"), false)
        assertInclude(last?.response, "HTTP/1.1 200 OK")
        strictEqual(verdict.text.startsWith("AmlUnavailable: "), true, verdict.text)
      }).pipe(Effect.provide(server))
  )

  it.effect("reports a response that does not arrive within 10 seconds", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 0, 31))
      const checking = yield* Effect.fork(checked("Ada Testhang"))
      // In process, the connection needs turns of the event loop before the client waits.
      for (let second = 0; second < 30 && (yield* Fiber.poll(checking))._tag === "None"; second++) {
        yield* TestClock.adjust("1 second")
        yield* TestServices.provideLive(Effect.sleep("20 millis"))
      }
      const { last, verdict } = yield* Fiber.join(checking)
      strictEqual(verdict.text.startsWith("AmlTimeout: "), true, verdict.text)
      assertMatch(Option.getOrThrow(last?.end ?? Option.none()), /^No response within 10 seconds$/)
    }).pipe(Effect.provide(server)))

  it.live("fails closed on a body that only claims to be compressed, and shows it", () =>
    Effect.gen(function*() {
      const { find } = yield* Session.Sessions
      const { faults } = Option.getOrThrow(yield* find(Session.demoCustomer.customerId))
      yield* faults.set(Either.getOrThrow(Fault.make({ on: "aml", what: { kind: "falseGzip" } })))
      const { last, verdict } = yield* checked("Ada Testclear")
      strictEqual(verdict.outcome, "none")
      assertInclude(last?.response, "\"match_found\":\"No\"")
    }).pipe(Effect.provide(server)))

  it.live("shows a configuration error instead of a result", () =>
    Effect.gen(function*() {
      const { steps, verdict } = yield* checked("Ada Testclear", {
        customerId: "",
        customerKey: Session.testKey
      })
      deepStrictEqual([steps, verdict.outcome], [[], "none"])
      assertInclude(verdict.text, "customerId")
    }).pipe(Effect.provide(server)))
})
