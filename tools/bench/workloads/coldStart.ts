/**
 * Makes the first checks of a process concurrently: `coldStart.ts <client|idvHttp|fetched> <url> <checks>` prints
 * the milliseconds until the first and the last credential.
 */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Redacted } from "effect"
import type { ColdStart } from "../coldStart.ts"

const [, , alternative = "", url = "", checks = "1"] = process.argv

const customerId = "demo-customer"
const customerKey = "demo-key"

const startedAt = performance.now()
let first = Infinity
let count = 0

const record = (matchFound: unknown) => {
  if (matchFound !== "No") throw new Error(`returned ${matchFound} instead of No`)
  if (++count === 1) first = performance.now() - startedAt
}

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
  const { credentials } = yield* aml.check(person)
  record(credentials.attributes.matchFound)
})

const client = Effect.suspend(() =>
  Effect.replicateEffect(check, Number(checks), { concurrency: "unbounded", discard: true }).pipe(
    Effect.provide(Idv.layer({
      authUrl: url,
      baseUrl: url,
      customerId,
      customerKey: Redacted.make(customerKey),
      // On a slow machine 10,000 checks take longer than the default of 30 seconds.
      deadline: "5 minutes"
    })),
    Effect.provide(alternative === "idvHttp" ? IdvHttp.layerUndici() : NodeHttpClient.layerUndici)
  )
)

interface Credential {
  readonly credentials: { readonly attributes: { readonly match_found: unknown } }
}

const fetched = Effect.promise(() => {
  const authorization = `Basic ${btoa(`${customerId}:${customerKey}`)}`
  const grant = new URLSearchParams({ grant_type: "client_credentials" })
  const token = fetch(`${url}/oauth/service`, { method: "POST", headers: { authorization }, body: grant })
    .then((response) => response.json())
    .then((json) => (json as { readonly access_token: string }).access_token)
  const check = () =>
    token
      .then((token) =>
        fetch(`${url}/api/aml`, {
          method: "POST",
          headers: { "authorization": `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })
        })
      )
      .then((response) => response.json())
      .then((json) => record((json as Credential).credentials.attributes.match_found))
  return Promise.all(Array.from({ length: Number(checks) }, check))
})

Effect.suspend((): Effect.Effect<unknown, unknown> => alternative === "fetched" ? fetched : client).pipe(
  Effect.map((): ColdStart => ({ first, last: performance.now() - startedAt })),
  Effect.flatMap((result) => Console.log(JSON.stringify(result))),
  // Open connections would keep the process alive.
  Effect.zipRight(Effect.sync(() => process.exit())),
  NodeRuntime.runMain
)
