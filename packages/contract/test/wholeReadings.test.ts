/** Readings of several responses together. */
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import type { Response } from "../src/internal/exchange.ts"
import { ofApi as ofToken } from "../src/internal/readings/tokenReadings.ts"
import { ofWhole as whole } from "../src/internal/readings/wholeReadings.ts"
import { readings as withheld } from "../src/internal/readings/withheld.ts"
import type { Step } from "../src/internal/steps.ts"

const start = Date.UTC(2026, 9, 24, 23)

const step: Step = { to: "aml" }

const credential = (searched_on: string) => ({
  credentials: { attributes: { name: "Ada Testclear", birth_year: "1990", searched_on, match_found: "No" } }
})

const response = (body: unknown, receivedAt = start, status = 200, millis = 0): Response => ({
  _tag: "Response",
  url: new URL("http://localhost/api/aml"),
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify(body)),
  receivedAt,
  millis
})

describe("The times of searches move as the clock does", () => {
  const minute = 60_000
  const text = (millis: number) => new Date(millis).toISOString().slice(0, 19).replace("T", " ")

  it.each<
    [string, elapsed: number, offset: number, expected: string, millis?: readonly [first: number, second: number]]
  >([
    ["in one zone", 90 * minute, 0, "of the search"],
    ["with a change to daylight saving time between them", 90 * minute, 60 * minute, "of the search"],
    ["with a change from it", 90 * minute, -60 * minute, "of the search"],
    ["but not with a change of an hour in less than an hour", 30 * minute, 60 * minute, "another time"],
    ["but not with a change of two hours", 180 * minute, 120 * minute, "another time"],
    ["with a response that took longer than the search", minute, -20_000, "of the search", [0, 20_000]],
    ["but not behind after a slow response", minute, -20_000, "another time", [20_000, 0]],
    ["but not ahead in a slow response", minute, 20_000, "another time", [0, 20_000]],
    ["but not if they are some seconds late", 90 * minute, 20_000, "another time"]
  ])("%s", (_, elapsed, offset, expected, [first, second] = [0, 0]) => {
    const search = (receivedAt: number, time: number, millis: number) => ({
      step,
      response: response(credential(text(time)), receivedAt, 200, millis),
      secrets: []
    })
    const searches = [search(start, start, first), search(start + elapsed, start + elapsed + offset, second)]
    strictEqual(whole["time of search"](searches), expected)
  })
})

describe("A documented check that gets no result", () => {
  const person = { name: "Ada Testclear", dob: "01-02-1990", isOfUser: false }
  const exchange = (step: Step, response: Response) => ({
    number: 0,
    step,
    exchange: response,
    secrets: [],
    curl: "",
    person
  })
  const refused = response({ error: "unavailable" }, start, 503)
  const answered = exchange(step, response(credential("2026-10-24 23:00:00")))

  it("is seen among others that get one", () => {
    strictEqual(withheld["every answer"]([answered, answered]), "answered")
    strictEqual(withheld["every answer"]([answered, exchange(step, refused), answered]), "not every one answered")
    const withoutName: Step = { to: "aml", body: { entity_type: "person" } }
    strictEqual(withheld["every answer"]([answered, exchange(withoutName, refused)]), "answered")
  })

  it("has no credential, also with a status of success", () => {
    const field = (body: object) => whole["every field"]([{ step, person, response: response(body), secrets: [] }])
    strictEqual(field({ state: "done" }), "no credential")
    strictEqual(field({ error: "unavailable" }), "refused")
  })
})

describe("The hour of a token", () => {
  const second = 1000
  const token = response({ access_token: "0123456789abcdef" }, start, 200, 0)
  const exchange = (step: Step, exchange: Response) => ({ number: 0, step, exchange, secrets: [], curl: "" })
  const lifetime = (isValid: boolean, age: number, status: number, millis = 0) =>
    withheld.lifetime([
      exchange({ to: "token" }, token),
      exchange(
        { to: "aml", token: 0, isValid },
        response(status === 200 ? credential("2026-10-24 23:00:00") : {}, start + age, status, millis)
      )
    ])

  it("is one hour if the token is accepted two seconds before its end, and refused two seconds after it", () => {
    strictEqual(lifetime(true, 3598 * second, 200), "one hour")
    strictEqual(lifetime(false, 3602 * second, 401), "one hour")
    strictEqual(lifetime(true, 3598 * second, 401), "shorter")
    strictEqual(lifetime(false, 3602 * second, 200), "longer")
  })

  it("is not shown by a check that took so long that its token may have been younger or older", () => {
    strictEqual(lifetime(true, 3601 * second, 401, 3 * second), "begun")
    strictEqual(lifetime(false, 3602 * second, 200, 3 * second), "begun")
  })
})

describe("The refusals of tokens younger than an hour", () => {
  it("mean a shorter lifetime, as the claim names it", () => {
    strictEqual(ofToken["early refusals"]([]), "begun")
    strictEqual(ofToken["early refusals"]([{ step, response: response({}, start, 401), secrets: [] }]), "shorter")
  })
})
