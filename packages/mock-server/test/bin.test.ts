import type { CommandExecutor } from "@effect/platform"
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Option, Stream } from "effect"
import { createConnection, type Socket } from "node:net"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))

const idvMock = (...args: ReadonlyArray<string>) =>
  Command.start(Command.make("node", "--import", "tsx/esm", bin, ...args))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const firstLine = (process: CommandExecutor.Process) =>
  process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead, Effect.map(Option.getOrThrow))

/** What a command prints until it ends by itself. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const process = yield* idvMock(...args)
    return yield* Effect.all(
      { stdout: text(process.stdout), stderr: text(process.stderr), exitCode: process.exitCode },
      {
        concurrency: "unbounded"
      }
    )
  }))

const connect = (port: number, bytes: string) =>
  Effect.acquireRelease(
    Effect.async<Socket>((resume) => {
      const socket = createConnection(
        port,
        "127.0.0.1",
        () => socket.write(bytes, () => resume(Effect.succeed(socket)))
      )
      socket.on("error", () => {})
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const curl = (...args: ReadonlyArray<string>) => Command.string(Command.make("curl", "--silent", "--include", ...args))

describe("idv-mock serve", () => {
  it.scopedLive("prints one JSON line when it listens, and ends with 0 on SIGTERM", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0")
      const { port, ...line } = JSON.parse(yield* firstLine(process))
      const url = `http://127.0.0.1:${port}`
      deepStrictEqual(line, {
        event: "listening",
        host: "127.0.0.1",
        authUrl: url,
        baseUrl: url,
        customerId: "demo-customer"
      })
      yield* process.kill("SIGTERM")
      strictEqual(yield* process.exitCode, 0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("ends within seconds although a client keeps a silent connection, and half a request", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0")
      const { port } = JSON.parse(yield* firstLine(process))
      yield* connect(port, "")
      yield* connect(port, "POST /oauth/service HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\ngrant")
      yield* process.kill("SIGTERM")
      strictEqual(yield* Effect.timeout(process.exitCode, "3 seconds"), 0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("announces the host it was told", () =>
    Effect.gen(function*() {
      const { authUrl, host, port } = JSON.parse(
        yield* firstLine(yield* idvMock("serve", "--port", "0", "--host", "0.0.0.0"))
      )
      deepStrictEqual([host, authUrl], ["0.0.0.0", `http://127.0.0.1:${port}`])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("curl alone gets a token and a credential, and is refused as it should be", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0")
      const { authUrl, baseUrl } = JSON.parse(yield* firstLine(process))
      const askForToken = (customer: string) =>
        curl("--user", customer, "--data", "grant_type=client_credentials", `${authUrl}/oauth/service`)
      const answer = yield* askForToken("demo-customer:demo-key")
      assertInclude(answer, "HTTP/1.1 200 OK")
      const token = /"access_token":"([^"]+)"/.exec(answer)?.[1] ?? ""
      assertInclude(yield* askForToken("demo-customer:wrong"), "HTTP/1.1 401 Unauthorized")

      const check = (dob: string, ...args: ReadonlyArray<string>) =>
        curl(
          ...args,
          "--header",
          "Content-Type: application/json",
          "--data",
          JSON.stringify({ entity_type: "person", name: "Zoë Testpep", dob }),
          `${baseUrl}/api/aml`
        )
      const bearer = ["--header", `Authorization: Bearer ${token}`]
      assertInclude(yield* check("14-03-1957", ...bearer), "\"match_found\":\"Potential match\"")
      assertInclude(yield* check("14-03-1957"), "HTTP/1.1 401 Unauthorized")
      for (const host of ["[", "a b", "a\"<b>", "idv.example:99999"]) {
        assertInclude(
          yield* check("14-03-1957", ...bearer, "--header", `Host: ${host}`),
          "http://localhost/aml-profiles/"
        )
      }
      const refused = yield* check("31-02-1990", ...bearer)
      assertInclude(refused, "HTTP/1.1 422")
      assertInclude(refused, "{\"path\":\"dob\",\"reason\":\"invalid: expected a date that exists, as dd-mm-yyyy\"}")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("a port in use is one line and a non-zero exit code", () =>
    Effect.gen(function*() {
      const { port } = JSON.parse(yield* firstLine(yield* idvMock("serve", "--port", "0")))
      const { exitCode, stderr, stdout } = yield* run("serve", "--port", String(port))
      strictEqual(stderr, `Cannot listen on 127.0.0.1:${port}: the port is in use\n`)
      deepStrictEqual([stdout, exitCode], ["", 1])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live.each([
    "70000",
    "-1",
    "80.5",
    "canary"
  ])("the port %s is one line and a non-zero exit code", (port) =>
    Effect.gen(function*() {
      const { exitCode, stderr } = yield* run("serve", "--port", port)
      strictEqual(stderr.trim(), "--port is a whole number from 0 to 65535; 0 picks a free one")
      strictEqual(exitCode, 1)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live("--help tells of the customer and the subjects", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("serve", "--help")
      for (const word of ["demo-customer", "demo-key", "Testclear", "Testpep", "Testsanc", "--port"]) {
        assertInclude(stdout, word)
      }
      strictEqual(exitCode, 0)
    }).pipe(Effect.provide(NodeContext.layer)))
})
