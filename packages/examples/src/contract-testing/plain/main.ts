/** Runs the six checks against the correct client, and against a client with each of the six bugs. */
import { TestServer } from "@effect-idv/mock-server"
import { names, run } from "./checks.ts"
import { type Bug, bugs } from "./client.ts"

const server = await TestServer.start()

for (const bug of [undefined, ...bugs]) {
  const failed: Array<Bug> = []
  for (const name of names) await run(server, name, bug).catch(() => failed.push(name))
  console.log(
    `${failed.length === 0 ? "✓ green" : "✗ red"}  ${bug ?? "correct client"}: ${
      failed.length === 0 ? "all six checks pass" : `caught by ${failed.join(", ")}`
    }`
  )
}

await server.close()
