/** Health, metrics, logs and containers of the recipes, and the runbooks of docs/operating.md. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Control, MockServer } from "@effect-idv/mock-server"
import { Command, type Etag, FetchHttpClient, HttpClient, type HttpPlatform, HttpServer } from "@effect/platform"
import { NodeContext, NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, LogLevel, ManagedRuntime, Predicate, Redacted, Schedule, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { pino } from "pino"
import { parseAllDocuments } from "yaml"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as ConnectProxy from "../../core/test/support/connectProxy.ts"
import { listening } from "../../core/test/support/listening.ts"
import * as TemporaryFiles from "../../core/test/support/temporaryFiles.ts"
import * as SelfSigned from "../../mock-server/src/internal/wire/selfSigned.ts"
import * as CorrectService from "../../mock-server/test/support/correctService.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as Processes from "../../rescreening/test/support/processes.ts"
import * as EffectHttp from "../src/recipes/effect-http/server.ts"
import * as Express from "../src/recipes/express/app.ts"
import * as Fastify from "../src/recipes/fastify/app.ts"
import {
  layerLogger,
  layerOperations,
  metricsText,
  notReady,
  operationsServer,
  OperationsUrl
} from "../src/recipes/operations.ts"
import { decisionsInMemory, signUp } from "../src/recipes/screening.ts"

const { file, folder } = TemporaryFiles.make()

const get = (url: string) =>
  HttpClient.get(url).pipe(
    Effect.flatMap(({ status, text }) => Effect.map(text, (text) => [status, text] as const)),
    Effect.provide(FetchHttpClient.layer)
  )

/** Until the path has this status. */
const until = (url: string, expected: number) =>
  Effect.retry(
    Effect.filterOrFail(get(url), ([status]) => status === expected, (response) => response),
    Schedule.spaced("100 millis")
  )

