import { Control, MockServer } from "@effect-idv/mock-server"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it, vi } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Fiber, Schema } from "effect"
import { PassThrough, Writable } from "node:stream"
import { main } from "../src/internal/command/main.ts"
import * as Output from "../src/internal/command/output.ts"
import * as Program from "./support/program.ts"

const Listening = Schema.parseJson(Schema.Struct({ port: Schema.Int, authUrl: Schema.String }))

/** Runs the command in this process. `lines` is what it has printed so far. */
const serving = (words: ReadonlyArray<string>, options: Options = {}) =>
  Effect.gen(function*() {
    const { first, lines, stop } = yield* starting(words, options)
    return { ...(yield* Schema.decode(Listening)(first)), first, lines, stop }
  })

interface Options {
  readonly isTTY?: boolean
  readonly variables?: Readonly<Record<string, string>>
}

const starting = (words: ReadonlyArray<string>, { isTTY = false, variables = {} }: Options = {}) =>
  Effect.gen(function*() {
    const stdout = Object.assign(new PassThrough(), { isTTY })
    let printed = ""
    const begun = yield* Effect.makeLatch(false)
    stdout.setEncoding("utf8").on("data", (text) => {
      printed += text
      begun.unsafeOpen()
    })
    const fiber = yield* main(["serve", "--port", "0", ...words], { stdout, version: "0" }).pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
      Effect.forkScoped
    )
    // An error before the first line fails here.
    yield* Effect.raceFirst(begun.await, Fiber.join(fiber))
    const lines = Effect.sync(() => printed.trimEnd().split("\n"))
    const [first = ""] = yield* lines
    return { first, lines, stop: Fiber.interrupt(fiber) }
  })

