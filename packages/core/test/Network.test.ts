/** Proxies, private CAs and client certificates, with a real proxy and a real TLS server: what was sent, and what the client reports. */
import { AmlClient, Failure, Idv, Person, TokenProvider } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { NodeHttpClient, Undici } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Cause, type ConfigError, ConfigProvider, Effect, Exit, Layer, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { LookupFunction } from "node:net"
import { join } from "node:path"
import * as SelfSigned from "../../mock-server/src/internal/wire/selfSigned.ts"
import * as ClientCertificate from "../../mock-server/test/support/clientCertificate.ts"
import { everythingPrinted } from "./support/canary.ts"
import * as ConnectProxy from "./support/connectProxy.ts"
import { listening } from "./support/listening.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"
import * as TemporaryFiles from "./support/temporaryFiles.ts"

const { ca, keyPair } = await Effect.runPromise(
  SelfSigned.make(["auth.idv.test", "api.idv.test", "127.0.0.1"], Date.now())
)
const tls = { cert: keyPair.cert, key: Redacted.value(keyPair.key) }
const client = await Effect.runPromise(ClientCertificate.make)
const other = await Effect.runPromise(ClientCertificate.make)

/** Every name is this machine. */
const lookup: LookupFunction = (_, { all }, done) =>
  all === true ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)
const connect = { ca, lookup, ...client }

type Connect = Partial<typeof connect>

const overDispatcher = (connect: Connect) => Layer.scoped(NodeHttpClient.Dispatcher, IdvHttp.dispatcherEnv({ connect }))

const transports = {
  "IdvHttp.layerEnv": (connect: Connect) => IdvHttp.layerEnv({ connect }),
  "NodeHttpClient.layerUndiciWithoutDispatcher": (connect: Connect) =>
    Layer.provide(NodeHttpClient.layerUndiciWithoutDispatcher, overDispatcher(connect)),
  "FetchHttpClient.layer": (connect: Connect) =>
    Layer.provide(
      FetchHttpClient.layer,
      Layer.scopedDiscard(Effect.flatMap(NodeHttpClient.Dispatcher, (dispatcher) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const before = Undici.getGlobalDispatcher()
            Undici.setGlobalDispatcher(dispatcher)
            return before
          }),
          (before) => Effect.sync(() => Undici.setGlobalDispatcher(before))
        )))
    ).pipe(Layer.provide(overDispatcher(connect)))
}

/** A service over TLS that requires a client certificate, and the paths that it received. */
const service = (onCheck: () => void = () => {}) =>
  Effect.gen(function*() {
    const received: Array<string> = []
    const agents: Array<string | undefined> = []
    const server = createServer({ ...tls, requestCert: true, ca: client.cert }, (request, response) => {
      received.push(request.url ?? "")
      agents.push(request.headers["user-agent"])
      if (request.url === "/api/aml") onCheck()
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(
        request.url === "/api/aml" ? Service.credential() : { access_token: "t", expires_in: 3600 }
      ))
    })
    server.on("tlsClientError", () => {})
    return { agents, received, port: yield* listening(server) }
  })

const check = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  return yield* aml.check(yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1957-03-14" }))
})

const withVariables = (variables: Readonly<Record<string, string>>) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables))))

const login = "acme:pr%C3%B6xy-canary"
const secrets = ["pr%C3%B6xy", "pröxy", Buffer.from("acme:pröxy-canary").toString("base64")]

interface Case {
  readonly host?: string
  readonly proxy?: Partial<ConnectProxy.Options>
  readonly variables?: (proxyPort: number) => Readonly<Record<string, string>>
  readonly connect?: Connect
  /** Whether the proxy cuts all connections once the service has the check. */
  readonly isCut?: boolean
  /** How many tunnels, token requests and checks there are, and what the client reports. */
  readonly expected: readonly [connects: number, tokens: number, checks: number, reported: string]
}

