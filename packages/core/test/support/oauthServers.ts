/**
 * Third-party OAuth servers, each with the AML operation, which asks the server whether a token is valid.
 */
import { Effect } from "effect"
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import { OAuth2Server } from "oauth2-mock-server"
import { Provider } from "oidc-provider"
import * as Service from "./service.ts"

export interface OAuthServer {
  readonly url: string
  /** The issued tokens. */
  readonly issued: ReadonlyArray<string>
  /** The tokens of the checks that were refused. */
  readonly rejected: ReadonlyArray<string>
  /** Revokes all tokens. */
  readonly forget: Effect.Effect<void>
}

export interface Settings {
  readonly customerId: string
  readonly customerKey: string
  readonly seconds: number
}

const listen = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly server: ReturnType<typeof createServer> }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}` }))
      })
    }),
    ({ server }) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

/** Adds the AML operation for tokens that `isGood` accepts. The OAuth server handles everything else. */
const withAml =
  (isGood: (token: string) => Promise<boolean>, rejected: Array<string>, oauth: RequestListener): RequestListener =>
  (request, response) => {
    if (request.url !== "/api/aml") return void oauth(request, response)
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? ""
    const respond = (isGood: boolean) => {
      if (!isGood) rejected.push(token)
      const body = JSON.stringify(isGood ? Service.credential() : {})
      response.writeHead(isGood ? 200 : 401, isGood ? {} : { "www-authenticate": "Bearer error=\"invalid_token\"" })
      response.end(body)
    }
    void isGood(token).then(respond, () => respond(false))
  }

/** A certified server, which decodes id and key as in RFC 6749, section 2.3.1. */
export const oidcProvider = (settings: Settings) =>
  Effect.gen(function*() {
    const issued: Array<string> = []
    const rejected: Array<string> = []
    let forgotten = 0
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const provider = new Provider("http://127.0.0.1", {
      clients: [{
        client_id: settings.customerId,
        client_secret: settings.customerKey,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: "client_secret_basic"
      }],
      cookies: { keys: ["test"] },
      jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kty: "RSA", use: "sig" }] },
      features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
      routes: { token: "/oauth/service" },
      ttl: { ClientCredentials: settings.seconds }
    })
    provider.on("client_credentials.saved", ({ jti }) => issued.push(jti))
    const isGood = (token: string) =>
      provider.ClientCredentials.find(token).then((found) =>
        found?.isValid === true && !issued.slice(0, forgotten).includes(token)
      )
    const { url } = yield* listen(withAml(isGood, rejected, provider.callback()))
    return { url, issued, rejected, forget: Effect.sync(() => forgotten = issued.length) }
  })

/** A server whose tokens are JWTs. By default it accepts every key, so its hook checks the key here. */
export const oauth2MockServer = (settings: Settings) =>
  Effect.gen(function*() {
    const issued: Array<string> = []
    const rejected: Array<string> = []
    let forgotten = 0
    const server = new OAuth2Server(undefined, undefined, { endpoints: { token: "/oauth/service" } })
    const key = yield* Effect.promise(() => server.issuer.keys.generate("RS256"))
    server.issuer.url = "http://127.0.0.1"
    const basic = Buffer.from(`${settings.customerId}:${settings.customerKey}`).toString("base64")
    server.service.on("beforeTokenSigning", (token) => {
      token.payload.exp = Math.floor(Date.now() / 1000) + settings.seconds
      token.payload.jti = String(issued.length)
    })
    server.service.on("beforeResponse", (response, request) => {
      if (request.headers.authorization !== `Basic ${basic}`) {
        response.statusCode = 401
        response.body = { error: "invalid_client" }
      } else {
        response.body.expires_in = settings.seconds
        issued.push(response.body.access_token)
      }
    })
    const isGood = (token: string) =>
      Promise.resolve().then(() => {
        const [header = "", payload = "", signature = ""] = token.split(".")
        const { exp } = JSON.parse(Buffer.from(payload, "base64url").toString())
        return Date.now() < exp * 1000 &&
          !issued.slice(0, forgotten).includes(token) &&
          verify(
            "sha256",
            Buffer.from(`${header}.${payload}`),
            createPublicKey({ key, format: "jwk" }),
            Buffer.from(signature, "base64url")
          )
      })
    const { url } = yield* listen(withAml(isGood, rejected, server.service.requestHandler))
    return { url, issued, rejected, forget: Effect.sync(() => forgotten = issued.length) }
  })
