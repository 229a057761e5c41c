/** What a client must do, as one check for each of the six bugs. Replace `makeClient` with your own client. */
import type { TestServer } from "@effect-idv/mock-server"
import { type Bug, bugs, type Client, makeClient } from "./client.ts"

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

const checks: Readonly<Record<Bug, (setting: Setting) => Promise<void>>> = {
  "no token cache": async ({ client, session }) => {
    await outcome(client, clear)
    await outcome(client, clear)
    await session.verify({ kind: "exactly", n: 1, pattern: { operation: "token" } })
  },
  "401 taken for clear": async ({ client, session }) => {
    await outcome(client, clear)
    await session.revokeTokens()
    expect(await outcome(client, listed) !== "clear", "a listed person is clear after a response with 401")
  },
  "ISO date": async ({ client, session }) => {
    await outcome(client, clear)
    await session.verify({ kind: "nothingUnexpected" })
  },
  "everything but a potential match is clear": async ({ client }) => {
    expect(await outcome(client, unknown) !== "clear", "an unknown match_found is clear")
  },
  "token logged": async ({ client, logged, tokens }) => {
    await outcome(client, clear)
    expect(tokens.length > 0, "no token came")
    expect(!tokens.some((token) => logged.join("\n").includes(token)), "the log contains an access token")
  },
  "expiry ignored": async ({ advance, client, session }) => {
    await outcome(client, clear)
    await advance(61)
    expect(await outcome(client, clear) === "clear", "a check fails after an hour")
    await session.verify({ kind: "never", pattern: { operation: "aml", status: 401 } })
  }
}

export const names = bugs

/** Runs one check against a client, which may have a bug. Rejects if the check fails. */
export const run = async (server: TestServer.TestServer, name: Bug, bug?: Bug): Promise<void> => {
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
  await checks[name]({ client, session, logged, tokens, advance })
}
