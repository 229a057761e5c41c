/** Checks one person with one of the alternatives that a team could write: `check.ts <alternative> <url>`. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Agent, request } from "undici"
import * as Workload from "../support/Workload.ts"

const [, , alternative = "", url = ""] = process.argv

const customerId = "demo-customer"
const customerKey = "demo-key"
const input = { name: "Ada Testclear", dateOfBirth: "1990-02-01" }
const requestBody = { entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" }

/** The stub accepts any token. */
const token = "token"

const aml = `${url}/api/aml`
const headers = (token: string) => ({ "authorization": `Bearer ${token}`, "content-type": "application/json" })

interface Credential {
  readonly credentials: { readonly attributes: { readonly match_found: unknown } }
}

const matchFound = (credential: unknown) => (credential as Credential).credentials.attributes.match_found

const inScope = <A, E, R, E2>(layer: Layer.Layer<R, E2>, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Layer.build(layer), (context) => Effect.provide(effect, context))

const idvOver = <E>(transport: Layer.Layer<HttpClient.HttpClient, E>) =>
  Layer.provide(
    Idv.layer({ authUrl: url, baseUrl: url, customerId, customerKey: Redacted.make(customerKey) }),
    transport
  )

const idv = idvOver(NodeHttpClient.layerUndici)

/** `AmlClient.check` of a `Person`. */
const checkLoop = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const ada = yield* Person.make(input)
  return Workload.concurrently(Workload.fromEffect(
    Effect.map(aml.check(ada), ({ result }) => result),
    "No"
  ))
})

const check = inScope(idv, checkLoop)

const checkFetch = inScope(idvOver(FetchHttpClient.layer), checkLoop)

const checkIdvHttp = inScope(idvOver(IdvHttp.layerUndici()), checkLoop)

const Body = Schema.Struct({ entity_type: Schema.Literal("person"), name: Schema.String, dob: Schema.String })

const AmlResponse = Schema.Struct({
  credential_type: Schema.Literal("aml"),
  credential_name: Schema.String,
  issued_by: Schema.String,
  issuer_id: Schema.UUID,
  cred_version: Schema.String,
  credentials: Schema.Struct({
    attributes: Schema.Struct({
      name: Schema.String,
      birth_year: Schema.String,
      searched_on: Schema.String,
      match_found: Schema.Literal("Potential match", "No"),
      aml_profile: Schema.String
    })
  })
})

/** The platform's `HttpClient` with its span and schemas, with a constant token. */
const bareEffect = inScope(
  NodeHttpClient.layerUndici,
  Effect.gen(function*() {
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    const toBody = HttpClientRequest.schemaBodyJson(Body)
    const check = Effect.suspend(() =>
      HttpClientRequest.post(aml).pipe(
        HttpClientRequest.bearerToken(token),
        HttpClientRequest.acceptJson,
        toBody({ entity_type: "person", name: "Ada Testclear", dob: "01-02-1990" })
      )
    ).pipe(
      Effect.flatMap(client.execute),
      Effect.flatMap(HttpClientResponse.schemaBodyJson(AmlResponse)),
      Effect.map(({ credentials }) => credentials.attributes.match_found)
    )
    return Workload.concurrently(Workload.fromEffect(check, "No"))
  })
)

/** The lower bound: a constant token, no deadline and no validation. */
const undici = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => new Agent()),
    (dispatcher) => Effect.promise(() => dispatcher.destroy())
  ),
  (dispatcher) =>
    Workload.concurrently(Workload.fromPromise(
      () =>
        request(aml, { dispatcher, method: "POST", headers: headers(token), body: JSON.stringify(requestBody) })
          .then(({ body }) => body.text())
          .then((text) => matchFound(JSON.parse(text))),
      "No"
    ))
)

interface TokenResponse {
  readonly access_token: string
  readonly expires_in?: number | undefined
}

/** `fetch` with a deadline, and a token cache that renews shortly before the expiry. */
const fetchWithTokenCache = (acquire: () => Promise<TokenResponse>) => {
  let cached: Promise<{ readonly token: string; readonly usableUntil: number }> | undefined
  const renew = () => {
    const requestedAt = Date.now()
    return cached = acquire().then(({ access_token, expires_in = 3600 }) => ({
      token: access_token,
      usableUntil: requestedAt + (expires_in - 30) * 1000
    }))
  }
  const valid = () => (cached ?? renew()).then((cached) => cached.usableUntil > Date.now() ? cached : renew())
  return Workload.concurrently(Workload.fromPromise(() =>
    valid()
      .then(({ token }) => {
        const signal = AbortSignal.timeout(10_000)
        return fetch(aml, { method: "POST", headers: headers(token), body: JSON.stringify(requestBody), signal })
      })
      .then((response) => {
        if (!response.ok) throw new Error(`status ${response.status}`)
        return response.json()
      })
      .then(matchFound), "No"))
}

const fetched = Effect.sync(() => {
  const authorization = `Basic ${btoa(`${customerId}:${customerKey}`)}`
  const body = new URLSearchParams({ grant_type: "client_credentials" })
  return fetchWithTokenCache(() =>
    fetch(`${url}/oauth/service`, { method: "POST", headers: { authorization }, body })
      .then((response) => response.json())
      .then((json) => json as TokenResponse)
  )
})

const alternatives = {
  check,
  checkFetch,
  checkIdvHttp,
  bareEffect,
  undici,
  fetched
}

Workload.mainWith<unknown>(
  alternative in alternatives
    ? alternatives[alternative as keyof typeof alternatives]
    : Effect.die(`unknown alternative: ${alternative}`)
)
