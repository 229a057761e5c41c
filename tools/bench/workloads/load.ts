/** Requests tokens or checks, and only checks that the response contains one field: `load.ts <token|aml> <url>`. */
import { Effect } from "effect"
import { Agent, request } from "undici"
import * as Workload from "../support/Workload.ts"

const [, , operation = "", url = ""] = process.argv

const basic = `Basic ${btoa("demo-customer:demo-key")}`

const dispatcher = Effect.acquireRelease(
  Effect.sync(() => new Agent({ headersTimeout: 20_000, bodyTimeout: 20_000 })),
  (dispatcher) => Effect.promise(() => dispatcher.destroy())
)

const post = (dispatcher: Agent, path: string, authorization: string, type: string, body: string) =>
  request(`${url}${path}`, {
    dispatcher,
    method: "POST",
    headers: { authorization, "content-type": type, "accept": "application/json" },
    body
  }).then(({ body, statusCode }) =>
    body.text().then((text) => {
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      return text
    })
  )

interface TokenResponse {
  readonly access_token: string
}

const amlBody = JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })

const requestToken = (dispatcher: Agent) =>
  post(dispatcher, "/oauth/service", basic, "application/x-www-form-urlencoded", "grant_type=client_credentials")

const has = (field: string) => (text: string) => text.includes(`"${field}"`)

const token = Effect.map(
  dispatcher,
  (dispatcher) => Workload.fromPromise(() => requestToken(dispatcher).then(has("access_token")), true)
)

const aml = Effect.gen(function*() {
  const agent = yield* dispatcher
  const { access_token }: TokenResponse = JSON.parse(yield* Effect.tryPromise(() => requestToken(agent)))
  return Workload.fromPromise(
    () => post(agent, "/api/aml", `Bearer ${access_token}`, "application/json", amlBody).then(has("match_found")),
    true
  )
})

Workload.main(operation === "token" ? token : aml)