const ask = (url: string, customer = "demo-customer:demo-key", path = "/oauth/service") =>
  Effect.promise(() =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(customer)}`, "content-type": "application/x-www-form-urlencoded" },
      body: "grant_type=client_credentials"
    }).then(({ status }) => status)
  )

describe("The log of a command", () => {
  it.scopedLive("is not on standard output, where serve prints its lines and mcp speaks its protocol", () =>
    Effect.gen(function*() {
      const printed = { log: vi.spyOn(console, "log"), error: vi.spyOn(console, "error") }
      const controlApp = "../src/internal/http/controlApp.ts"
      vi.doMock(controlApp, () => assert.fail("canary"))
      const { authUrl } = yield* serving([])
      const { status } = yield* Effect.promise(() => fetch(`${authUrl}/_mock/sessions`)).pipe(
        Effect.ensuring(Effect.sync(() => vi.doUnmock(controlApp)))
      )
      const calls = [printed.log, printed.error].map(({ mock }) => mock.calls.length)
      vi.restoreAllMocks()
      deepStrictEqual([status, ...calls], [500, 0, 1])
    }))

  it.live("is that of its own logger only", () =>
    Effect.gen(function*() {
      const program = yield* Program.bundled(new URL("support/logs.ts", import.meta.url))
      strictEqual(yield* Command.string(Command.make("node", program)), "")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock serve", () => {
  it.scopedLive("prints its address, its control URL and its seed", () =>
    Effect.gen(function*() {
      const { authUrl, first, port } = yield* serving(["--seed", "7"])
      deepStrictEqual(JSON.parse(first), {
        event: "listening",
        host: "127.0.0.1",
        port,
        authUrl,
        baseUrl: authUrl,
        customerId: "demo-customer",
        controlUrl: `${authUrl}/_mock`,
        seed: 7
      })
    }))

  it.scopedLive("applies the customers, profile and faults of its flags", () =>
    Effect.gen(function*() {
      const { authUrl } = yield* serving([
        ..."--customer acme:k3y --profile tokenStatus=201 --fault token:status=418:nth=2".split(" ")
      ])
      strictEqual(yield* ask(authUrl, "acme:k3y"), 201)
      strictEqual(yield* ask(authUrl, "acme:k3y"), 418)
      strictEqual(yield* ask(authUrl, "test-mine:test-key"), 201)
      strictEqual(yield* ask(authUrl, "demo-customer:k3y"), 401)
    }))

  it.scopedLive("keeps its port number in a file while it listens", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const { port, stop } = yield* serving(["--port-file", `${directory}/port`])
      strictEqual(yield* fs.readFileString(`${directory}/port`), `${port}\n`)
      yield* stop
      deepStrictEqual(yield* fs.readDirectory(directory), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("removes the port file of a killed server before it listens", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const file = `${directory}/port`
      yield* fs.writeFileString(file, "1\n")
      // The server never listens, because an address for documentation does not belong to this machine.
      const nowhere = ["--host", "192.0.2.1", "--control-token", "s3cret"]
      const error = yield* Effect.flip(serving(["--port-file", file, ...nowhere]))
      assert(error instanceof MockServer.MockServerError)
      strictEqual(yield* fs.exists(file), false)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("leaves the port file to a server that started later with the same file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/port`
      const first = yield* serving(["--port-file", file])
      const second = yield* serving(["--port-file", file])
      yield* first.stop
      strictEqual(yield* fs.readFileString(file), `${second.port}\n`)
      yield* second.stop
      strictEqual(yield* fs.exists(file), false)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("does not start if the port file cannot be written", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const notes = `${yield* fs.makeTempDirectoryScoped()}/canary`
      yield* fs.writeFileString(notes, "notes")
      for (
        const [path, reason] of [
          ["/nowhere/canary", "expected the path of a file in an existing directory"],
          ["/tmp", "the path exists, and is not the file of a port"],
          ["/dev/null", "the path exists, and is not the file of a port"],
          [notes, "the path exists, and is not the file of a port"]
        ] as const
      ) {
        const error = yield* Effect.flip(serving(["--port-file", path]))
        assert(error instanceof Error)
        strictEqual(error.message, `--port-file cannot be written: ${reason}`)
      }
      strictEqual(yield* fs.readFileString(notes), "notes")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("takes the control token from the variable", () =>
    Effect.gen(function*() {
      const { authUrl: url } = yield* serving(["--host", "0.0.0.0"], {
        variables: { IDV_MOCK_CONTROL_TOKEN: "s3cret" }
      })
      const { sessions } = yield* Control.make({ url })
      const error = yield* Effect.flip(sessions)
      strictEqual(error.reason, "unauthorized")
    }).pipe(Effect.provide(NodeHttpClient.layer)))

  it.scopedLive("does not listen beyond loopback without a token, or in production without --force", () =>
    Effect.gen(function*() {
      const message = (words: ReadonlyArray<string>, variables = {}) =>
        Effect.map(
          Effect.flip(serving(words, { variables })),
          (error) => error instanceof MockServer.MockServerError ? error.message : ""
        )
      assertInclude(yield* message(["--host", "0.0.0.0"]), "IDV_MOCK_CONTROL_TOKEN or --control-token)")
      assertInclude(
        yield* message(["--host", "0.0.0.0"], { IDV_MOCK_CONTROL_TOKEN: "" }),
        "IDV_MOCK_CONTROL_TOKEN or --control-token)"
      )
      assertInclude(yield* message([], { NODE_ENV: "production" }), "(--force)")
      yield* serving(["--force"], { variables: { NODE_ENV: "production" } })
    }))
})

