import { afterAll, beforeAll, describe, it } from "vitest"
import { names, run } from "./checks.ts"
import { startTestServer, type TestServer } from "./testServer.ts"

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.close())

describe("The client does not have the bug", () => {
  it.each(names)("%s", (name) => run(server, name))
})
