import { MockServer, Profile, Session } from "../../../../mock-server/src/index.ts"
import { describeConformance } from "../../../src/Vitest.ts"
import * as Mutant from "../../mutants/Mutant.ts"

const addresses = { authUrl: "http://localhost", baseUrl: "http://localhost" }

for (const mutant of Mutant.mutants.filter(({ id }) => id === "aml.answer.match-found/lower-case")) {
  describeConformance("mutant", {
    target: { kind: "sandbox", ...addresses, ...Session.testCustomer("test-mutant"), spacing: 0, budget: 200 },
    httpClient: Mutant.layerHttpClient(mutant)
  })
}

describeConformance("sandbox", {
  target: { kind: "sandbox", ...addresses, ...Session.testCustomer("test-sandbox"), spacing: 0, budget: 100 },
  httpClient: MockServer.layerHttpClientWith({ profile: Profile.presets.strict })
})

const closedPort = { authUrl: "http://127.0.0.1:1", baseUrl: "http://127.0.0.1:1" }

describeConformance("unreachable", {
  target: { kind: "sandbox", ...closedPort, ...Session.testCustomer("test-nobody") }
})
