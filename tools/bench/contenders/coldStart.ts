/**
 * The first checks of a process, all at once: `coldStart.ts <way> <url> <checks>` prints after how
 * many milliseconds the first and the last credential were there.
 */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Redacted } from "effect"
import type { Cold } from "../coldStart.ts"

const [, , way = "", url = "", checks = "1"] = process.argv

const customerId = "demo-customer"
const customerKey = "demo-key"

const started = performance.now()
let first = Infinity
let done = 0

const came = (matchFound: unknown) => {
  if (matchFound !== "No") throw new Error(`it gave ${matchFound}`)
  if (++done === 1) first = performance.now() - started
}

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
  const { credentials } = yield* aml.check(person)
  came(credentials.attributes.matchFound)
})

const client = Effect.suspend(() =>
  Effect.replicateEffect(check, Number(checks), { concurrency: "unbounded", discard: true }).pipe(
    Effect.provide(Idv.layer({
      authUrl: url,
      baseUrl: url,
      customerId,
      customerKey: Redacted.make(customerKey),
      // Where the machine is slow all of them take longer than the 30 seconds of the default.
      deadline: "5 minutes"
    })),
    Effect.provide(NodeHttpClient.layerUndici)
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
      .then((json) => came((json as Credential).credentials.attributes.match_found))
  return Promise.all(Array.from({ length: Number(checks) }, check))
})

Effect.suspend((): Effect.Effect<unknown, unknown> => way === "client" ? client : fetched).pipe(
  Effect.map((): Cold => ({ first, last: performance.now() - started })),
  Effect.flatMap((cold) => Console.log(JSON.stringify(cold))),
  // Connections that are kept would keep the process.
  Effect.zipRight(Effect.sync(() => process.exit())),
  NodeRuntime.runMain
)
