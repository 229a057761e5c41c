/** A client of the service in plain TypeScript, each part of which a test can replace by a wrong one. */
import type * as ClientTest from "../../src/ClientTest.ts"

type Service = Parameters<ClientTest.MakeClient>[0]
type Person = Parameters<ReturnType<ClientTest.MakeClient>>[0]
type Outcome = Awaited<ReturnType<ReturnType<ClientTest.MakeClient>>>

export interface Parts {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Returns the token. `refused` is one that the service did not accept. */
  readonly token: (kept: Promise<string> | undefined, renew: () => Promise<string>, refused?: string) => Promise<string>
  readonly authorization: (service: Service) => string
  readonly tokenBody: (service: Service) => string
  /** Makes the header Authorization of a token response. */
  readonly bearer: (response: { readonly access_token?: unknown; readonly token_type?: unknown }) => string
  readonly body: (person: Person) => string
  /** Reads the response to a check. */
  readonly read: (response: Response, person: Person) => Promise<Outcome>
  /** Sends the check. */
  readonly send: (attempt: () => Promise<Response>) => Promise<Response>
  /** Runs the whole check. */
  readonly check: (check: () => Promise<Outcome>, person: Person) => Promise<Outcome>
}

export const dob = ({ dateOfBirth }: Person): string => dateOfBirth.split("-").toReversed().join("-")

export const basic = ({ customerId, customerKey }: Service) =>
  `Basic ${Buffer.from(`${customerId}:${customerKey}`).toString("base64")}`

/** The deadline of each request, in milliseconds. */
export const deadline = 3000

/** Aborts after this time in which the process ran: time without the CPU does not count. */
const abortAfter = (millis: number): AbortSignal => {
  const controller = new AbortController()
  let left = millis
  const timer = setInterval(() => {
    left -= 100
    if (left > 0) return
    clearInterval(timer)
    controller.abort()
  }, 100)
  timer.unref()
  return controller.signal
}

export const json = (response: Response) => response.text().then((text) => JSON.parse(text))

export const good: Parts = {
  fetch: (url, init) => fetch(url, { ...init, redirect: "manual", signal: abortAfter(deadline) }),
  token: (kept, renew, refused) => refused === undefined ? kept ?? renew() : renew(),
  authorization: basic,
  tokenBody: () => "grant_type=client_credentials",
  bearer: ({ access_token }) => `Bearer ${access_token}`,
  body: (person) => JSON.stringify({ entity_type: "person", name: person.name, dob: dob(person) }),
  read: (response, { dateOfBirth, name }) =>
    response.status !== 200 ? Promise.resolve("error") : json(response).then((credential) => {
      const { attributes } = credential.credentials
      return credential.credential_type !== "aml" || attributes.name !== name || attributes.aml_profile === undefined ||
          attributes.birth_year !== dateOfBirth.slice(0, 4)
        ? "error"
        : attributes.match_found === "No"
        ? "clear"
        : attributes.match_found === "Potential match"
        ? "review"
        : "error"
    }),
  send: (attempt) => attempt(),
  check: (check) => check()
}

/** A client that keeps its token, and renews it once after a 401. */
export const make = (parts: Partial<Parts>): ClientTest.MakeClient => (service) => {
  const { authorization, bearer, body, check, fetch, read, send, token, tokenBody } = { ...good, ...parts }
  let cached: Promise<string> | undefined
  const request = (): Promise<string> =>
    fetch(`${service.authUrl}/oauth/service`, {
      method: "POST",
      headers: { authorization: authorization(service), "content-type": "application/x-www-form-urlencoded" },
      body: tokenBody(service)
    }).then((response) => response.ok ? json(response) : Promise.reject(new Error("no token")))
      .then((response) =>
        typeof response.access_token === "string" ? bearer(response) : Promise.reject(new Error("no token"))
      )
  const renew = () => {
    cached = request()
    cached.catch(() => cached = undefined)
    return cached
  }
  return (person) => {
    const post = (token: string) =>
      send(() =>
        fetch(`${service.baseUrl}/api/aml`, {
          method: "POST",
          headers: { "authorization": token, "content-type": "application/json" },
          body: body(person)
        })
      )
    return check(
      () =>
        token(cached, renew).then((first) =>
          post(first).then((response) => response.status === 401 ? token(cached, renew, first).then(post) : response)
        ).then((response) => read(response, person)),
      person
    )
  }
}
