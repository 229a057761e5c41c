/** Runs the recipes against a mock server. Importing the recipe of vitest runs its tests here. */
import { type AmlCheck, Idv } from "@effect-idv/core"
import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { Command, FetchHttpClient, HttpClient, HttpClientRequest, HttpServer } from "@effect/platform"
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { NestFactory } from "@nestjs/core"
import {
  type ConfigError,
  Context,
  Duration,
  Effect,
  Either,
  Exit,
  Layer,
  ManagedRuntime,
  Option,
  Redacted,
  Stream
} from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { vi } from "vitest"
import { parse } from "yaml"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as EffectHttp from "../src/recipes/effect-http/server.ts"
import * as Express from "../src/recipes/express/app.ts"
import * as Nest from "../src/recipes/nestjs/idvModule.ts"
import type * as NextRoute from "../src/recipes/nextjs/route.ts"
import * as Queue from "../src/recipes/queue-consumer/consumer.ts"
import { type Decision, screen } from "../src/recipes/screening.ts"
import "../src/recipes/vitest/signUp.test.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"

const dateOfBirth = "1990-02-01"

/** A mock server on a port, a client for a customer of its own, and the session of this customer. */
const start = Effect.gen(function*() {
  const context = yield* Layer.build(MockServer.layerTest)
  const { options, url } = Context.get(context, MockServer.MockServer)
  const customer = Session.testCustomer("test-recipes")
  const session = Context.get(context, Control.Control).session(customer.customerId)
  const client = Layer.provide(Idv.layer({ ...options, ...customer }), NodeHttpClient.layerUndici)
  const verify = (operation: "aml" | "token", n: number) =>
    session.verify({ kind: "exactly", n, pattern: { operation } })
  return { url, customer, client, session, verify }
})

type Client = Layer.Layer<Idv.Idv, ConfigError.ConfigError>

const runtimeOf = (client: Client) =>
  Effect.acquireRelease(Effect.sync(() => ManagedRuntime.make(client)), (runtime) => runtime.disposeEffect)

const send = (request: HttpClientRequest.HttpClientRequest) =>
  HttpClient.execute(request).pipe(
    Effect.flatMap(({ status, text }) => Effect.map(text, (text) => ({ status, text }))),
    Effect.provide(FetchHttpClient.layer)
  )

const signUpJson = (url: string, body: object) =>
  send(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(url), body))

const urlOf = (address: HttpServer.Address) => `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`

const nextRoute = fileURLToPath(new URL("../src/recipes/nextjs/route.ts", import.meta.url))

/** Breaks each connection after the check was received, before a response. */
const reset = { on: "aml", what: { kind: "reset" } } as const

/** Returns `_tag` and `sent` of a failed screening. */
const facts = Either.match({
  onRight: ({ result }: AmlCheck.AmlCheck): ReadonlyArray<unknown> => [result],
  onLeft: (failure: { readonly _tag: string }) => [failure._tag, "sent" in failure ? failure.sent : undefined]
})

