import type { CommandExecutor } from "@effect/platform"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Option, Schedule, Stream } from "effect"
import { createConnection, type Socket } from "node:net"
import * as Program from "./support/program.ts"

const idvMock = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(Program.idvMock, (program) => Command.start(Command.make("node", program, ...args)))

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

const firstLine = (process: CommandExecutor.Process) =>
  process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead, Effect.map(Option.getOrThrow))

/** The output of a command that ends by itself. */
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
  it.scopedLive("prints one JSON line when it listens, and exits with 0 on SIGTERM", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0")
      const { port, ...line } = JSON.parse(yield* firstLine(process))
      const url = `http://127.0.0.1:${port}`
      deepStrictEqual(line, {
        event: "listening",
        host: "127.0.0.1",
        authUrl: url,
        baseUrl: url,
        customerId: "demo-customer",
        controlUrl: `${url}/_mock`
      })
      yield* process.kill("SIGTERM")
      strictEqual(yield* process.exitCode, 0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("stops within its grace period, even if a client keeps a silent connection and half a request open", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0", "--grace-period", "1 second")
      const { port } = JSON.parse(yield* firstLine(process))
      yield* connect(port, "")
      yield* connect(port, "POST /oauth/service HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\ngrant")
      yield* process.kill("SIGTERM")
      strictEqual(yield* process.exitCode, 0)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("stops at once on a second signal", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0", "--grace-period", "1 minute")
      const { port } = JSON.parse(yield* firstLine(process))
      yield* connect(port, "POST /oauth/service HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\ngrant")
      // In the background, because the process ends only after the grace period.
      const first = yield* Effect.fork(process.kill("SIGINT"))
      yield* Effect.sleep("300 millis")
      strictEqual(yield* process.isRunning, true)
      yield* process.kill("SIGTERM")
      yield* first.await
      strictEqual(yield* Effect.isFailure(process.exitCode), true)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("continues if nobody reads its logs, and writes its port to a file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/port`
      const process = yield* idvMock("serve", "--port", "0", "--port-file", file, "--log", "json")
      const port = yield* Effect.retry(fs.readFileString(file), Schedule.spaced("50 millis"))
      const ask = Effect.promise(() => fetch(`http://127.0.0.1:${port.trim()}/nothing`).then(({ status }) => status))
      // A pipe holds 64 KiB, and this is four times as much.
      const statuses = yield* Effect.all(Array.from({ length: 500 }, () => ask), { concurrency: 8 })
      strictEqual(statuses.every((status) => status === 404), true)
      yield* process.kill("SIGTERM")
      deepStrictEqual([yield* process.exitCode, yield* fs.exists(file)], [0, false])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("responds to curl with a token, a credential and errors", () =>
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
        assertInclude(yield* check("14-03-1957", ...bearer, "--header", `Host: ${host}`), "HTTP/1.1 400 Bad Request")
      }
      const refused = yield* check("31-02-1990", ...bearer)
      assertInclude(refused, "HTTP/1.1 422")
      assertInclude(refused, "{\"path\":\"dob\",\"reason\":\"invalid: expected a date that exists, as dd-mm-yyyy\"}")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("reports a port in use in one line, with a non-zero exit code", () =>
    Effect.gen(function*() {
      const { port } = JSON.parse(yield* firstLine(yield* idvMock("serve", "--port", "0")))
      const { exitCode, stderr, stdout } = yield* run("serve", "--port", String(port))
      strictEqual(stderr, `Cannot listen on 127.0.0.1:${port}: the port is in use\n`)
      deepStrictEqual([stdout, exitCode], ["", 1])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live.each<[string, ReadonlyArray<string>, string, number?]>([
    ["a wrong value", ["--port", "canary"], "--port is invalid: expected a whole number from 0 to 65535\n"],
    ["a missing value", ["--port"], "idv-mock serve: --port needs a value\n"],
    [
      "a host beyond loopback without a token",
      ["--port", "0", "--host", "0.0.0.0"],
      "Cannot listen on 0.0.0.0:0: beyond loopback the control API needs a token: set controlToken (IDV_MOCK_CONTROL_TOKEN or --control-token)\n",
      1
    ]
  ])(
    "reports %s in one line, with the exit code 2 for a wrong argument",
    ([, args, line, exitCode = 2]) =>
      Effect.gen(function*() {
        deepStrictEqual(yield* run("serve", ...args), { stdout: "", stderr: line, exitCode })
      }).pipe(Effect.provide(NodeContext.layer))
  )
})

describe("idv-mock", () => {
  it.live("--help shows the test persons and the flags, and --version the version", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("serve", "--help")
      for (const word of ["demo-customer", "demo-key", "Testclear", "Testpep", "Testsanc", "--port"]) {
        assertInclude(stdout, word)
      }
      strictEqual(exitCode, 0)
      deepStrictEqual(yield* run("--version"), { stdout: "0.0.0\n", stderr: "", exitCode: 0 })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live("ends what it does without a reader, and with 1 if its output cannot be written", () =>
    Effect.gen(function*() {
      const program = yield* Program.idvMock
      const endOf = (rest: string) =>
        Command.exitCode(Command.make("bash", "-c", `node "$0" contract ${rest}; exit \${PIPESTATUS[0]}`, program))
      strictEqual(yield* endOf("| true"), 0)
      strictEqual(yield* endOf("2> /dev/full | cat > /dev/null"), 0)
      strictEqual(yield* endOf("> /dev/full 2> /dev/null"), 1)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("talks to a running server, and fails in one line without one", () =>
    Effect.gen(function*() {
      const process = yield* idvMock("serve", "--port", "0")
      const { controlUrl } = JSON.parse(yield* firstLine(process))
      const { exitCode, stdout } = yield* run("fault", "set", "token:empty", "--url", controlUrl)
      assertInclude(stdout, "fired at 0 of 0 requests")
      strictEqual(exitCode, 0)
      yield* process.kill("SIGTERM")
      deepStrictEqual(yield* run("fault", "list", "--url", controlUrl), {
        stdout: "",
        stderr: `The control API at ${
          controlUrl.slice(0, -6)
        } cannot be reached: check that the mock server runs there\n`,
        exitCode: 1
      })
    }).pipe(Effect.provide(NodeContext.layer)))
})
