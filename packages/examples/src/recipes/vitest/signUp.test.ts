import { randomUUID } from "node:crypto"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeApp } from "../fastify/app.ts"
import { makeTestClient } from "./testClient.ts"

const start = () => {
  const { decisions, mock, runtime } = makeTestClient()
  const app = makeApp({ runtime, respondAfter: 100 })
  const signUp = async (name: string, { dateOfBirth = "1990-02-01", key = randomUUID() as string } = {}) => {
    const payload = { key, name, dateOfBirth }
    const { body, statusCode } = await app.inject({ method: "POST", url: "/sign-up", payload })
    return { status: statusCode, body: JSON.parse(body) }
  }
  return { app, decisions, mock, signUp }
}

describe("A sign-up", () => {
  let test: ReturnType<typeof start>
  beforeEach(() => {
    test = start()
  })
  afterEach(() => test.app.close())

  it("welcomes a person who is on no list", async () => {
    expect(await test.signUp("Ada Testclear")).toMatchObject({ status: 201, body: { status: "welcome" } })
    expect(test.decisions()).toMatchObject([{ outcome: "clear", reason: "No", sent: "answered" }])
  })

  it("responds to a match as to an outage, and stores the difference", async () => {
    const match = await test.signUp("Zoë Testpep")
    await test.mock((session) => session.fault({ on: "aml", what: { kind: "reset" } }))
    const outage = await test.signUp("Ada Testclear")
    expect(outage).toEqual(match)
    expect(test.decisions()).toMatchObject([
      { outcome: "review", reason: "Potential match", sent: "answered" },
      // The connection broke after the request left, so the service may have performed and billed the check.
      { outcome: "review", reason: "AmlUnavailable", sent: "unknown" }
    ])
  })

  it("asks to correct a date that does not exist, and sends nothing", async () => {
    const { body, status } = await test.signUp("Ada Testclear", { dateOfBirth: "1990-02-31" })
    expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field: "dateOfBirth" }] } })
    expect(test.decisions()).toEqual([])
  })

  it("does not welcome a person whose name looks damaged, and stores what a reviewer needs", async () => {
    expect(await test.signUp("Jos? Garcia")).toMatchObject({ status: 202, body: { status: "received" } })
    expect(test.decisions()).toMatchObject([{
      outcome: "review",
      reason: "Doubtful No",
      check: {
        warnings: [{ field: "name", code: "question_mark" }],
        credential: { credentials: { attributes: { aml_profile: expect.stringContaining("/aml-profiles/") } } },
        body: expect.any(String)
      }
    }])
  })

  it("screens a person once if the same sign-up is sent again, also at the same time, and refuses the key for another", async () => {
    const key = randomUUID()
    const twice = await Promise.all([test.signUp("Ada Testclear", { key }), test.signUp("Ada Testclear", { key })])
    for (const response of [...twice, await test.signUp("Ada Testclear", { key })]) {
      expect(response).toMatchObject({ status: 201, body: { status: "welcome" } })
    }
    const body = { errors: [{ field: "key", code: "key_reused" }] }
    expect(await test.signUp("Zoë Testpep", { key })).toEqual({ status: 422, body })
    await test.mock((session) => session.verify({ kind: "exactly", n: 1, pattern: { operation: "aml" } }))
  })

  it("requests one token for two people", async () => {
    await test.signUp("Ada Testclear")
    await test.signUp("Zoë Testpep")
    await test.mock((session) => session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } }))
  })
})
