import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeApp } from "../fastify/app.ts"
import { makeTestClient } from "./testClient.ts"

const start = () => {
  const { mock, runtime } = makeTestClient()
  const rows: Array<object> = []
  const app = makeApp({ runtime, respondAfter: 100, store: async (row) => void rows.push(row) })
  const signUp = async (name: string, dateOfBirth = "1990-02-01") => {
    const { body, statusCode } = await app.inject({ method: "POST", url: "/sign-up", payload: { name, dateOfBirth } })
    return { status: statusCode, body: JSON.parse(body) }
  }
  return { app, mock, rows, signUp }
}

describe("A sign-up", () => {
  let test: ReturnType<typeof start>
  beforeEach(() => {
    test = start()
  })
  afterEach(() => test.app.close())

  it("welcomes a person who is on no list", async () => {
    expect(await test.signUp("Ada Testclear")).toMatchObject({ status: 201, body: { status: "welcome" } })
    expect(test.rows).toMatchObject([{ outcome: "clear", reason: "No", sent: "answered" }])
  })

  it("responds to a match as to an outage, and stores the difference", async () => {
    const match = await test.signUp("Zoë Testpep")
    await test.mock((session) => session.fault({ on: "aml", what: { kind: "reset" } }))
    const outage = await test.signUp("Ada Testclear")
    // An applicant id is random.
    expect(outage).toEqual({ ...match, body: { ...match.body, applicantId: outage.body.applicantId } })
    expect(test.rows).toMatchObject([
      { outcome: "review", reason: "Potential match", sent: "answered" },
      // The connection broke after the request left, so the service may have performed and billed the check.
      { outcome: "review", reason: "AmlUnavailable", sent: "unknown" }
    ])
  })

  it("asks to correct a date that does not exist, and sends nothing", async () => {
    const { body, status } = await test.signUp("Ada Testclear", "1990-02-31")
    expect({ status, body }).toMatchObject({ status: 422, body: { errors: [{ field: "dateOfBirth" }] } })
    expect(test.rows).toEqual([])
  })

  it("requests one token for two people", async () => {
    await test.signUp("Ada Testclear")
    await test.signUp("Zoë Testpep")
    await test.mock((session) => session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } }))
  })
})
