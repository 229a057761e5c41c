/** OAuth clients of other projects, each with the right key and with wrong ones. */
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { describe, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Redacted, Schema } from "effect"
import { execFile } from "node:child_process"
import * as oauth from "oauth4webapi"
import * as openid from "openid-client"
import { ClientCredentials } from "simple-oauth2"
import * as RawClient from "./support/rawClient.ts"

/** Returns the token, or fails with the status of the error response. */
type GetToken = (url: string, customerId: string, customerKey: string) => Effect.Effect<string, unknown>

const server = (url: string) => ({ issuer: url, token_endpoint: `${url}/oauth/service` })

/** The status, if the error is a 401 with a Basic challenge. */
const challenged = (error: unknown): unknown =>
  error instanceof oauth.WWWAuthenticateChallengeError && error.cause.some(({ scheme }) => scheme === "basic")
    ? error.status
    : error

const simpleOAuth2 = (credentialsEncodingMode: "strict" | "loose"): GetToken => (url, id, secret) => {
  const client = new ClientCredentials({
    client: { id, secret },
    auth: { tokenHost: url, tokenPath: "/oauth/service" },
    options: { authorizationMethod: "header", credentialsEncodingMode }
  })
  return Effect.tryPromise({
    try: () => client.getToken({}),
    catch: (error) => isBoom(error) ? error.output.statusCode : error
  }).pipe(Effect.map(({ token }) => String(token["access_token"])))
}

const isBoom = Schema.is(Schema.Struct({ output: Schema.Struct({ statusCode: Schema.Number }) }))

const clients: ReadonlyArray<readonly [string, GetToken]> = [
  ["oauth4webapi", (url, customerId, customerKey) => {
    const client = { client_id: customerId }
    const authentication = oauth.ClientSecretBasic(customerKey)
    return Effect.tryPromise({
      try: () =>
        oauth.clientCredentialsGrantRequest(server(url), client, authentication, {}, {
          [oauth.allowInsecureRequests]: true
        }).then((response) => oauth.processClientCredentialsResponse(server(url), client, response)),
      catch: challenged
    }).pipe(Effect.map(({ access_token }) => access_token))
  }],
  ["openid-client", (url, customerId, customerKey) => {
    const authentication = openid.ClientSecretBasic(customerKey)
    const configuration = new openid.Configuration(server(url), customerId, {}, authentication)
    openid.allowInsecureRequests(configuration)
    return Effect.tryPromise({ try: () => openid.clientCredentialsGrant(configuration), catch: challenged }).pipe(
      Effect.map(({ access_token }) => access_token)
    )
  }],
  ["simple-oauth2 in header mode, strict", simpleOAuth2("strict")],
  ["simple-oauth2 in header mode, loose", simpleOAuth2("loose")],
  ["curl", (url, customerId, customerKey) =>
    Effect.async<string, unknown>((resume) => {
      const user = ["--silent", "--max-time", "10", "--user", `${customerId}:${customerKey}`]
      const data = ["--write-out", "\n%{http_code}", "--data", "grant_type=client_credentials", `${url}/oauth/service`]
      execFile("curl", user.concat(data), (error, stdout) => {
        const [body = "", status] = stdout.split("\n")
        const { access_token } = JSON.parse(body)
        resume(error === null && status === "200" ? Effect.succeed(access_token) : Effect.fail(Number(status)))
      })
    })]
]

/** Characters that a form encodes, and some that change if they are decoded once too often. */
const odd: Session.Customer = { customerId: "acme-bank+1 x", customerKey: Redacted.make("k+y/%41 :=&~") }

layer(MockServer.layer({ port: 0, customers: [Session.demoCustomer, odd] }), { excludeTestServices: true })((it) => {
  describe.each(clients)("%s", (_, getToken) => {
    it.effect.each(["demo-customer", "test-foreign", odd.customerId])(
      "gets a token for %s that the API accepts",
      (customerId) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const token = yield* getToken(url, customerId, keyOf(customerId))
          strictEqual(RawClient.parse(yield* RawClient.send(url, RawClient.amlRequest(token))).status, 200)
        })
    )

    it.effect.each(["wrong", "%zz", "demo%252Dkey", "Demo-key", "test-key"])(
      "gets a 401 with the wrong key %s",
      (customerKey) =>
        Effect.gen(function*() {
          const { url } = yield* MockServer.MockServer
          const session = (yield* Control.Control).session("demo-customer")
          yield* session.clearJournal
          strictEqual(yield* Effect.flip(getToken(url, "demo-customer", customerKey)), 401)
          const { entries } = yield* session.journal()
          deepStrictEqual(entries.map(({ rule, unexpected }) => [rule, unexpected]), [["token.credentials", true]])
        })
    )
  })

  it.effect("the journal says that credentials were form-encoded, which the service document does not show", () =>
    Effect.gen(function*() {
      const { url } = yield* MockServer.MockServer
      const session = (yield* Control.Control).session("test-encoded")
      yield* RawClient.token(url, "test-encoded")
      yield* RawClient.token(url, "test%2Dencoded", "test%2Dkey")
      const whys = (yield* session.journal()).entries.map(({ why }) => why.includes("form-encoded"))
      deepStrictEqual(whys, [false, true])
    }))
})

const keyOf = (customerId: string) =>
  customerId === odd.customerId ? Redacted.value(odd.customerKey) : customerId.replace(/-.*/, "-key")
