/**
 * The most important property: an applicant is welcomed only after a complete "No" about them. The test
 * damages a complete "No" in many ways, and no applicant is welcomed. It runs in real time, because
 * nothing here waits and setting the TestClock takes longer than a check.
 */
import { afterAll, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, FastCheck, ManagedRuntime } from "effect"
import { Message, onboard } from "./onboard.ts"
import * as TestEnvironment from "./testEnvironment.ts"

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

interface ServiceResponse {
  readonly status: number
  readonly body: string
}

const respond = (body: unknown, status = 200): ServiceResponse => ({ status, body: JSON.stringify(body) })

const credential = (changed: Record<string, unknown>) => ({
  ...envelope,
  credentials: { attributes: { ...attributes, ...changed } }
})

const completeNo = respond(credential({}))

const without = (field: string, value: object) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== field))

const anyValueExcept = (allowed: ReadonlyArray<unknown>) =>
  FastCheck.oneof(
    FastCheck.constantFrom("no", "NO", "No ", "No match", "potential match", "Unknown", "", null, true, false, 0, 1),
    FastCheck.jsonValue()
  ).filter((value) => !allowed.includes(value))

/** A "No" that is incomplete or about another person, or has another status; or invalid JSON. */
const damagedNo: FastCheck.Arbitrary<ServiceResponse> = FastCheck.oneof(
  FastCheck.constantFrom(...Object.keys(attributes)).map((field) =>
    respond({ ...envelope, credentials: { attributes: without(field, attributes) } })
  ),
  FastCheck.constantFrom(...Object.keys(envelope)).map((field) => respond(without(field, credential({})))),
  anyValueExcept(["No"]).map((match_found) => respond(credential({ match_found }))),
  anyValueExcept(["Zoë Testpep"]).map((name) => respond(credential({ name }))),
  FastCheck.integer({ min: 1900, max: 2026 }).filter((year) => year !== 1957).map((year) =>
    respond(credential({ birth_year: String(year) }))
  ),
  FastCheck.integer({ min: 202, max: 599 }).map((status) => respond(credential({}), status)),
  FastCheck.integer({ min: 0, max: completeNo.body.length - 1 }).map((length) => ({
    ...completeNo,
    body: completeNo.body.slice(0, length)
  })),
  FastCheck.json().map((body) => ({ status: 200, body })),
  FastCheck.string().map((body) => ({ status: 200, body }))
)

/** All runs share one environment, because starting a server takes longer than a check. */
const runtime = ManagedRuntime.make(TestEnvironment.layerInProcess())
afterAll(() => runtime.dispose())

/** The message to Zoë Testpep if the service returns this response. */
const messageAfter = ({ body, status }: ServiceResponse) =>
  Effect.gen(function*() {
    const { clearFaults, fault } = yield* TestEnvironment.session
    yield* clearFaults
    yield* fault({ on: "aml", what: { kind: "status", status, body, contentType: "application/json" } })
    return yield* onboard(TestEnvironment.applicant("Testpep"))
  }).pipe(Effect.provide(runtime))

describe("An applicant is welcomed only after a complete No", () => {
  it.live("which is sufficient, so the next test proves something", () =>
    Effect.gen(function*() {
      deepStrictEqual(yield* messageAfter(completeNo), Message.Welcome())
    }))

  it.live.prop(
    "and not if a part is missing, changed or truncated, or the status is not a success",
    { damagedNo },
    ({ damagedNo }) =>
      Effect.gen(function*() {
        deepStrictEqual(yield* messageAfter(damagedNo), Message.Pending())
      }),
    { fastCheck: { numRuns: 200 } }
  )
})
