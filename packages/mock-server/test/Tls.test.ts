/** The mock server over TLS, and core's client against it. */
import { Fault, MockServer } from "@effect-idv/mock-server"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect, Either, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { createServer, Socket } from "node:net"
import { PassThrough } from "node:stream"
import { connect } from "node:tls"
import { eventually } from "../../core/test/support/eventually.ts"
import { main } from "../src/internal/command/main.ts"
import * as Script from "../src/internal/wire/script.ts"
import * as SelfSigned from "../src/internal/wire/selfSigned.ts"
import * as Program from "./support/program.ts"

const client = Program.bundled(new URL("support/tlsChecks.ts", import.meta.url))

/** What each HTTP client prints: its name and its outcomes. */
const outcomes = (url: string, names: ReadonlyArray<string>, ca?: string) =>
  Effect.gen(function*() {
    const command = Command.make("node", yield* client, url, ...names)
    const printed = yield* Command.string(
      ca === undefined ? command : Command.env(command, { NODE_EXTRA_CA_CERTS: ca })
    )
    return printed.trim().split("\n").map((line): ReadonlyArray<string> => JSON.parse(line))
  })

/** Starts the command, and returns its first line. */
const serve = (words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const process = yield* Command.start(Command.make("node", yield* Program.idvMock, "serve", "--port", "0", ...words))
    const line = yield* process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
    return JSON.parse(Option.getOrThrow(line))
  })

const errorOf = (...words: ReadonlyArray<string>) =>
  main(["serve", "--port", "0", ...words], { stdout: new PassThrough(), version: "0" }).pipe(
    Effect.flip,
    Effect.map((error) => error instanceof Error ? error.message : "no error")
  )

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const generated = Effect.flatMap(Clock.currentTimeMillis, (now) => SelfSigned.make(["127.0.0.1", "localhost"], now))

/** Writes texts to files, and returns the path of each. */
const files = (texts: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* folder
    for (const [name, text] of Object.entries(texts)) yield* fs.writeFileString(`${path}/${name}`, text)
    return (name: string) => `${path}/${name}`
  })

describe("The sockets below TLS", () => {
  it("are found by the addresses of their connection, and forgotten when it closes", () => {
    const server = createServer()
    Script.recordSockets(server)
    const [raw, secure, next] = [new Socket(), new Socket(), new Socket()]
    server.emit("connection", raw)
    server.emit("secureConnection", secure)
    strictEqual(Script.rawOf(secure), raw)
    raw.emit("close")
    server.emit("secureConnection", next)
    strictEqual(Script.rawOf(next), next)
  })
})

