import { withClient } from "./client.ts"
import { hour } from "./hooks.ts"
import { mutants } from "./mutants.ts"
import {
  hasCredential,
  minute,
  refusesLogin,
  refusesPerson,
  validFor,
  validForBoth,
  validOverDay,
  works
} from "./probes.ts"
import { basic, defaultPerson, tokenIn, tokenRequest } from "./requests.ts"
import { serve } from "./service.ts"
import type { Client, Reply, Style } from "./types.ts"

const styles: ReadonlyArray<Style> = ["strict", "ok-false", "five-hundred", "hang-up", "lenient"]
const problems: Array<string> = []

const expect = (condition: boolean, problem: string): void => {
  if (!condition) problems.push(problem)
}

const looksRefused: Readonly<Record<Style, (reply: Reply) => boolean>> = {
  strict: (reply) => reply.status >= 400 && reply.status < 500 && reply.text.includes("title"),
  "ok-false": (reply) => reply.status === 200 && reply.text.includes("\"success\":false"),
  "five-hundred": (reply) => reply.status === 500,
  "hang-up": (reply) => reply.status === 0,
  lenient: (reply) => reply.status === 400 || reply.status === 401
}

/** Checks the refusals of one style and the additional requests that the style "lenient" accepts. */
const checkStyle = async (style: Style, client: Client): Promise<void> => {
  const login = tokenRequest(basic(`${client.id}:${client.key}`))
  const token = await client.token()
  const refusals: ReadonlyArray<readonly [label: string, reply: Reply]> = [
    ["a wrong key", await client.send(tokenRequest(basic(`${client.id}:x`)))],
    ["a wrong grant type", await client.send({ ...login, body: "grant_type=password" })],
    ["an unknown token", await client.check("unknown")],
    ["a wrong date", await client.check(token, { ...defaultPerson, dob: "31-02-1980" })],
    ["a body that is not JSON", await client.check(token, defaultPerson, { body: "{" })],
    ["an unknown path", await client.check(token, defaultPerson, { path: "/api/other" })],
    ["the method DELETE", await client.check(token, defaultPerson, { method: "DELETE" })]
  ]
  for (const [label, reply] of refusals) {
    expect(
      looksRefused[style](reply) && !hasCredential(reply) && tokenIn(reply) === undefined,
      `${style}: ${label} is not refused.`
    )
  }

  const lenient = style === "lenient"
  const lower = { ...login.headers, Authorization: (login.headers["Authorization"] ?? "").replace("Basic", "basic") }
  const extras: ReadonlyArray<readonly [label: string, accepted: boolean]> = [
    ["a lower-case scheme", tokenIn(await client.send({ ...login, headers: lower })) !== undefined],
    [
      "a JSON token request",
      tokenIn(
        await client.send({
          ...login,
          headers: { ...login.headers, "Content-Type": "application/json" },
          body: "{\"grant_type\":\"client_credentials\"}"
        })
      ) !== undefined
    ],
    [
      "a GET token request",
      tokenIn(await client.send({ ...login, method: "GET", path: `${login.path}?${login.body}`, body: "" })) !==
        undefined
    ],
    [
      "a lower-case bearer scheme",
      hasCredential(await client.check(token, defaultPerson, { headers: { Authorization: `bearer ${token}` } }))
    ]
  ]
  for (const [label, accepted] of extras) {
    expect(accepted === lenient, `${style}: ${label} is ${accepted ? "accepted" : "refused"}.`)
  }
  expect(
    tokenIn(await client.send({ ...login, body: `${login.body}&scope=aml` })) !== undefined,
    `${style}: an extra parameter is refused.`
  )
  client.advance(hour - 1)
  expect(await works(client, token), `${style}: a token is refused before one hour.`)
  client.advance(1)
  expect(!(await works(client, token)), `${style}: a token is accepted after one hour.`)
}

/** Requests the service with fetch, on the real clock. */
const checkWithFetch = async (style: Style): Promise<void> => {
  const server = await serve({ style })
  const headers = { Authorization: basic(`${server.customerId}:${server.customerKey}`) }
  const body = new URLSearchParams({ grant_type: "client_credentials" })
  const issued = (await (await fetch(`${server.url}/oauth/service`, { method: "POST", headers, body })).json()) as {
    access_token: string
  }
  const response = await fetch(`${server.url}/api/aml`, {
    method: "POST",
    headers: { Authorization: `Bearer ${issued.access_token}` },
    body: JSON.stringify(defaultPerson)
  })
  expect(
    response.ok && (await response.text()).includes("\"No\""),
    `${style}: the documented requests fail with fetch.`
  )
  await server.close()
}

for (const style of styles) {
  await checkWithFetch(style)
  await withClient({ style }, (client) => checkStyle(style, client))
  for (
    const probe of [
      validForBoth,
      validOverDay,
      validFor([{ name: "Łukasz O'Neil-Żak" }, { name: "王小明" }], minute),
      refusesLogin((client) => `${client.id}:x`),
      refusesPerson({ entity_type: "company" })
    ]
  ) {
    expect(await withClient({ style }, probe), `${style}: the correct server fails a probe.`)
  }
}

const ids = new Set(mutants.map((mutant) => mutant.id))
expect(ids.size === mutants.length, "Two mutants have the same id.")

let observable = 0
const hidden: Array<string> = []
for (const mutant of mutants) {
  for (const style of styles) {
    const correct = await withClient({ style }, mutant.probe)
    expect(correct, `${style}: the correct server fails the probe of ${mutant.id}.`)
    const mutated = await withClient({ style, fault: mutant.id }, (client) => mutant.probe(client).catch(() => false))
    if (style === "strict" && !mutated) observable += 1
    if (mutated) hidden.push(`${mutant.id} (${style})`)
  }
}

const counts = new Map<string, number>()
for (const mutant of mutants) counts.set(mutant.area, (counts.get(mutant.area) ?? 0) + 1)
for (const [area, count] of counts) console.log(`${String(count).padStart(4)}  ${area}`)
if (hidden.length > 0) console.log(`Not observable in these styles: ${hidden.join(", ")}`)
for (const problem of problems) console.error(problem)
console.log(`${mutants.length} mutants, ${observable} observable`)
process.exitCode = problems.length === 0 && observable === mutants.length ? 0 : 1
