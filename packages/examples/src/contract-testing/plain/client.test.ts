import { TestServer } from "@effect-idv/mock-server"
import { afterAll, beforeAll, describe, it } from "vitest"
import { names, run } from "./checks.ts"

let server: TestServer.TestServer

beforeAll(async () => {
  server = await TestServer.start()
})

afterAll(() => server.close())

describe("The client does not have the bug", () => {
  it.each(names)("%s", (name) => run(server, name))
})
