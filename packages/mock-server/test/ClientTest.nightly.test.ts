/** Equal runs of the test of a client find the same, also at the same time. */
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "node:assert"
import * as ClientTest from "../src/ClientTest.ts"
import { deadline, good, json, make } from "./support/foreignClient.ts"

/** Clears everybody but a match, and sends a check again after an error. */
const makeClient = make({
  read: (response) =>
    json(response).then((body) => body.credentials?.attributes.match_found === "Potential match" ? "review" : "clear"),
  send: (attempt) => attempt().then((response) => response.status < 500 ? response : attempt()),
  body: ({ dateOfBirth, name }) => good.body({ dateOfBirth, name: name.toUpperCase() })
})

const findings = () =>
  ClientTest.run(makeClient, { deadline: 3 * deadline }).then((report) =>
    report.findings.map(({ days, steps, text, verdict }) => ({ days, steps, text, verdict }))
  )

describe("The test of a client", () => {
  it("finds the same three times", () =>
    Promise.all([findings(), findings(), findings()]).then(([first, ...others]) => {
      strictEqual(first.length > 8, true)
      others.forEach((other) => deepStrictEqual(other, first))
    }))
})
