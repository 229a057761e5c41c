/** The three commands behind a proxy, with a private CA and a client certificate: what was sent, and what they print. */
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array as Arr, Effect, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { join } from "node:path"
import * as ConnectProxy from "../../core/test/support/connectProxy.ts"
import { listening } from "../../core/test/support/listening.ts"
import * as TemporaryFiles from "../../core/test/support/temporaryFiles.ts"
import * as SelfSigned from "../../mock-server/src/internal/wire/selfSigned.ts"
import * as ClientCertificate from "../../mock-server/test/support/clientCertificate.ts"
import * as CorrectService from "../../mock-server/test/support/correctService.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as Processes from "../../rescreening/test/support/processes.ts"

const { file, folder } = TemporaryFiles.make()

const server = await Effect.runPromise(SelfSigned.make(["idv.test"], Date.now()))
const client = await Effect.runPromise(ClientCertificate.make)
const people = file("people.csv", "id,name,date_of_birth\nC-1,Ada Testclear,1990-02-01\n")
const cert = file("cert.pem", client.cert)

const login = "acme:pr0xy-canary"

const variables = {
  ...CorrectService.customer,
  IDV_AUTH_URL: undefined,
  IDV_BASE_URL: undefined,
  IDV_RESCREEN_KEY: `k1:${Buffer.alloc(32, 1).toString("base64")}`,
  NODE_EXTRA_CA_CERTS: file("ca.pem", server.ca),
  IDV_CLIENT_CERT: cert,
  IDV_CLIENT_KEY: file("key.pem", client.key),
  IDV_USER_AGENT: "acme-bank/1.0",
  HTTP_PROXY: undefined,
  NO_PROXY: undefined
}

const verify = (url: string) => ["verify", "--target", "sandbox", "--auth-url", url, "--spacing", "0", "--budget", "5"]
const commands = {
  "idv-contract verify": { bin: new URL("../src/bin.ts", import.meta.url), words: verify },
  "idv-mock verify": { bin: new URL("../../mock-server/src/bin.ts", import.meta.url), words: verify },
  "idv-rescreen start": {
    bin: new URL("../../rescreening/src/bin.ts", import.meta.url),
    words: () => ["start", people, "--run", "1", "--ledger", join(folder, randomUUID())]
  }
}

interface Case {
  readonly variables?: Processes.Variables
  readonly login?: string
  /** For the suite and for rescreening: whether there are tunnels and requests, the exit code, and a part of the output. */
  readonly suite: Expected
  readonly rescreening: Expected
}
type Expected = readonly [hasTunnels: boolean, hasRequests: boolean, exitCode: number, output: string]

const usage = (exitCode: number, output: string): Expected => [false, false, exitCode, output]
const both = (output: string) => ({ suite: usage(2, output), rescreening: usage(1, output) })

const cases: Readonly<Record<string, Case>> = {
  "a proxy, a private CA and a client certificate": {
    suite: [true, true, 0, "pass"],
    rescreening: [true, true, 0, "1  no match"]
  },
  "a proxy that refuses the password": {
    login: "acme:another",
    suite: [true, false, 2, "with 407: check the user and password in HTTPS_PROXY or HTTP_PROXY"],
    rescreening: [true, false, 4, "the proxy refused the connection with status 407"]
  },
  "a proxy that does not exist": {
    variables: { HTTPS_PROXY: `http://${login}@127.0.0.1:1` },
    suite: [false, false, 2, "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"],
    rescreening: [false, false, 2, "not screened"]
  },
  "a proxy without scheme": {
    variables: { HTTPS_PROXY: "pr0xy-canary.example.com:3128" },
    ...both("HTTPS_PROXY should be the http: or https: address of a proxy")
  },
  "a certificate that cannot be read": {
    variables: { IDV_CLIENT_CERT: people },
    ...both("IDV_CLIENT_CERT should be a certificate in PEM")
  },
  "a key that does not match": {
    variables: { IDV_CLIENT_KEY: file("other.pem", (await Effect.runPromise(ClientCertificate.make)).key) },
    ...both("IDV_CLIENT_KEY should be the private key of the certificate in IDV_CLIENT_CERT")
  }
}

