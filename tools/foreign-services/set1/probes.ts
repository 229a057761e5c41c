import { isListed, isObject, parseJson } from "./hooks.ts"
import { basic, defaultPerson, listedPerson, tokenIn, tokenRequest } from "./requests.ts"
import type { Client, Outgoing, PersonFields, Probe, Reply } from "./types.ts"

export const second = 1000
export const minute = 60_000

/** Returns whether the response contains a credential or a part of one. */
export const hasCredential = (reply: Reply): boolean => reply.text.includes("match_found")

export const works = async (client: Client, token: string, person: PersonFields = defaultPerson): Promise<boolean> =>
  hasCredential(await client.check(token, person))

/** Passes if the service refuses the changed token request, and the response carries no usable token. */
export const refusesTokenRequest =
  (change: (client: Client, documented: Outgoing) => Partial<Outgoing>): Probe => async (client) => {
    const documented = tokenRequest(basic(`${client.id}:${client.key}`))
    const token = tokenIn(await client.send({ ...documented, ...change(client, documented) }))
    return token === undefined || !(await works(client, token))
  }

/** Passes if the service refuses the text as the decoded content of the Basic header. */
export const refusesLogin = (text: (client: Client) => string): Probe =>
  refusesTokenRequest((client, documented) => ({
    headers: { ...documented.headers, Authorization: basic(text(client)) }
  }))

export const refusesGrant = (body: string): Probe => refusesTokenRequest(() => ({ body }))

/** Passes if the service refuses a check whose Authorization header has the returned value. */
export const refusesAuthorization = (
  authorization: (token: string, client: Client) => string | undefined,
  overrides: (token: string) => Partial<Outgoing> = () => ({})
): Probe =>
async (client) => {
  const token = await client.token()
  const value = authorization(token, client)
  const headers = { "Content-Type": "application/json", ...(value === undefined ? {} : { Authorization: value }) }
  const extra = overrides(token)
  const reply = await client.check(token, defaultPerson, { ...extra, headers: { ...headers, ...extra.headers } })
  return !hasCredential(reply)
}

/** Passes if the service refuses the person. A field with the value undefined is not sent. */
export const refusesPerson = (fields: PersonFields): Probe => async (client) =>
  !hasCredential(await client.check(await client.token(), { ...defaultPerson, ...fields }))

export const refusesBody = (body: string, overrides: Partial<Outgoing> = {}): Probe => async (client) =>
  !hasCredential(await client.check(await client.token(), defaultPerson, { body, ...overrides }))

/** Passes if a token is refused after the given time. */
export const refusedAfter = (milliseconds: number): Probe => async (client) => {
  const token = await client.token()
  client.advance(milliseconds)
  return !(await works(client, token))
}

/** Passes if a token works after the given time. */
export const worksAfter = (milliseconds: number): Probe => async (client) => {
  const token = await client.token()
  client.advance(milliseconds)
  return works(client, token)
}

/**
 * Checks a response against section 2.3. Returns the offset of searched_on from UTC in minutes,
 * or undefined if the response breaks the document.
 */
export const zoneOfValid = (reply: Reply, person: PersonFields, time: number): number | undefined => {
  const credential = parseJson(reply.text.trim())
  if (!isObject(credential)) return undefined
  const holder = credential["credentials"]
  const attributes = isObject(holder) ? holder["attributes"] : undefined
  if (!isObject(attributes)) return undefined
  const text = (value: unknown): string => (typeof value === "string" ? value : "")
  const profile = text(attributes["aml_profile"])
  const searched = text(attributes["searched_on"])
  const milliseconds = Date.parse(`${searched.replace(" ", "T")}Z`)
  const offset = (milliseconds - time) / minute
  const valid = credential["credential_type"] === "aml" &&
    credential["credential_name"] === "AML" &&
    text(credential["issued_by"]) !== "" &&
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text(credential["issuer_id"])) &&
    /^[0-9]+\.[0-9]+$/.test(text(credential["cred_version"])) &&
    attributes["name"] === person["name"] &&
    attributes["birth_year"] === text(person["dob"]).slice(-4) &&
    attributes["match_found"] === (isListed(text(person["name"])) ? "Potential match" : "No") &&
    /^https?:\/\/[^/]+\//.test(profile) && URL.canParse(profile) &&
    /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$/.test(searched) &&
    offset % 15 === 0 && Math.abs(offset) <= 14 * 60
  return valid ? offset : undefined
}

/** Passes if each person gets a valid credential. The clock moves between the checks. */
export const validFor = (people: ReadonlyArray<PersonFields>, step = 0): Probe => async (client) => {
  const token = await client.token()
  const offsets = new Set<number | undefined>()
  for (const fields of people) {
    client.advance(step)
    const person = { ...defaultPerson, ...fields }
    offsets.add(zoneOfValid(await client.check(token, person), person, client.now()))
  }
  return offsets.size === 1 && !offsets.has(undefined)
}

/** Passes if each of the concurrent checks gets a valid credential. */
export const validTogether = (people: ReadonlyArray<PersonFields>): Probe => async (client) => {
  const token = await client.token()
  const valid = await Promise.all(
    people.map(async (fields) => {
      const person = { ...defaultPerson, ...fields }
      return zoneOfValid(await client.check(token, person), person, client.now()) !== undefined
    })
  )
  return valid.every(Boolean)
}

/** Passes if a listed and an unlisted person get valid credentials, twice each. */
export const validForBoth: Probe = validFor([defaultPerson, listedPerson, listedPerson, defaultPerson], second)

/** Passes if checks at intervals of five hours, each with a new token, get valid credentials with one time zone. */
export const validOverDay: Probe = async (client) => {
  const offsets = new Set<number | undefined>()
  for (let count = 0; count < 4; count += 1) {
    client.advance(5 * 60 * minute)
    offsets.add(zoneOfValid(await client.check(await client.token()), defaultPerson, client.now()))
  }
  return offsets.size === 1 && !offsets.has(undefined)
}