const withLogin = (port: number) => ({ HTTPS_PROXY: `http://${login}@127.0.0.1:${port}` })
const withoutCertificate: Connect = Object.fromEntries(
  Object.entries(connect).filter(([name]) => name === "ca" || name === "lookup")
)
const noProxy = "TokenEndpointUnavailable proxy, sent: no"

const cases: Readonly<Record<string, Case>> = {
  "a proxy with user and password": { expected: [2, 1, 1, "No"] },
  "a proxy in lower case, which wins": {
    variables: (port) => ({ HTTPS_PROXY: "http://127.0.0.1:1", https_proxy: `http://${login}@127.0.0.1:${port}` }),
    expected: [2, 1, 1, "No"]
  },
  "only HTTP_PROXY": {
    variables: (port) => ({ HTTP_PROXY: `http://${login}@127.0.0.1:${port}` }),
    expected: [2, 1, 1, "No"]
  },
  "a proxy over TLS": {
    proxy: { tls },
    variables: (port) => ({ HTTPS_PROXY: `https://${login}@127.0.0.1:${port}` }),
    expected: [2, 1, 1, "No"]
  },
  "a loopback address": { host: "127.0.0.1", expected: [0, 1, 1, "No"] },
  "a host in NO_PROXY": {
    variables: (port) => ({ ...withLogin(port), NO_PROXY: "x,.idv.test" }),
    expected: [0, 1, 1, "No"]
  },
  "NO_PROXY=*": { variables: (port) => ({ ...withLogin(port), NO_PROXY: "*" }), expected: [0, 1, 1, "No"] },
  "a proxy that refuses the password": {
    variables: (port) => ({ HTTPS_PROXY: `http://acme:wrong-canary@127.0.0.1:${port}` }),
    expected: [1, 0, 0, "TokenEndpointUnavailable proxy 407, sent: no"]
  },
  "a proxy that refuses the API": {
    proxy: { refuse: (host) => host.startsWith("api.") ? 403 : undefined },
    expected: [2, 1, 0, "AmlUnavailable proxy 403, sent: no"]
  },
  "a proxy that fails with 502": {
    proxy: { refuse: (host) => host.startsWith("api.") ? 502 : undefined },
    expected: [4, 1, 0, "AmlUnavailable proxy 502, sent: no"]
  },
  "a proxy that closes each connection": { proxy: { refuse: () => "closes" }, expected: [3, 0, 0, noProxy] },
  "a proxy that does not exist": {
    variables: () => ({ HTTPS_PROXY: `http://${login}@127.0.0.1:1` }),
    expected: [0, 0, 0, noProxy]
  },
  "a proxy that cuts the connection in the middle of a check": {
    isCut: true,
    expected: [2, 1, 1, "AmlUnavailable broken, sent: unknown"]
  },
  "a proxy, without the CA": {
    connect: { lookup },
    expected: [1, 0, 0, "TokenEndpointUnavailable certificate, sent: no"]
  },
  "no proxy, with a client certificate": { variables: () => ({}), expected: [0, 1, 1, "No"] }
}

const report = (exit: Exit.Exit<{ readonly result: string }, unknown>) =>
  Exit.match(exit, {
    onSuccess: ({ result }) => result,
    onFailure: (cause) => {
      const error = Option.getOrThrow(Cause.failureOption(cause))
      if (!("_tag" in Object(error))) return String(error)
      const failure = error as Failure.Failure
      const status = "status" in failure && failure.status !== undefined ? ` ${failure.status}` : ""
      const reason = "reason" in failure ? ` ${failure.reason}` : ""
      return `${failure._tag}${reason}${status}, sent: ${Failure.facts(failure).sent}`
    }
  })

/** The table in docs/operating.md. Cases with the same report are one row. */
const page = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8")
const rows = Object.entries(Arr.groupBy(Object.entries(cases), ([, { expected: [, , , reported] }]) => reported))

it.each(rows)(
  "docs/operating.md has a row with %s",
  (reported, cases) => assert.include(page, `| ${cases.map(([name]) => name).join("; ")} | \`${reported}\` |`)
)