describe("idv-mock serve --tls self-signed", () => {
  it.scopedLive(
    "is accepted by core's client with its CA over Undici, Node and fetch, faults included, and not without",
    () =>
      Effect.gen(function*() {
        const ca = `${yield* folder}/ca.pem`
        const line = yield* serve(["--tls", "self-signed", "--tls-ca", ca])
        deepStrictEqual([line.ca, line.authUrl], [ca, `https://127.0.0.1:${line.port}`])
        const names = ["Zoë Testpep", "Zoë Testreset", "Zoë Testcut", "Zoë Testhtml", "Zoë Testclear"]
        const [accepted, refused] = yield* Effect.all(
          [outcomes(line.authUrl, names, ca), outcomes(line.authUrl, ["Zoë Testclear"])],
          { concurrency: 2 }
        )
        deepStrictEqual(accepted.map(([client, ...outcomes]) => [client, outcomes[0], outcomes[4]]), [
          ["undici", "Potential match", "No"],
          ["node", "Potential match", "No"],
          ["fetch", "Potential match", "No"]
        ])
        for (const [client, , reset = "", cut = "", html = ""] of accepted) {
          deepStrictEqual([reset, cut, html].map((text) => text.split(" ")[0]), [
            "AmlUnavailable",
            "AmlUnavailable",
            "AmlResponseInvalid"
          ], client)
        }
        deepStrictEqual(refused.map(([client]) => client), ["undici", "node", "fetch"])
        for (const [client, outcome = ""] of refused) {
          strictEqual(outcome.startsWith("Token"), true, `${client} ${outcome}`)
        }
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("addresses the profile of a credential with https, and speaks no http", () =>
    Effect.gen(function*() {
      const { ca, keyPair } = yield* generated
      const services = yield* Layer.build(MockServer.layer({ port: 0, tls: keyPair }))
      const { options, url } = yield* Effect.provide(MockServer.MockServer, services)
      deepStrictEqual([new URL(url).protocol, options.allowInsecure], ["https:", undefined])
      const paths = yield* files({ "ca.pem": ca })
      const script =
        `token=$(curl -sS -u demo-customer:demo-key -d grant_type=client_credentials ${url}/oauth/service | ` +
        `sed 's/.*"access_token":"//; s/".*//'); curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' ` +
        `-d '{"entity_type":"person","name":"A B","dob":"14-03-1990"}' ${url}/api/aml`
      const printed = yield* Command.string(
        Command.env(Command.make("bash", "-c", script), { CURL_CA_BUNDLE: paths("ca.pem") })
      )
      assertInclude(printed, `"aml_profile":"${url}/`)
      const plain = yield* Effect.promise(() =>
        fetch(url.replace("https:", "http:")).then(() => "a response", () => "no response")
      )
      strictEqual(plain, "no response")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("replaces the CA of an earlier run, and no other file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const paths = yield* files({ "other.pem": "-----BEGIN CERTIFICATE-----\nof my company" })
      const start = (name: string) =>
        main(["serve", "--port", "0", "--tls", "self-signed", "--tls-ca", paths(name)], {
          stdout: new PassThrough(),
          version: "0"
        })
      const written = fs.readFileString(paths("ca.pem")).pipe(Effect.orElseSucceed(() => ""))
      const once = Effect.gen(function*() {
        const before = yield* written
        const fiber = yield* Effect.fork(start("ca.pem"))
        const after = yield* eventually("a new CA", written, (text) => text !== "" && text !== before)
        yield* Fiber.interrupt(fiber)
        return after
      })
      strictEqual((yield* once) === (yield* once), false)
      const error = yield* Effect.flip(start("other.pem"))
      assertInclude(String(error), "--tls-ca: the file exists and is not a CA of idv-mock")
      assertInclude(yield* fs.readFileString(paths("other.pem")), "of my company")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("keeps the CA of a server that runs, if a second one cannot listen", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const ca = `${yield* folder}/ca.pem`
      const words = ["--tls", "self-signed", "--tls-ca", ca]
      const { port } = yield* serve(words)
      const before = yield* fs.readFileString(ca)
      const error = yield* Effect.flip(
        main(["serve", "--port", String(port), ...words], { stdout: new PassThrough(), version: "0" })
      )
      assertInclude(String(error), "the port is in use")
      strictEqual(yield* fs.readFileString(ca), before)
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock serve --tls-cert --tls-key", () => {
  it.scopedLive("serves the certificate", () =>
    Effect.gen(function*() {
      const { ca, keyPair } = yield* generated
      const paths = yield* files({ "ca.pem": ca, "cert.pem": keyPair.cert, "key.pem": Redacted.value(keyPair.key) })
      const line = yield* serve(["--tls-cert", paths("cert.pem"), "--tls-key", paths("key.pem")])
      strictEqual(line.ca, undefined)
      const [first] = yield* outcomes(line.authUrl, ["Zoë Testpep"], paths("ca.pem"))
      deepStrictEqual(first, ["undici", "Potential match"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("refuses a certificate without its own key, in one sentence that names the flag", () =>
    Effect.gen(function*() {
      const [one, other] = yield* Effect.all([generated, generated])
      const paths = yield* files({
        "cert.pem": one.keyPair.cert,
        "key.pem": Redacted.value(one.keyPair.key),
        "other.pem": Redacted.value(other.keyPair.key),
        "text.pem": "canary"
      })
      const cert = ["--tls-cert", paths("cert.pem")]
      const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
        [cert, "--tls-key is missing: expected the file with the private key of --tls-cert"],
        [["--tls-key", paths("key.pem")], "--tls-cert is missing: expected the file with the certificate of --tls-key"],
        [[...cert, "--tls-key", paths("none.pem")], "--tls-key: the file does not exist"],
        [[...cert, "--tls-key", paths("")], "--tls-key: the path is a directory: expected a file"],
        [[...cert, "--tls-key", paths("text.pem")], "tls.key (--tls-key) should be a private key in PEM"],
        [
          ["--tls-cert", paths("text.pem"), "--tls-key", paths("key.pem")],
          "tls.cert (--tls-cert) should be a certificate"
        ],
        [[...cert, "--tls-key", paths("other.pem")], "tls.key (--tls-key) should be the private key of tls.cert"],
        [
          [...cert, "--tls", "self-signed"],
          "--tls cannot be used with --tls-cert and --tls-key, which have a certificate already"
        ],
        [["--tls", "canary"], "--tls is invalid: expected one of self-signed"],
        [["--tls-ca", paths("ca.pem")], "--tls-ca needs --tls self-signed"]
      ]
      for (const [words, expected] of cases) {
        const message = yield* errorOf(...words)
        assertInclude(message, expected)
        strictEqual(message.includes("canary") || message.includes("\n"), false, message)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("A reset fault over TLS", () => {
  it.scopedLive("resets the TCP connection, and does not end it", () =>
    Effect.gen(function*() {
      const { ca, keyPair } = yield* generated
      const faults = [Either.getOrThrow(Fault.make({ on: "token", what: { kind: "reset", at: "body" } }))]
      const services = yield* Layer.build(MockServer.layer({ port: 0, tls: keyPair, faults }))
      const { url } = yield* Effect.provide(MockServer.MockServer, services)
      const end = yield* Effect.async<string>((resume) => {
        const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", ca })
        socket.on("error", (error) => resume(Effect.succeed("code" in error ? String(error.code) : error.message)))
          .on("end", () => resume(Effect.succeed("end")))
          .resume()
        socket.write(
          `POST /oauth/service HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Basic ${
            btoa("demo-customer:demo-key")
          }\r\n` +
            "content-type: application/x-www-form-urlencoded\r\ncontent-length: 29\r\n\r\ngrant_type=client_credentials"
        )
      })
      strictEqual(end, "ECONNRESET")
    }))
})
