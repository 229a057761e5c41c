import { afterAll, beforeAll, describe, it } from "vitest"
import { assert } from "vitest"
import * as TestServer from "../src/TestServer.ts"

let server: TestServer.TestServer

beforeAll(() => TestServer.start().then((started) => void (server = started)))

afterAll(() => server.close())

const basic = ({ customerId, customerKey }: TestServer.TestSession) => `Basic ${btoa(`${customerId}:${customerKey}`)}`

const requestToken = (session: TestServer.TestSession) =>
  fetch(`${server.url}/oauth/service`, {
    method: "POST",
    headers: { authorization: basic(session) },
    body: new URLSearchParams({ grant_type: "client_credentials" })
  })

describe("The mock server for tests without Effect", () => {
  it("gives each session its own customer, and verifies the requests of that one", () =>
    Promise.all([server.session(), server.session()]).then(([one, other]) =>
      requestToken(one).then((response) => {
        assert.strictEqual(response.status, 200)
        return Promise.all([
          one.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } }),
          other.verify({ kind: "never", pattern: { operation: "token" } })
        ])
      })
    ))

  it("rejects with the difference if the requests are not as expected", () =>
    server.session()
      .then((session) => session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } }))
      .then(() => assert.fail("it did not reject"), (error: unknown) => assert.match(String(error), /expected/i)))

  it("injects faults and changes the profile of one session", () =>
    server.session().then((session) =>
      session.changeProfile({ tokenStatus: "201" })
        .then(() => requestToken(session))
        .then(({ status }) => assert.strictEqual(status, 201))
        .then(() => session.fault({ on: "token", what: { kind: "status", status: 503 } }))
        .then(() => requestToken(session))
        .then(({ status }) => assert.strictEqual(status, 503))
    ))
})