describe.each(Object.entries(transports))("%s", (_, transport) => {
  it.scopedLive.each(Object.entries(cases))(
    "with %s",
    ([, { connect: tlsOptions = connect, expected, host, isCut, proxy, variables = withLogin }]) =>
      Effect.gen(function*() {
        let cut = () => {}
        const { port, received } = yield* service(() => isCut === true && cut())
        const via = yield* ConnectProxy.make({ target: port, login: decodeURIComponent(login), ...proxy })
        cut = via.cut
        const options = {
          ...Service.options,
          authUrl: `https://${host ?? "auth.idv.test"}:${port}`,
          baseUrl: `https://${host ?? "api.idv.test"}:${port}`
        }
        const { exit, printed } = yield* everythingPrinted(
          Effect.provide(check, Layer.provide(Idv.layer(options), transport(tlsOptions))).pipe(
            withVariables(variables(via.port))
          ),
          Cause.pretty
        )
        const count = (path: string) => received.filter((url) => url === path).length
        deepStrictEqual([via.connects.length, count("/oauth/service"), count("/api/aml"), report(exit)], [...expected])
        // By RFC 6066 an IP address is not a server name. Node 26 refuses it.
        deepStrictEqual(Array.from(via.serverNames), [])
        for (const secret of [...secrets, "wrong-canary"]) assert.notInclude(printed, secret)
      })
  )
})

/** Clients that connect directly, without a client certificate. */
const withoutCertificates = {
  "IdvHttp.layerUndici": IdvHttp.layerUndici({ connect: withoutCertificate }),
  "NodeHttpClient.layer": Layer.provide(NodeHttpClient.layerWithoutAgent, NodeHttpClient.makeAgentLayer({ ca }))
}

/** The same, with one. */
const withCertificates: Record<string, Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError>> = {
  "IdvHttp.layerUndici": IdvHttp.layerUndici({ connect }),
  "NodeHttpClient.layer": Layer.provide(
    NodeHttpClient.layerWithoutAgent,
    NodeHttpClient.makeAgentLayer({ ca, ...client })
  )
}

describe.each(Object.entries(withoutCertificates))("%s", (name, transport) => {
  it.scopedLive("sends its client certificate, and without one names it as the possible cause", () =>
    Effect.gen(function*() {
      const { port, received } = yield* service()
      const url = `https://127.0.0.1:${port}`
      const checkOver = (transport: Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError>) =>
        Effect.provide(check, Layer.provide(Idv.layer({ ...Service.options, authUrl: url, baseUrl: url }), transport))
      const error = yield* Effect.flip(checkOver(transport))
      assert.match(String(error), /whether it requires a client certificate/)
      deepStrictEqual(received, [])
      strictEqual((yield* checkOver(withCertificates[name] ?? transport)).result, "No")
    }))
})

