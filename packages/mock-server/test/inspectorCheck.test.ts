import * as DateOfBirth from "@effect-idv/core/DateOfBirth"
import { Session } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertNone, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import * as Check from "../src/internal/inspector/checkRun.ts"
import * as App from "../src/internal/transport/app.ts"
import * as Profile from "../src/Profile.ts"

/** What the check form of the page shows for a person, with its last exchange. */
const checked = (name: string) =>
  Effect.gen(function*() {
    const dateOfBirth = yield* DateOfBirth.make("1990-02-01")
    const { steps, verdict } = yield* Check.run(
      Session.demoCustomer,
      { name: Redacted.make(name), dateOfBirth },
      "http://localhost"
    )
    return { steps, verdict, last: steps.at(-1) }
  })

const server = App.layer([Session.demoCustomer], {})

describe("The check form of the page", () => {
  it.live.each<[string, number]>([
    ["Testempty", 200],
    ["Test401", 401],
    ["Test403", 403],
    ["Test429", 429],
    ["Test500", 500],
    ["Test503", 503]
  ])("shows the status of %s, and that the body is empty", ([lastWord, status]) =>
    Effect.gen(function*() {
      const { last, verdict } = yield* checked(`Ada ${lastWord}`)
      strictEqual(last?.title, "AML check")
      assertNone(last?.end ?? Option.some("there is no exchange"))
      assertInclude(last?.response, `HTTP/1.1 ${status} `)
      assertInclude(last?.response, "\n\n(the body is empty)")
      strictEqual(verdict.outcome, "none")
      strictEqual(verdict.text, `No credential: the status is ${status}. The body is empty.`)
    }).pipe(Effect.provide(server)))

  it.live("shows that the body of a refused token request is empty", () =>
    Effect.gen(function*() {
      const { find } = yield* Session.Sessions
      const session = Option.getOrThrow(yield* find(Session.demoCustomer.customerId))
      const { steps, verdict } = yield* Check.run(
        { ...session, customerKey: Redacted.make("another") },
        { name: Redacted.make("Ada Testclear"), dateOfBirth: yield* DateOfBirth.make("1990-02-01") },
        "http://localhost"
      )
      deepStrictEqual(steps.map(({ end }) => end), [Option.none()])
      assertInclude(steps[0]?.response, "(the body is empty)")
      strictEqual(
        verdict.text,
        "No token, so nothing was checked: the status is 401. The body is empty."
      )
    }).pipe(Effect.provide(
      App.layer([Session.demoCustomer], { profile: { ...Profile.defaultProfile, tokenError: "empty" } })
    )))

  it.live.each(["Testcut", "Testreset"])(
    "calls only the failed connection of %s broken",
    (lastWord) =>
      Effect.gen(function*() {
        const { last, verdict } = yield* checked(`Ada ${lastWord}`)
        assertInclude(Option.getOrThrow(last?.end ?? Option.none()), "The connection broke: ")
        assertInclude(verdict.text, "The connection broke: ")
        strictEqual(last?.response.includes("(the body is empty)"), false)
      }).pipe(Effect.provide(server))
  )
})
