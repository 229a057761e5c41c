/** Asks for tokens or checks, and looks at no more than what is looked for: `load.ts <token|aml> <url>`. */
import { Effect } from "effect"
import { Agent, request } from "undici"
import * as Subject from "../support/Subject.ts"

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

const asked = JSON.stringify({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })

const tokenBody = (dispatcher: Agent) =>
  post(dispatcher, "/oauth/service", basic, "application/x-www-form-urlencoded", "grant_type=client_credentials")

const has = (field: string) => (text: string) => text.includes(`"${field}"`)

const token = Effect.map(
  dispatcher,
  (dispatcher) => Subject.ofPromise(() => tokenBody(dispatcher).then(has("access_token")), true)
)

const aml = Effect.gen(function*() {
  const agent = yield* dispatcher
  const { access_token }: TokenResponse = JSON.parse(yield* Effect.tryPromise(() => tokenBody(agent)))
  return Subject.ofPromise(
    () => post(agent, "/api/aml", `Bearer ${access_token}`, "application/json", asked).then(has("match_found")),
    true
  )
})

Subject.main(operation === "token" ? token : aml)