describe("idv-mock serve on a terminal", () => {
  const terminal = { isTTY: true }

  it.scopedLive("prints the addresses, the key, the page and a command to copy", () =>
    Effect.gen(function*() {
      const { lines } = yield* starting([], terminal)
      const text = (yield* lines).join("\n")
      const [, url = ""] = /listens on (\S+)\. Ctrl-C stops it\.\n/.exec(text) ?? []
      for (
        const words of [
          `POST ${url}/oauth/service\n`,
          `POST ${url}/api/aml\n`,
          "demo-customer, with the key demo-key\n",
          `${url}/_mock/ui\n`,
          `  curl -u demo-customer:demo-key -d grant_type=client_credentials ${url}/oauth/service`
        ]
      ) assertInclude(text, words)
      strictEqual(yield* ask(url), 200)
    }))

  it.scopedLive("does not repeat a key or a control token", () =>
    Effect.gen(function*() {
      const { lines } = yield* starting(
        ["--customer", "demo-customer:canary", "--control-token", "canary"],
        terminal
      )
      const text = (yield* lines).join("\n")
      assertInclude(text, "with the key that you set\n")
      assertInclude(text, "with the control token as the password of any user\n")
      assertInclude(text, "curl -u demo-customer -d ")
      strictEqual(text.includes("canary"), false)
    }))

  it.scopedLive("names the file of its CA, also in the command", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const ca = `${yield* fs.makeTempDirectoryScoped()}/it's a ca.pem`
      const { lines } = yield* starting(["--tls", "self-signed", "--tls-ca", ca], terminal)
      const text = (yield* lines).join("\n")
      assertInclude(text, `set NODE_EXTRA_CA_CERTS to ${ca}\n`)
      assertInclude(text, `curl --cacert '${ca.replace("'", "'\\''")}' -u `)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("prints the JSON line with --log json", () =>
    Effect.gen(function*() {
      const { authUrl, lines } = yield* serving(["--log", "json"], terminal)
      yield* ask(authUrl)
      deepStrictEqual((yield* lines).map((line) => JSON.parse(line).event), ["listening", "exchange"])
    }))
})

describe("idv-mock serve --log", () => {
  it.scopedLive("prints no exchanges by default", () =>
    Effect.gen(function*() {
      const { authUrl, lines } = yield* serving([])
      yield* ask(authUrl)
      strictEqual((yield* lines).length, 1)
    }))

  it.scopedLive("json prints an object for each exchange, without headers, bodies and secrets", () =>
    Effect.gen(function*() {
      const { authUrl, lines } = yield* serving(["--log", "json"])
      yield* ask(authUrl, "demo-customer:canary")
      const [, line = ""] = yield* lines
      const { at, event, millis, ...entry } = JSON.parse(line)
      deepStrictEqual([event, typeof at, typeof millis], ["exchange", "string", "number"])
      deepStrictEqual(entry.request, { method: "POST", target: "/oauth/service" })
      deepStrictEqual(entry.response, { status: 401, delivery: "whole" })
      deepStrictEqual(Object.keys(entry), [
        "id",
        "customerId",
        "operation",
        "rule",
        "facts",
        "claims",
        "faults",
        "unexpected",
        "why",
        "request",
        "response"
      ])
      strictEqual(line.includes("canary"), false)
    }))

  it.scopedLive("pretty prints a line of text, with colours on a terminal unless NO_COLOR is set", () =>
    Effect.gen(function*() {
      const line = (options: Options) =>
        Effect.gen(function*() {
          const { first, lines } = yield* starting(["--log", "pretty"], options)
          yield* ask(/http:[/][/][\d.:]+\d/.exec(first)?.[0] ?? "")
          return (yield* lines).at(-1) ?? ""
        })
      const plain = / demo-customer POST \/oauth\/service 200, \d+ ms: /
      strictEqual(plain.test(yield* line({})), true)
      strictEqual(plain.test(yield* line({ isTTY: true, variables: { NO_COLOR: "1" } })), true)
      assertInclude(yield* line({ isTTY: true }), " \u001b[32m200\u001b[39m, ")
    }))
})

describe("Standard output that nobody reads", () => {
  it.scopedLive("loses lines, which are counted, and does not delay the server", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      let read: (() => void) | undefined
      const stream = new Writable({
        decodeStrings: false,
        write: (line, _, done) => {
          written.push(line)
          if (read === undefined) read = done
          else done()
        }
      })
      const { begin, print } = yield* Output.make(stream)
      print("early")
      begin("first")
      const line = "x".repeat(1023)
      for (let i = 0; i < 3000; i++) print(line)
      assert(stream.writableLength < 2 ** 20 + 2048, `${stream.writableLength}`)
      yield* Effect.async<void>((resume) => {
        stream.once("drain", () => resume(Effect.void))
        read?.()
      })
      print("last")
      deepStrictEqual(written.slice(0, 2), ["first\n", "early\n"])
      deepStrictEqual(written.slice(-2), [
        `${JSON.stringify({ event: "omitted", lines: 3000 - (written.length - 4) })}\n`,
        "last\n"
      ])
    }))

  it.live("does not hold up the end for ever", () =>
    Effect.gen(function*() {
      const stream = new Writable({ write: () => {} })
      const stopping = Effect.scoped(Effect.map(Output.make(stream), ({ begin }) => begin("first")))
      yield* stopping
    }))

  it.live("is not an error if the reader has closed it", () =>
    Effect.gen(function*() {
      const stream = new Writable({ write: (_, __, done) => done(new Error("EPIPE")) })
      yield* Effect.scoped(Effect.map(Output.make(stream), ({ begin }) => begin("first")))
    }))
})