describe("The recipe", () => {
  it.scopedLive("effect-http responds to a match as to an outage", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const context = yield* Layer.build(
        EffectHttp.layer.pipe(
          Layer.provide(client),
          Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
        )
      )
      const signUp = (name: string, dateOfBirth: string) =>
        signUpJson(`${urlOf(Context.get(context, HttpServer.HttpServer).address)}/sign-up`, { name, dateOfBirth })
      assert.strictEqual((yield* signUp("Ada Testclear", dateOfBirth)).status, 201)
      assert.strictEqual((yield* signUp("Ada Testclear", "1990-02-31")).status, 422)
      const match = yield* signUp("Zoë Testpep", dateOfBirth)
      assert.strictEqual(match.status, 503)
      assert.deepStrictEqual(yield* signUp("Ada Test500", dateOfBirth), match)
    }))

  it.scopedLive("screening keeps the tag of an error and whether the check was sent", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const runtime = yield* runtimeOf(client)
      const screened = (name: unknown) =>
        Effect.map(Effect.promise(() => runtime.runPromise(screen({ name, dateOfBirth }))), facts)
      assert.deepStrictEqual(yield* screened("Ada Testclear"), ["No"])
      assert.deepStrictEqual(yield* screened("Ada Testpep"), ["Potential match"])
      yield* session.fault(reset)
      assert.deepStrictEqual(yield* screened("Ada Testclear"), ["AmlUnavailable", "unknown"])
      assert.deepStrictEqual(yield* screened(7), ["AmlInputRejected", undefined])
      yield* verify("aml", 3)
    }))

  it.scopedLive("express shows one page for a match and for an outage, and stores the reason", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const runtime = yield* runtimeOf(client)
      const rows: Array<Decision> = []
      const app = Express.makeApp({
        runtime,
        respondAfter: 100,
        store: (row) => Promise.resolve(void rows.push(row))
      })
      const server = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof app.listen>>((resume) => {
          const server = app.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const signUp = (name: string) =>
        send(HttpClientRequest.bodyUrlParams(HttpClientRequest.post(url), { name, dateOfBirth }))
      assert.include((yield* send(HttpClientRequest.get(url))).text, "<form method=\"post\">")
      assert.include((yield* signUp("Ada Testclear")).text, "Welcome")
      assert.deepStrictEqual(yield* signUp("Ada Test500"), yield* signUp("Zoë Testpep"))
      assert.deepStrictEqual(yield* signUp("Ada Test500"), yield* signUp("Jos? Garc?a"))
      assert.strictEqual((yield* signUp("")).status, 422)
      assert.deepStrictEqual(
        rows.map(({ check, outcome, reason }) => [outcome, reason, check?.warnings.length]),
        [
          ["clear", "No", 0],
          ["review", "AmlUnavailable", undefined],
          ["review", "Potential match", 0],
          ["review", "AmlUnavailable", undefined],
          ["review", "Doubtful No", 1]
        ]
      )
      for (const { check } of rows.filter(({ check }) => check !== undefined)) {
        assert(check !== undefined)
        assert.notInclude(JSON.stringify(check), "aml-profiles")
        assert.match(
          `${check.id} ${Redacted.value(check.amlProfile)}`,
          /^[\da-f-]{36} http:\/\/127\.0\.0\.1:\d+\/aml-profiles\//
        )
      }
    }))

  it.scopedLive("nestjs injects the service, and closes the client with the application", () =>
    Effect.gen(function*() {
      const { client, session } = yield* start
      yield* session.fault(reset)
      const closed = vi.fn()
      const watched = Layer.merge(client, Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(closed))))
      const app = yield* Effect.promise(() =>
        NestFactory.createApplicationContext(Nest.IdvModule.forRoot(watched), { logger: false })
      )
      const service = app.get(Nest.ScreeningService)
      const result = yield* Effect.promise(() => service.screen({ name: "Ada Testclear", dateOfBirth }))
      assert.deepStrictEqual(facts(result), ["AmlUnavailable", "unknown"])
      assert.strictEqual(closed.mock.calls.length, 0)
      yield* Effect.promise(() => app.close())
      assert.strictEqual(closed.mock.calls.length, 1)
    }))

  it.scopedLive("nextjs keeps the client when the module is loaded again", () =>
    Effect.gen(function*() {
      const { customer, url, verify } = yield* start
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.unstubAllEnvs()))
      vi.stubEnv("IDV_AUTH_URL", url)
      vi.stubEnv("IDV_BASE_URL", url)
      vi.stubEnv("IDV_CUSTOMER_ID", customer.customerId)
      vi.stubEnv("IDV_CUSTOMER_KEY", Redacted.value(customer.customerKey))
      const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
      yield* Effect.addFinalizer(() => Effect.sync(() => log.mockRestore()))
      const statuses: Array<number> = []
      for (const load of [0, 1]) {
        const { POST } = yield* Effect.promise((): Promise<typeof NextRoute> =>
          import(/* @vite-ignore */ `${nextRoute}?load=${load}`)
        )
        const body = JSON.stringify({ name: "Ada Testclear", dateOfBirth })
        const request = new Request("http://127.0.0.1/api/sign-up", { method: "POST", body })
        statuses.push((yield* Effect.promise(() => POST(request))).status)
        const empty = new Request("http://127.0.0.1/api/sign-up", { method: "POST", body: "no JSON" })
        statuses.push((yield* Effect.promise(() => POST(empty))).status)
      }
      assert.deepStrictEqual(statuses, [201, 422, 201, 422])
      yield* verify("token", 1)
      yield* verify("aml", 2)
    }))

  it.scopedLive("github-actions has a step that starts the mock server and waits for it", () =>
    Effect.gen(function*() {
      const workflow = parse(readFileSync(new URL("../src/recipes/github-actions/ci.yml", import.meta.url), "utf8"))
      const step: { readonly run: string } = workflow.jobs.test.steps.find((
        { name = "" }: { readonly name?: string }
      ) => /^Start/.test(name))
      // The server of this test takes the place of a server on port 4010.
      const port = yield* freePort
      const script = step.run
        .replace("npx idv-mock serve", `node "${yield* Program.idvMock}" serve --port ${port}`)
        .replace("> idv-mock.log", "> /dev/null").replace("4010", String(port))
      const { exitCode, stdout } = yield* ExampleProcess.run(
        Command.make("bash", "-ec", `${script}\nkill $!; wait $! || true`)
      )
      assert.deepStrictEqual([Number(exitCode), stdout], [0, "{\"ready\":true}"])
    }))
})

