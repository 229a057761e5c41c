/** What a client must do, as one test for each of the six bugs. Replace `makeClient` with your own client. */
import type { TestServer } from "@effect-idv/mock-server"
import { type Bug, type Client, makeClient } from "./client.ts"

interface Setting {
  readonly client: Client
  readonly session: TestServer.TestSession
  /** What the client logged. */
  readonly logged: ReadonlyArray<string>
  /** The tokens that the client received. */
  readonly tokens: ReadonlyArray<string>
  /** Moves the clocks of the client and of the service. */
  readonly advance: (minutes: number) => Promise<void>
}

const clear = { name: "Zoë Testclear", dateOfBirth: "1957-03-14" }
const listed = { name: "Zoë Testpep", dateOfBirth: "1957-03-14" }
const unknown = { name: "Zoë Testunknown", dateOfBirth: "1957-03-14" }

const expect = (isMet: boolean, text: string): void => {
  if (!isMet) throw new Error(text)
}

/** The result, or `error` if the client returned none. */
const outcome = (client: Client, person: typeof clear): Promise<string> => client.screen(person).catch(() => "error")

type Test = (setting: Setting) => Promise<void>

/** The tests by name. */
export const tests = Object.entries<Test>({
  "reuses the token": async ({ client, session }) => {
    await outcome(client, clear)
    await outcome(client, clear)
    await session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } })
  },
  "never reads a 401 as clear": async ({ client, session }) => {
    await outcome(client, clear)
    await session.revokeTokens()
    expect(await outcome(client, listed) !== "clear", "a listed person is clear after a response with 401")
  },
  "sends documented requests": async ({ client, session }) => {
    await outcome(client, clear)
    await session.verify({ kind: "nothingUnexpected" })
  },
  "rejects an unknown result": async ({ client }) => {
    expect(await outcome(client, unknown) !== "clear", "an unknown match_found is clear")
  },
  "logs no token": async ({ client, logged, tokens }) => {
    await outcome(client, clear)
    expect(tokens.length > 0, "no token came")
    expect(!tokens.some((token) => logged.join("\n").includes(token)), "the log contains an access token")
  },
  "renews the token after an hour": async ({ advance, client, session }) => {
    await outcome(client, clear)
    await advance(61)
    expect(await outcome(client, clear) === "clear", "a check fails after an hour")
    await session.verify({ kind: "never", pattern: { operation: "aml", status: 401 } })
  }
})

/** Runs one test of a client, which may have a bug. Rejects if the test fails. */
export const run = async (server: TestServer.TestServer, test: Test, bug?: Bug): Promise<void> => {
  const session = await server.session()
  const logged: Array<string> = []
  const tokens: Array<string> = []
  let ahead = 0
  const client = makeClient({
    url: server.url,
    customerId: session.customerId,
    customerKey: session.customerKey,
    log: (line) => logged.push(line),
    now: () => Date.now() + ahead,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (String(input).endsWith("/oauth/service")) {
        const body = JSON.parse(await response.clone().text())
        if (typeof body.access_token === "string") tokens.push(body.access_token)
      }
      return response
    },
    bug
  })
  const advance = async (minutes: number) => {
    ahead += minutes * 60_000
    await session.advance(`${minutes} minutes`)
  }
  await test({ client, session, logged, tokens, advance })
}