/** The rows of the table in docs/operating.md. */
const page = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8")

describe.each(Object.entries(commands))("%s", (name, { bin, words }) => {
  it.scopedLive.each(Object.entries(cases))(
    "with %s",
    ([, { login: accepted = login, variables: changes, ...expected }]) =>
      Effect.gen(function*() {
        let requests = 0
        const agents = new Set<string>()
        const handler = CorrectService.handler({})
        const service = createServer(
          { cert: server.keyPair.cert, key: Redacted.value(server.keyPair.key), requestCert: true, ca: client.cert },
          (request, response) => {
            requests++
            agents.add(request.headers["user-agent"] ?? "")
            handler(request, response)
          }
        )
        service.on("tlsClientError", () => {})
        const port = yield* listening(service)
        const proxy = yield* ConnectProxy.make({ target: port, login: accepted })
        const url = `https://idv.test:${port}`
        const program = yield* Program.bundled(bin)
        const { end } = yield* Processes.startProgram(program, words(url), {
          ...variables,
          ...name.startsWith("idv-rescreen") && { IDV_AUTH_URL: url, IDV_BASE_URL: url },
          HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}`,
          ...changes
        })
        const { exitCode, stderr, stdout } = yield* end
        const [hasTunnels, hasRequests, code, output] = name.startsWith("idv-rescreen")
          ? expected.rescreening
          : expected.suite
        const printed = stdout + stderr
        deepStrictEqual([proxy.connects.length > 0, requests > 0, exitCode], [hasTunnels, hasRequests, code], printed)
        assert.include(printed, output)
        deepStrictEqual([...agents].filter((agent) => /^(effect-idv|idv-contract)/.test(agent)), [])
        deepStrictEqual(agents.has("acme-bank/1.0"), hasRequests)
        assert.notInclude(printed, "pr0xy-canary")
        assert.notInclude(printed, Buffer.from(login).toString("base64"))
        if (output.includes(" should be ")) {
          deepStrictEqual(printed.trim().split("\n").length, 1)
        }
      }).pipe(Effect.provide(NodeContext.layer))
  )
})

it.scopedLive.each(
  [
    ["the proxy", { login: "acme:another" }, "the proxy makes no connection: check HTTPS_PROXY"],
    ["the CA", { variables: { NODE_EXTRA_CA_CERTS: undefined } }, "set NODE_EXTRA_CA_CERTS to the file of its CA"]
  ] as const
)("idv-mock record names %s as the reason", ([, changes, expected]) =>
  Effect.gen(function*() {
    const { login: accepted = login, variables: without = {} }: Partial<Case> = changes
    const service = createServer({ cert: server.keyPair.cert, key: Redacted.value(server.keyPair.key) })
    service.on("tlsClientError", () => {})
    const port = yield* listening(service)
    const proxy = yield* ConnectProxy.make({ target: port, login: accepted })
    const program = yield* Program.bundled(commands["idv-mock verify"].bin)
    const words = ["record", "--upstream-auth", `https://idv.test:${port}`, "--output", join(folder, randomUUID())]
    const { end } = yield* Processes.startProgram(program, words, {
      ...variables,
      HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}`,
      ...without
    })
    const { exitCode, stderr } = yield* end
    deepStrictEqual([exitCode, stderr.trim().split("\n").length], [1, 1])
    assert.include(stderr, expected)
    assert.notInclude(stderr, "pr0xy-canary")
  }).pipe(Effect.provide(NodeContext.layer)))

it("docs/operating.md has a row for each case, or for several with the same outcome", () => {
  const cell = ([, hasRequests, exitCode]: Expected) => `${hasRequests ? "requests" : "nothing"}, exit code ${exitCode}`
  const outcomeOf = ({ rescreening, suite }: Case) =>
    `${cell(suite)} | ${cell(rescreening)} | ${suite[3].includes("should be") ? "the variable" : ""}`
  const rows = Arr.groupBy(Object.entries(cases), ([, expected]) => outcomeOf(expected))
  for (const [cells, cases] of Object.entries(rows)) {
    assert.include(page, `| ${cases.map(([name]) => name).join("; ")} | ${cells}`)
  }
})