/** A queue and a table in memory. */
const makeQueue = () => {
  const rows = new Map<string, Option.Option<Decision | Queue.Interrupted>>()
  const events: Array<string> = []
  const decisions = Queue.Decisions.of({
    begin: (id) => Effect.sync(() => !rows.has(id) && rows.set(id, Option.none()) === rows),
    release: (id) => Effect.sync(() => void rows.delete(id)),
    find: (id) => Effect.sync(() => rows.get(id) as Option.Option<Decision> | undefined ?? Option.none()),
    decide: (id, decision) =>
      Effect.sync(() => void rows.set(id, Option.orElseSome(rows.get(id) ?? Option.none(), () => decision)))
  })
  const message = (id: string, name: string): Queue.Message => ({
    id,
    person: { name, dateOfBirth },
    acknowledge: Effect.sync(() => void events.push(`${id}: acknowledged`)),
    redeliver: (after) => Effect.sync(() => void events.push(`${id}: again after ${Duration.format(after)}`))
  })
  const reasons = () => Object.fromEntries([...rows].map(([id, row]) => [id, Option.getOrUndefined(row)]))
  return { decisions, events, message, reasons, rows }
}

const run = (
  client: Client,
  queue: Pick<ReturnType<typeof makeQueue>, "decisions">,
  ...messages: ReadonlyArray<Queue.Message>
) =>
  Effect.gen(function*() {
    const runtime = yield* runtimeOf(client)
    const consumer = Effect.provideService(
      Queue.consume(Stream.fromIterable(messages)),
      Queue.Decisions,
      queue.decisions
    )
    return yield* Effect.promise(() => runtime.runPromiseExit(consumer))
  })

describe("The recipe queue-consumer", () => {
  it.scopedLive("acknowledges each message after its decision is stored", () =>
    Effect.gen(function*() {
      const { client, verify } = yield* start
      const queue = makeQueue()
      yield* run(
        client,
        queue,
        queue.message("1", "Ada Testclear"),
        queue.message("2", "Zoë Testpep"),
        queue.message("3", "Jos? Garc?a")
      )
      assert.deepStrictEqual(
        Object.values(queue.reasons()).map((row) => [row?.outcome, row?.reason, row !== undefined && "check" in row]),
        [["clear", "No", true], ["review", "Potential match", true], ["review", "Doubtful No", true]]
      )
      assert.deepStrictEqual(queue.events.sort(), ["1: acknowledged", "2: acknowledged", "3: acknowledged"])
      // A second delivery of a decided message.
      yield* run(client, queue, queue.message("1", "Ada Testclear"))
      yield* verify("aml", 3)
    }))

  it.scopedLive("sends no check again that may have been performed", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const queue = makeQueue()
      yield* session.fault(reset)
      yield* run(client, queue, queue.message("1", "Ada Testclear"))
      // Another consumer began the check of this message, and was killed before it stored a decision.
      queue.rows.set("2", Option.none())
      yield* run(client, queue, queue.message("1", "Ada Testclear"), queue.message("2", "Ada Testclear"))
      assert.deepStrictEqual(queue.reasons(), {
        1: { outcome: "review", reason: "AmlUnavailable", sent: "unknown" },
        2: { outcome: "review", reason: "Interrupted", sent: "unknown" }
      })
      yield* verify("aml", 1)
    }))

  it.scopedLive("returns a message whose check was not performed, and ends if nothing can work", () =>
    Effect.gen(function*() {
      const { client, session } = yield* start
      const queue = makeQueue()
      yield* session.fault({ on: "token", what: { kind: "status", status: 401 } })
      const exit = yield* run(client, queue, queue.message("1", "Ada Testclear"))
      assert.deepStrictEqual(queue.events, ["1: again after 30s"])
      assert.deepStrictEqual(queue.reasons(), {})
      assert.include(String(Exit.isFailure(exit) && exit.cause), "TokenRejected")
    }))

  it.scopedLive("acknowledges nothing if the decision cannot be stored", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const queue = makeQueue()
      const decisions = { ...queue.decisions, decide: () => Effect.dieMessage("the database is down") }
      const exit = yield* run(client, { ...queue, decisions }, queue.message("1", "Ada Testclear"))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(queue.events, [])
      assert.deepStrictEqual(queue.reasons(), { 1: undefined })
    }))
})
