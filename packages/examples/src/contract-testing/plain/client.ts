/** A hand-written client of the service in plain TypeScript, and six usual bugs of such clients. */

export const bugs = [
  "no token cache",
  "401 taken for clear",
  "ISO date",
  "everything but a potential match is clear",
  "token logged",
  "expiry ignored"
] as const

export type Bug = typeof bugs[number]

export interface Person {
  readonly name: string
  /** In the form `yyyy-mm-dd`. */
  readonly dateOfBirth: string
}

export interface Options {
  readonly url: string
  readonly customerId: string
  readonly customerKey: string
  readonly log: (line: string) => void
  readonly fetch: typeof fetch
  /** The time in milliseconds since 1970. */
  readonly now: () => number
  /** @default undefined, the client has none */
  readonly bug?: Bug | undefined
}

interface Token {
  readonly value: string
  readonly usableUntil: number
}

export interface Client {
  /** Rejects if the service returned no screening result about this person. */
  readonly screen: (person: Person) => Promise<"clear" | "potential match">
}

export const makeClient = ({ bug, customerId, customerKey, fetch, log, now, url }: Options): Client => {
  let cached: Token | undefined

  const requestToken = async (): Promise<Token> => {
    const requestedAt = now()
    const response = await fetch(`${url}/oauth/service`, {
      method: "POST",
      headers: {
        "authorization": `Basic ${Buffer.from(`${customerId}:${customerKey}`).toString("base64")}`,
        "content-type": "application/x-www-form-urlencoded"
      },
      body: "grant_type=client_credentials"
    })
    if (response.status !== 200) throw new Error(`the token request failed with ${response.status}`)
    const { access_token } = JSON.parse(await response.text())
    log(bug === "token logged" ? `received the token ${access_token}` : "received a token")
    return { value: access_token, usableUntil: requestedAt + 59 * 60_000 }
  }

  const token = async (): Promise<string> => {
    const isUsable = cached !== undefined && (bug === "expiry ignored" || now() < cached.usableUntil)
    if (cached === undefined || !isUsable || bug === "no token cache") cached = await requestToken()
    return cached.value
  }

  const screen: Client["screen"] = async ({ dateOfBirth, name }) => {
    const [year, month, day] = dateOfBirth.split("-")
    const response = await fetch(`${url}/api/aml`, {
      method: "POST",
      headers: { "authorization": `Bearer ${await token()}`, "content-type": "application/json" },
      body: JSON.stringify({
        entity_type: "person",
        name,
        dob: bug === "ISO date" ? dateOfBirth : `${day}-${month}-${year}`
      })
    })
    if (response.status === 401 && bug === "401 taken for clear") return "clear"
    if (response.status !== 200) throw new Error(`the check failed with ${response.status}`)
    const attributes = JSON.parse(await response.text()).credentials?.attributes
    if (attributes?.name !== name) throw new Error("the response is not about this person")
    if (attributes.match_found === "Potential match") return "potential match"
    if (attributes.match_found === "No" || bug === "everything but a potential match is clear") return "clear"
    throw new Error("the response has no screening result")
  }

  return { screen }
}
