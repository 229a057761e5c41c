import { TestServer } from "@effect-idv/mock-server"
import { afterAll, beforeAll, describe, it } from "vitest"
import { run, tests } from "./checks.ts"

let server: TestServer.TestServer

beforeAll(async () => {
  server = await TestServer.start()
})

afterAll(() => server.close())

describe("The client", () => {
  it.each(tests)("%s", (_, test) => run(server, test))
})