/** Each line of the format: a type, or a sample. */
const prometheusLine =
  /^(# TYPE idv_\w+ (counter|gauge|histogram)|idv_\w+\{(\w+="[^"\\]*"(,\w+="[^"\\]*")*)?\} -?(\d+(\.\d+)?(e[+-]\d+)?))$/

describe("An app", () => {
  it.scopedLive("behind a proxy, with a private CA: is not ready while the token endpoint is down, and ready after it", () =>
    Effect.gen(function*() {
      const { ca, keyPair } = yield* SelfSigned.make(["idv.test"], Date.now())
      let isDown = true
      let tokenRequests = 0
      const handler = CorrectService.handler({})
      const service = createTlsServer({ cert: keyPair.cert, key: Redacted.value(keyPair.key) }, (request, response) => {
        if (request.url === "/oauth/service") tokenRequests++
        if (isDown) response.writeHead(503).end()
        else handler(request, response)
      })
      const target = yield* listening(service)
      const proxy = yield* ConnectProxy.make({ target, login: "acme:pr0xy-canary" })
      const port = yield* freePort
      const program = yield* Program.bundled(new URL("../src/recipes/fastify/main.ts", import.meta.url))
      const { end, signal } = yield* Processes.startProgram(program, [], {
        ...CorrectService.customer,
        IDV_AUTH_URL: `https://idv.test:${target}`,
        IDV_BASE_URL: `https://idv.test:${target}`,
        HTTPS_PROXY: `http://acme:pr0xy-canary@127.0.0.1:${proxy.port}`,
        NODE_EXTRA_CA_CERTS: file("ca.pem", ca),
        NODE_ENV: "production",
        PORT: String(yield* freePort),
        OPERATIONS_PORT: String(port)
      })
      const url = `http://127.0.0.1:${port}`
      yield* until(`${url}/live`, 200)
      // The first probe starts the acquisition.
      assert.deepStrictEqual(yield* get(`${url}/ready`), [503, "acquiring"])
      const [, text] = yield* Effect.repeat(get(`${url}/ready`), {
        until: ([, text]) => !text.includes("acquiring"),
        schedule: Schedule.spaced("50 millis")
      }).pipe(Effect.zipRight(get(`${url}/ready`)))
      assert.strictEqual(text, "TokenEndpointUnavailable")
      yield* Effect.replicateEffect(get(`${url}/ready`), 100)
      assert.isBelow(tokenRequests, 20)
      assert.deepStrictEqual((yield* get(`${url}/live`))[0], 200)
      isDown = false
      assert.deepStrictEqual(yield* until(`${url}/ready`, 200), [200, "ready"])
      const [, metrics] = yield* get(`${url}/metrics`)
      assert.include(metrics, "idv_token_requests_total{} ")
      yield* signal("SIGTERM")
      const { exitCode, stderr, stdout } = yield* end
      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      const logged = stdout.trim().split("\n").map((line) => JSON.parse(line))
      const ours = logged.filter(({ library }) => library === "effect-idv")
      assert.isNotEmpty(ours)
      // The others are lines of Fastify about its requests.
      assert.deepStrictEqual(
        logged.filter(({ library, msg, reqId }) =>
          library === undefined && reqId === undefined && !/listening/.test(msg)
        ),
        []
      )
      assert.notInclude(stdout, "pr0xy-canary")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("names a variable to correct in one line, without its value", () =>
    Effect.gen(function*() {
      const program = yield* Program.bundled(new URL("../src/recipes/fastify/main.ts", import.meta.url))
      const { end } = yield* Processes.startProgram(program, [], {
        ...CorrectService.customer,
        IDV_AUTH_URL: "https://idv.test",
        IDV_BASE_URL: "https://idv.test",
        HTTPS_PROXY: "pr0xy-canary:3128"
      })
      const { exitCode, stderr, stdout } = yield* end
      assert.deepStrictEqual([exitCode, stderr, stdout.trim().split("\n").length], [1, "", 1])
      assert.include(JSON.parse(stdout).msg, "HTTPS_PROXY should be the http: or https: address of a proxy")
      assert.notInclude(stdout, "pr0xy-canary")
    }).pipe(Effect.provide(NodeContext.layer)))

  const client = Layer.unwrapEffect(Effect.map(MockServer.MockServer, ({ options }) => Idv.layer(options))).pipe(
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.provide(MockServer.layerTest)
  )
  const runtime = Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(Layer.merge(Layer.orDie(client), decisionsInMemory()))),
    (runtime) => runtime.disposeEffect
  )

  const served = <E>(
    layer: Layer.Layer<
      never,
      E,
      HttpServer.HttpServer | HttpPlatform.HttpPlatform | Etag.Generator | NodeContext.NodeContext
    >
  ) =>
    Effect.map(
      Layer.build(layer.pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
      )),
      (context) => {
        const { address } = Context.get(context, HttpServer.HttpServer)
        return `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
      }
    )
  const portOf = (port: number) => `http://127.0.0.1:${port}`

  /** The addresses of an app and of its operations. */
  const apps = {
    Fastify: Effect.flatMap(runtime, (runtime) => {
      const app = Fastify.makeApp({ runtime, log: pino({ level: "silent" }) })
      return Effect.all([
        Effect.acquireRelease(
          Effect.promise(() => app.listen({ host: "127.0.0.1", port: 0 })),
          () => Effect.promise(() => app.close())
        ),
        Effect.map(listening(operationsServer(runtime)), portOf)
      ])
    }),
    Express: Effect.flatMap(runtime, (runtime) =>
      Effect.all([
        Effect.map(listening(createServer(Express.makeApp({ runtime }))), portOf),
        Effect.map(listening(operationsServer(runtime)), portOf)
      ])),
    Effect: Effect.flatMap(Layer.build(client), (services) =>
      Effect.all([
        served(Layer.provide(EffectHttp.layer, Layer.succeedContext(services))),
        Effect.map(
          Layer.build(Layer.provide(
            layerOperations({ host: "127.0.0.1", port: 0 }),
            Layer.succeedContext(services)
          )),
          (context) => Context.get(context, OperationsUrl)
        )
      ]))
  }

  it.scopedLive.each(Object.entries(apps))(
    "of %s is alive, ready once it has a token, and shows none of it to applicants",
    ([, start]) =>
      Effect.gen(function*() {
        const [app, url] = yield* start
        for (const path of ["live", "ready", "metrics"]) assert.strictEqual((yield* get(`${app}/${path}`))[0], 404)
        assert.strictEqual((yield* get(`${url}/live`))[0], 200)
        assert.strictEqual((yield* get(`${url}/ready`))[0], 503)
        yield* until(`${url}/ready`, 200)
        const [status, metrics] = yield* get(`${url}/metrics`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(metrics.trimEnd().split("\n").filter((line) => !prometheusLine.test(line)), [])
      })
  )

  it.scopedLive("writes each metric with one type, and the last bucket of a histogram with its count", () =>
    Effect.gen(function*() {
      yield* Effect.exit(
        Effect.provide(
          signUp({ key: randomUUID(), name: "Ada Testclear", dateOfBirth: "1990-02-01" }),
          Layer.merge(client, decisionsInMemory())
        )
      )
      const lines = (yield* metricsText).trimEnd().split("\n")
      const types = lines.filter((line) => line.startsWith("# TYPE "))
      assert.strictEqual(new Set(types).size, types.length)
      assert.isTrue(types.some((type) => type.endsWith(" histogram")))
      for (const [, name] of types.map((line) => /# TYPE (\w+) histogram/.exec(line) ?? [])) {
        const values = (suffix: string) =>
          lines.filter((line) => line.startsWith(`${name}${suffix}{`)).map((line) => Number(line.split(" ").at(-1)))
        const buckets = lines.filter((line) => line.startsWith(`${name}_bucket{`) && line.includes("le=\"+Inf\""))
        assert.deepStrictEqual(buckets.map((line) => Number(line.split(" ").at(-1))), values("_count"))
      }
    }))

  it.effect("logs one JSON line for each message of the library, with its name, level and annotations", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const log = pino({ level: "trace", timestamp: false, base: null }, { write: (line) => void lines.push(line) })
      yield* Effect.gen(function*() {
        yield* Effect.annotateLogs(Effect.logError("Checks fail.\nCorrect it"), { host: "auth.example.com:443" })
        yield* Effect.logWarning("The token store failed", "closed", { operation: "read" })
        yield* Effect.logDebug("AML check")
      }).pipe(
        Effect.provide(Layer.merge(layerLogger(log), Logger.minimumLogLevel(LogLevel.All)))
      )
      assert.deepStrictEqual(lines.map((line) => JSON.parse(line)), [
        { level: 50, library: "effect-idv", host: "auth.example.com:443", msg: "Checks fail.\nCorrect it" },
        { level: 40, library: "effect-idv", operation: "read", msg: "The token store failed: closed" },
        { level: 20, library: "effect-idv", msg: "AML check" }
      ])
      assert.deepStrictEqual(lines.filter((line) => line.trimEnd().includes("\n")), [])
    }))
})

const root = fileURLToPath(new URL("../../..", import.meta.url))
const containers = join(root, "packages/examples/src/recipes/containers")
const page = readFileSync(join(root, "docs/operating.md"), "utf8")

/** Every value below a key, at any depth. */
const valuesOf = (value: unknown, key: string): ReadonlyArray<unknown> =>
  typeof value !== "object" || value === null ? [] : Object.entries(value).flatMap(([name, child]) => [
    ...name === key ? [child] : [],
    ...valuesOf(child, key)
  ])

describe("The containers", () => {
  const documents = parseAllDocuments(readFileSync(join(containers, "kubernetes.yml"), "utf8")).map((document) => {
    assert.deepStrictEqual(document.errors, [])
    return document.toJS()
  })
  const containersOf = documents.flatMap((document) => valuesOf(document, "containers")).flat()

  const namesOf = (lists: ReadonlyArray<unknown>) =>
    lists.flat().flatMap((entry) => Predicate.hasProperty(entry, "name") ? [String(entry.name)] : [])

  it("of Kubernetes run without privileges, and stop before they are killed", () => {
    assert.deepStrictEqual(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`), [
      "Deployment onboarding",
      "ConfigMap idv",
      "Deployment idv-mock",
      "CronJob rescreen-plan",
      "CronJob rescreen-work"
    ])
    const pods = documents.flatMap((document) => valuesOf(document, "securityContext"))
    assert.strictEqual(pods.filter((context) => JSON.stringify(context).includes("\"runAsNonRoot\":true")).length, 4)
    assert.deepStrictEqual(containersOf.map((container) => valuesOf(container, "allowPrivilegeEscalation")), [
      [false],
      [false],
      [false],
      [false]
    ])
    assert.deepStrictEqual(documents.flatMap((document) => valuesOf(document, "concurrencyPolicy")), [
      "Forbid",
      "Forbid"
    ])
  })

  it("of Kubernetes use paths, commands and variables that exist", () => {
    const app = readFileSync(join(root, "packages/examples/src/recipes/operations.ts"), "utf8")
    for (const path of documents.flatMap((document) => valuesOf(document, "path"))) assert.include(app, `"${path}"`)
    const sources = ["core/src/Idv.ts", "core/src/IdvHttp.ts", "../docs/mock-server.md"].map((path) =>
      readFileSync(join(root, "packages", path), "utf8")
    ).join()
    const data = documents.flatMap((document) => valuesOf(document, "data")).flatMap((data) =>
      Object.entries(data ?? {})
    )
    const variables = [
      ...data.map(([name]) => name),
      ...containersOf.flatMap((container) => namesOf(valuesOf(container, "env")))
    ]
    assert.isAtLeast(variables.length, 7)
    assert.deepStrictEqual(variables.filter((name) => !sources.includes(name)), [])
    const mounts = containersOf.flatMap((container) => valuesOf(container, "mountPath")).map(String)
    for (const [, path] of data) {
      if (String(path).startsWith("/")) {
        assert.isTrue(mounts.some((mount) => String(path).startsWith(mount)), String(path))
      }
    }
  })

  it("of Docker run without a shell as a user without privileges", () => {
    const lines = readFileSync(join(containers, "Dockerfile"), "utf8").split("\n").filter((line) =>
      /^[A-Z]+ /.test(line)
    )
    const stages = lines.join("\n").split(/^(?=FROM )/m)
    assert.deepStrictEqual(stages.map((stage) => stage.split(" AS ")[1]?.split("\n")[0]), ["base", "app", "rescreen"])
    assert.match(stages[0] ?? "", /^USER [1-9]\d*:[1-9]\d*$/m)
    assert.deepStrictEqual(lines.filter((line) => /^(USER root|USER 0)/.test(line)), [])
    const starts = lines.filter((line) => /^(CMD|ENTRYPOINT) /.test(line)).map((line) =>
      Schema.decodeSync(Schema.parseJson(Schema.Array(Schema.String)))(line.replace(/^\w+ /, ""))
    )
    assert.deepStrictEqual(starts.map(([program]) => program), ["node", "node"])
    const { publishConfig } = JSON.parse(readFileSync(join(root, "packages/rescreening/package.json"), "utf8"))
    assert.include(
      starts[1]?.join(" ") ?? "",
      `node_modules/@effect-idv/rescreening/${publishConfig.bin["idv-rescreen"].replace("./", "")}`
    )
  })
})

describe("The runbooks of docs/operating.md", () => {
  it.scopedLive("show what the commands print", () =>
    Effect.gen(function*() {
      const { variables } = yield* Processes.service()
      const people = (name: string, names: ReadonlyArray<string>) =>
        file(
          name,
          ["id,name,date_of_birth", ...names.map((name, i) => `C-${i + 1},${name},1990-02-01`), ""].join("\n")
        )
      const ten = people("first-ten.csv", ["Zoë Testpep", ...Array.from({ length: 9 }, () => "Ada Testclear")])
      const ledger = ["--ledger", join(folder, "ledger.sqlite")]
      const missing: Array<string> = []
      const prints = (exitCode: number, args: ReadonlyArray<string>, changes: Processes.Variables = {}) =>
        Effect.gen(function*() {
          const result = yield* Processes.run([...args, ...ledger], { ...variables, ...changes })
          assert.strictEqual(Number(result.exitCode), exitCode, result.stdout + result.stderr)
          const printed = result.stdout + result.stderr
          const lines = printed.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…").replaceAll(`${folder}/`, "").trim()
          for (const line of lines.split("\n")) if (!page.includes(line)) missing.push(line)
        })
      yield* prints(10, ["start", ten, "--run", "first-ten", "--rate", "5"])
      const closed = { IDV_AUTH_URL: "http://127.0.0.1:1" }
      const noResult = people("no-result.csv", ["Ada Testclear", "Ada Testclear"])
      yield* prints(2, ["start", noResult, "--run", "night"], closed)
      yield* prints(0, ["resume", "--run", "night", "--again", "not_screened"])
      const newKey = `k2:${Buffer.alloc(32, 2).toString("base64")}`
      yield* prints(1, ["work", "--run", "night"], { IDV_RESCREEN_KEY: newKey })
      yield* prints(0, ["work", "--run", "night"], { IDV_RESCREEN_KEY: `${newKey},${variables["IDV_RESCREEN_KEY"]}` })
      yield* prints(0, ["erase", "--older-than", "400d"])
      const [, command = "", sent = ""] = /^\$ (awk .+)\n(.+)$/m.exec(page) ?? []
      assert.strictEqual(yield* Command.string(Command.make("sh", "-c", `cd ${folder} && ${command}`)), `${sent}\n`)
      assert.deepStrictEqual(missing, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("show what /ready and /metrics respond", () =>
    Effect.gen(function*() {
      const services = yield* Layer.build(MockServer.layerTest)
      const { options } = Context.get(services, MockServer.MockServer)
      const { fault } = Context.get(services, Control.Control).session(options.customerId)
      const clientOf = (changes: Partial<Idv.Options>) =>
        Layer.provide(Idv.layer({ ...options, ...changes }), NodeHttpClient.layerUndici)
      const ready = (changes: Partial<Idv.Options>) =>
        notReady.pipe(
          Effect.map((reason = "ready") => reason),
          Effect.filterOrFail((text) => text !== "acquiring"),
          Effect.retry(Schedule.spaced("50 millis")),
          Effect.provide(clientOf(changes))
        )
      const responses = [
        yield* ready({ customerKey: Redacted.make("another") }),
        yield* ready({}),
        yield* ready({ authUrl: "http://127.0.0.1:1" })
      ]
      assert.deepStrictEqual(responses, ["TokenRejected", "ready", "TokenEndpointUnavailable"])
      for (const text of responses) assert.include(page, `$ curl -s localhost:9000/ready\n${text}\n`)
      const metrics = yield* Effect.gen(function*() {
        const { check } = yield* AmlClient.AmlClient
        yield* fault({ on: "aml", when: { kind: "first", n: 1 }, what: { kind: "tokenRevocation" } })
        for (const name of ["Ada Testclear", "Zoë Testpep"]) {
          yield* check(yield* Person.make({ name, dateOfBirth: "1990-02-01" }))
        }
        return yield* metricsText
      }).pipe(Effect.provide(clientOf({})), Effect.tagMetrics({ test: "bill" }))
      const lines = metrics.split("\n").filter((line) => /^idv_aml_(requests|checks)_total/.test(line))
      const documented = /^\$ curl -s localhost:9000\/metrics .+\n([^`]+)/m.exec(page)?.[1]?.trim().split("\n") ?? []
      assert.deepStrictEqual(lines.map((line) => line.replace(/,?test="bill"/, "")).toSorted(), documented.toSorted())
    }))
})
