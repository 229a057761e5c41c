/** A test person of your own, and the verification of what was sent about this person. */
import { TestServer } from "@effect-idv/mock-server"
import { afterAll, beforeAll, expect, it } from "vitest"
import { makeClient } from "./client.ts"

let server: TestServer.TestServer

beforeAll(async () => {
  server = await TestServer.start()
})

afterAll(() => server.close())

const person = { name: "Ada Sample", dateOfBirth: "1990-03-14" }

const begin = async () => {
  const { customerId, customerKey, setTestPersons, verify } = await server.session()
  await setTestPersons([{ match: { nameLast: "Sample" }, response: "Potential match" }])
  const client = makeClient({ url: server.url, customerId, customerKey, log: () => {}, now: Date.now, fetch })
  return { client, verify }
}

it("A test person of your own is a potential match", async () => {
  const { client, verify } = await begin()
  expect(await client.screen(person)).toBe("potential match")

  const pattern = { name: "Ada Sample", dateOfBirth: "1990-03-14", status: 200 }
  await verify({ kind: "exactly", n: 1, pattern })
})

it("A verification that fails names the field that differs, and no person", async () => {
  const { client, verify } = await begin()
  await client.screen(person)

  const failed = verify({ kind: "exactly", n: 1, pattern: { name: "Ada Sample", dateOfBirth: "1990-03-15" } })
  await expect(failed).rejects.toThrow(/differs in dateOfBirth/)
  await expect(failed).rejects.not.toThrow(/Sample|1990/)
})
