import { afterAll, beforeAll, describe, it } from "vitest"
import { run, tests } from "./checks.ts"
import { startTestServer, type TestServer } from "./testServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.close())

describe("The client", () => {
  it.each(tests)("%s", (_, test) => run(server, test))
})
