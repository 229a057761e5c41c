/** Runs the six tests of a correct client, and of a client with each of the six bugs. */
import { TestServer } from "@effect-idv/mock-server"
import { run, tests } from "./checks.ts"
import { bugs } from "./client.ts"

const server = await TestServer.start()

for (const bug of [undefined, ...bugs]) {
  const failed: Array<string> = []
  for (const [name, test] of tests) await run(server, test, bug).catch(() => failed.push(`"${name}"`))
  console.log(
    failed.length === 0
      ? `✓ ${bug ?? "correct client"}: passes the six tests`
      : `✗ ${bug ?? "correct client"}: found by the ${failed.length === 1 ? "test" : "tests"} ${failed.join(", ")}`
  )
}

await server.close()