describe("IdvHttp", () => {
  const { file, folder } = TemporaryFiles.make()
  const cert = file("cert.pem", client.cert)
  const key = file("key.pem", client.key)
  const canary = file("k4nary.pem", "k4nary-content")

  it.scopedLive.each(Object.entries(transports))(
    "sends the User-Agent of a variable over %s, through a proxy and without it",
    ([, transport]) =>
      Effect.gen(function*() {
        const { agents, port } = yield* service()
        const proxy = yield* ConnectProxy.make({ target: port })
        const options = {
          ...Service.options,
          authUrl: `https://auth.idv.test:${port}`,
          baseUrl: `https://127.0.0.1:${port}`
        }
        yield* Effect.provide(check, Layer.provide(Idv.layer(options), transport(connect))).pipe(
          withVariables({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, IDV_USER_AGENT: "acme-bank/1.0" })
        )
        deepStrictEqual([agents, proxy.connects.length], [["acme-bank/1.0", "acme-bank/1.0"], 1])
      })
  )

  it.scopedLive("reads the files of a client certificate from variables", () =>
    Effect.gen(function*() {
      const { port } = yield* service()
      const url = `https://127.0.0.1:${port}`
      const { result } = yield* Effect.provide(
        check,
        Layer.provide(
          Idv.layer({ ...Service.options, authUrl: url, baseUrl: url }),
          IdvHttp.layerEnv({ connect: withoutCertificate })
        )
      )
      strictEqual(result, "No")
    }).pipe(withVariables({ IDV_CLIENT_CERT: cert, IDV_CLIENT_KEY: key })))

  const invalidProxy = "should be the http: or https: address of a proxy, such as http://proxy.example.com:3128. " +
    "If it has a user, it has a password, both percent-encoded"
  const invalid: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
    [{ HTTPS_PROXY: "k4nary.example.com:3128" }, `HTTPS_PROXY ${invalidProxy}`],
    [{ https_proxy: "k4nary" }, `https_proxy ${invalidProxy}`],
    [{ HTTP_PROXY: "socks5://k4nary:1080" }, `HTTP_PROXY ${invalidProxy}`],
    [{ HTTP_PROXY: "http://k4nary@proxy:3128" }, `HTTP_PROXY ${invalidProxy}`],
    [{ HTTP_PROXY: "http://k4nary:%zz@proxy:3128" }, `HTTP_PROXY ${invalidProxy}`],
    [{ HTTP_PROXY: "http://[k4nary" }, `HTTP_PROXY ${invalidProxy}`],
    [{ HTTP_PROXY: "http://k4nary:8080/proxy.pac" }, `HTTP_PROXY ${invalidProxy}`],
    [{ HTTP_PROXY: "http://k4nary:8080?a" }, `HTTP_PROXY ${invalidProxy}`],
    [
      { IDV_CLIENT_CERT: join(folder, "k4nary"), IDV_CLIENT_KEY: key },
      "IDV_CLIENT_CERT should be the path of a file that can be read"
    ],
    [{ IDV_CLIENT_CERT: cert, IDV_CLIENT_KEY: folder }, "IDV_CLIENT_KEY should be the path of a file that can be read"],
    [{ IDV_CLIENT_CERT: canary, IDV_CLIENT_KEY: key }, "IDV_CLIENT_CERT should be a certificate in PEM"],
    [
      { IDV_CLIENT_CERT: cert, IDV_CLIENT_KEY: canary },
      "IDV_CLIENT_KEY should be a private key in PEM, with its passphrase if it has one"
    ],
    [
      { IDV_CLIENT_CERT: cert, IDV_CLIENT_KEY: file("empty.pem", "") },
      "IDV_CLIENT_KEY should be a private key in PEM, with its passphrase if it has one"
    ],
    [{ IDV_CLIENT_CERT: cert }, "IDV_CLIENT_KEY is missing: it should be set, because IDV_CLIENT_CERT is"],
    [{ IDV_CLIENT_KEY: key }, "IDV_CLIENT_CERT is missing: it should be set, because IDV_CLIENT_KEY is"],
    [
      { IDV_CLIENT_CERT: cert, IDV_CLIENT_KEY: file("other.pem", other.key) },
      "IDV_CLIENT_KEY should be the private key of the certificate in IDV_CLIENT_CERT"
    ],
    ...["", "k4närÿ", "k4nary\r\nx: y"].map((userAgent) =>
      [
        { IDV_USER_AGENT: userAgent },
        "IDV_USER_AGENT should be 1 to 200 characters of ASCII, such as acme-bank/1.0"
      ] as const
    )
  ]

  it.live.each(invalid)(
    "names the variable that cannot be used, and no value: %o",
    ([variables, expected]) =>
      Effect.gen(function*() {
        const { exit, printed } = yield* everythingPrinted(
          Effect.scoped(Layer.build(IdvHttp.layerEnv())).pipe(withVariables(variables)),
          (cause) => Idv.describeConfigError(Option.getOrThrow(Cause.failureOption(cause)))
        )
        strictEqual(Exit.isFailure(exit), true)
        strictEqual(printed.split("\n").includes(expected), true, printed)
        assert.notInclude(printed, "k4nary")
      })
  )

  it.live.each(
    [
      [{ ca: "k4nary" }, "connect.ca should be certificates in PEM"],
      [{ cert: "k4nary", key: client.key }, "connect.cert should be a certificate in PEM"],
      [{ cert: client.cert }, "connect.key is missing: it should be set, because connect.cert is"],
      [
        { cert: client.cert, key: other.key },
        "connect.key should be the private key of the certificate in connect.cert"
      ]
    ] as const
  )("names the option that cannot be used: %o", ([connect, expected]) =>
    Effect.gen(function*() {
      for (const layer of [IdvHttp.layerUndici({ connect }), IdvHttp.layerEnv({ connect })]) {
        strictEqual(Idv.describeConfigError(yield* Effect.flip(Effect.scoped(Layer.build(layer)))), expected)
      }
    }))

  it.scopedLive("sends the host of each request through a proxy, and changes no headers of the caller", () =>
    Effect.gen(function*() {
      const server = yield* RawServer.make((_, socket) => void socket.end(RawServer.ok({})))
      const via = yield* ConnectProxy.make({ target: Number(new URL(server.url).port) })
      yield* Effect.gen(function*() {
        const { execute } = yield* HttpClient.HttpClient
        const request = HttpClientRequest.setHeader(HttpClientRequest.get("/"), "a", "b")
        for (const host of ["one.idv.test", "two.idv.test"]) {
          yield* execute(HttpClientRequest.setUrl(request, `http://${host}/`))
        }
      }).pipe(Effect.provide(IdvHttp.layerEnv()), withVariables({ HTTP_PROXY: `http://127.0.0.1:${via.port}` }))
      deepStrictEqual(via.connects, ["one.idv.test:80", "two.idv.test:80"])
      deepStrictEqual(server.requests.map((request) => /host: (.*)/.exec(request)?.[1]), [
        "one.idv.test",
        "two.idv.test"
      ])
    }))

  it.scopedLive("ends a check by its deadline as not sent if the proxy never opens the tunnel", () =>
    Effect.gen(function*() {
      const { port } = yield* service()
      const via = yield* ConnectProxy.make({
        target: port,
        refuse: (host) => host.startsWith("api.") ? "hangs" : undefined
      })
      const options = {
        ...Service.options,
        authUrl: `https://auth.idv.test:${port}`,
        baseUrl: `https://api.idv.test:${port}`,
        deadline: "300 millis"
      } as const
      const error = yield* Effect.gen(function*() {
        // So that the deadline applies only to the tunnel of the check.
        yield* Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
        return yield* Effect.flip(check)
      }).pipe(
        Effect.provide(Layer.provide(Idv.layer(options), IdvHttp.layerEnv({ connect }))),
        withVariables({ HTTPS_PROXY: `http://127.0.0.1:${via.port}` })
      )
      assert.deepInclude(error, { _tag: "AmlTimeout", sent: "no" })
    }))

  it.scopedLive("uses a dispatcher of the caller, and sends the User-Agent of a client that wraps it", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* RawServer.make((request, socket) =>
        void socket.end(RawServer.ok(
          request.startsWith("POST /api/aml ") ? Service.credential() : { access_token: "t", expires_in: 3600 }
        ))
      )
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Undici.Agent()),
        (agent) => Effect.promise(() => agent.destroy())
      )
      const named = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(
          HttpClient.HttpClient,
          HttpClient.mapRequest(HttpClientRequest.setHeader("user-agent", "acme-bank/1"))
        )
      )
      const { result } = yield* Effect.provide(
        check,
        Layer.provide(
          Idv.layer({ ...Service.options, authUrl: url, baseUrl: url }),
          Layer.provide(named, IdvHttp.layerDispatcher(agent))
        )
      )
      strictEqual(result, "No")
      deepStrictEqual(requests.map((request) => /user-agent: (.*)/.exec(request)?.[1]), ["acme-bank/1", "acme-bank/1"])
      strictEqual(agent.destroyed, false)
    }))
})
