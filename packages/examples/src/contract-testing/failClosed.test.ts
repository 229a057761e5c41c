/**
 * The property that matters most: whoever is welcome is so because of a whole "No" about them. A whole
 * one is damaged in every way that comes to mind, and nobody is welcome any more. In real time, because
 * nothing here waits, and to set the TestClock takes longer than a check.
 */
import { afterAll, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, FastCheck, ManagedRuntime } from "effect"
import * as Bank from "./bank.ts"
import { Answer, onboard } from "./onboard.ts"

const attributes = {
  name: "Zoë Testpep",
  birth_year: "1957",
  searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
  match_found: "No",
  aml_profile: "https://aml.example.com/profiles/1"
}

const envelope = {
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "The service",
  issuer_id: "0f7f7d8a-3b0c-4c8e-9a39-5d0b6f0f2a11",
  cred_version: "1.0"
}

interface Reply {
  readonly status: number
  readonly body: string
}

const reply = (body: unknown, status = 200): Reply => ({ status, body: JSON.stringify(body) })

const credential = (changed: Record<string, unknown>) => ({
  ...envelope,
  credentials: { attributes: { ...attributes, ...changed } }
})

const whole = reply(credential({}))

const without = (field: string, value: object) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== field))

const anythingBut = (allowed: ReadonlyArray<unknown>) =>
  FastCheck.oneof(
    FastCheck.constantFrom("no", "NO", "No ", "No match", "potential match", "Unknown", "", null, true, false, 0, 1),
    FastCheck.jsonValue()
  ).filter((value) => !allowed.includes(value))

/** A "No" that is not whole, about somebody else, under a status that takes it back, or no JSON. */
const damaged: FastCheck.Arbitrary<Reply> = FastCheck.oneof(
  FastCheck.constantFrom(...Object.keys(attributes)).map((field) =>
    reply({ ...envelope, credentials: { attributes: without(field, attributes) } })
  ),
  FastCheck.constantFrom(...Object.keys(envelope)).map((field) => reply(without(field, credential({})))),
  anythingBut(["No"]).map((match_found) => reply(credential({ match_found }))),
  anythingBut(["Zoë Testpep"]).map((name) => reply(credential({ name }))),
  FastCheck.integer({ min: 1900, max: 2026 }).filter((year) => year !== 1957).map((year) =>
    reply(credential({ birth_year: String(year) }))
  ),
  FastCheck.integer({ min: 202, max: 599 }).map((status) => reply(credential({}), status)),
  FastCheck.integer({ min: 0, max: whole.body.length - 1 }).map((length) => ({
    ...whole,
    body: whole.body.slice(0, length)
  })),
  FastCheck.json().map((body) => ({ status: 200, body })),
  FastCheck.string().map((body) => ({ status: 200, body }))
)

/** One for all runs: to start a server takes longer than to ask it. */
const bank = ManagedRuntime.make(Bank.layerInProcess())
afterAll(() => bank.dispose())

/** What Zoë is told if the service answers this. */
const answerTo = ({ body, status }: Reply) =>
  Effect.gen(function*() {
    const { clearFaults, fault } = yield* Bank.session
    yield* clearFaults
    yield* fault({ on: "aml", what: { kind: "status", status, body, contentType: "application/json" } })
    return yield* onboard(Bank.applicant("Testpep"))
  }).pipe(Effect.provide(bank))

describe("Nobody is welcome without a whole No", () => {
  it.live("which is enough: else what follows would prove nothing", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* answerTo(whole), Answer.Welcome())
    }))

  it.live.prop(
    "whatever of it is missing, changed, cut off, or taken back by the status",
    { damaged },
    ({ damaged }) =>
      Effect.gen(function*() {
        deepStrictEqual(yield* answerTo(damaged), Answer.Pending())
      }),
    { fastCheck: { numRuns: 200 } }
  )
})
