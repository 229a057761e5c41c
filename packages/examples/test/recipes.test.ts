/** Runs the recipes against a mock server. Importing the recipe of vitest runs its tests here. */
import { AmlCheck, Idv } from "@effect-idv/core"
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
  Fiber,
  Layer,
  ManagedRuntime,
  Redacted,
  Schema,
  Stream
} from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { vi } from "vitest"
import { parse } from "yaml"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as MovableClock from "../../core/test/support/movableClock.ts"
import * as Program from "../../mock-server/test/support/program.ts"
import * as EffectHttp from "../src/recipes/effect-http/server.ts"
import * as Express from "../src/recipes/express/app.ts"
import * as Fastify from "../src/recipes/fastify/app.ts"
import * as Nest from "../src/recipes/nestjs/idvModule.ts"
import type * as NextRoute from "../src/recipes/nextjs/route.ts"
import * as Queue from "../src/recipes/queue-consumer/consumer.ts"
import { Decision, Decisions, decisionsInMemory, type Issues, type Row, signUp } from "../src/recipes/screening.ts"
import "../src/recipes/vitest/signUp.test.ts"
import { documents } from "./support/documents.ts"
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

const runtimeOf = (client: Client, decisions: Layer.Layer<Decisions>) =>
  Effect.acquireRelease(
    Effect.sync(() => ManagedRuntime.make(Layer.merge(client, decisions))),
    (runtime) => runtime.disposeEffect
  )

/** A table in memory, and its stored decisions. A row without one has `undefined`. */
const makeTable = () => {
  const rows = new Map<string, Row>()
  const decode = Schema.decodeSync(Schema.parseJson(Decision))
  const decisions = () =>
    [...rows.values()].map(({ decision }) => decision === undefined ? undefined : decode(decision))
  return { rows, layer: decisionsInMemory(rows), decisions: () => decisions().filter((row) => row !== undefined) }
}

/** The table of a database that fails when the decision is stored. */
const withoutStoring = Layer.map((context: Context.Context<Decisions>) => {
  const decisions = Context.get(context, Decisions)
  return Context.make(Decisions, { ...decisions, decide: () => Effect.dieMessage("the database is down") })
})

const post = (runtime: ManagedRuntime.ManagedRuntime<Idv.Idv | Decisions, ConfigError.ConfigError>) => (body: object) =>
  Effect.promise(() => runtime.runPromise(signUp(body)))

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

/** Of a decision, or the fields to correct. */
const facts = Either.match({
  onRight: ({ outcome, reason, sent }: Decision): ReadonlyArray<unknown> => [outcome, reason, sent],
  onLeft: (issues: Issues) => issues.map(({ field }) => field)
})

describe("The recipe", () => {
  it.scopedLive("effect-http responds to a match as to an outage", () =>
    Effect.gen(function*() {
      const { client, session } = yield* start
      const { clock, moveOnceRead } = MovableClock.make(1000)
      const context = yield* Layer.build(
        EffectHttp.layer.pipe(
          Layer.provide(client),
          Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
        )
      ).pipe(Effect.withClock(clock))
      const signUp = (name: string, dateOfBirth: string) =>
        signUpJson(`${urlOf(Context.get(context, HttpServer.HttpServer).address)}/sign-up`, { name, dateOfBirth })
      assert.strictEqual((yield* signUp("Ada Testclear", dateOfBirth)).status, 201)
      assert.strictEqual((yield* signUp("Ada Testclear", "1990-02-31")).status, 422)
      /** The response to the check with this number, once its time has come. */
      const late = (n: number, name: string) =>
        Effect.gen(function*() {
          const response = yield* Effect.fork(signUp(name, dateOfBirth))
          yield* session.verify({ kind: "atLeast", n, pattern: { operation: "aml" }, within: "4 minutes" })
          moveOnceRead("4 seconds")
          return yield* Fiber.join(response)
        })
      const match = yield* late(2, "Zoë Testpep")
      assert.strictEqual(match.status, 503)
      assert.deepStrictEqual(yield* late(3, "Ada Test500"), match)
    }))

  it.scopedLive("screening keeps the tag of an error and whether the check was sent", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const { layer } = makeTable()
      const runtime = yield* runtimeOf(client, layer)
      const screened = (name: unknown) => Effect.map(post(runtime)({ key: randomUUID(), name, dateOfBirth }), facts)
      assert.deepStrictEqual(yield* screened("Ada Testclear"), ["clear", "No", "answered"])
      assert.deepStrictEqual(yield* screened("Ada Testpep"), ["review", "Potential match", "answered"])
      yield* session.fault(reset)
      assert.deepStrictEqual(yield* screened("Ada Testclear"), ["review", "AmlUnavailable", "unknown"])
      assert.deepStrictEqual(yield* screened(7), ["name"])
      assert.deepStrictEqual(
        yield* Effect.map(post(runtime)({ key: "1", name: "Ada Testclear", dateOfBirth }), facts),
        ["key"]
      )
      yield* verify("aml", 3)
    }))

  it.scopedLive("screening keeps a person in review after an outage, whose second form would otherwise tell it from a match", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const { layer } = makeTable()
      const runtime = yield* runtimeOf(client, layer)
      const screened = (name: string) => Effect.map(post(runtime)({ key: randomUUID(), name, dateOfBirth }), facts)
      yield* session.fault(reset)
      assert.deepStrictEqual(yield* screened("Ada Testclear"), ["review", "AmlUnavailable", "unknown"])
      yield* session.clearFaults
      for (const name of ["Ada Testclear", " Ada  Testclear"]) {
        assert.deepStrictEqual(yield* screened(name), ["review", "InReview", "no"])
      }
      assert.deepStrictEqual(yield* screened("Zoë Testclear"), ["clear", "No", "answered"])
      yield* verify("aml", 2)
    }))

  it.scopedLive("screening refuses the key of another person without a check, whatever happened to the first", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const { layer, rows } = makeTable()
      const runtime = yield* runtimeOf(client, layer)
      const screened = (key: string, name: string, date = dateOfBirth) =>
        post(runtime)({ key, name, dateOfBirth: date })
      const [clear, match, outage, inReview, inFlight] = [
        randomUUID(),
        randomUUID(),
        randomUUID(),
        randomUUID(),
        randomUUID()
      ] as const
      yield* screened(clear, "Ada Testclear")
      yield* screened(match, "Zoë Testpep")
      yield* session.fault(reset)
      yield* screened(outage, "Bob Testclear")
      yield* session.clearFaults
      assert.deepStrictEqual(facts(yield* screened(inReview, "Zoë Testpep")), ["review", "InReview", "no"])
      rows.set(inFlight, { person: { name: "Zoë Testpep", dateOfBirth } })
      const reused = Either.left([{ field: "key", code: "key_reused" }])
      for (const key of [clear, match, outage, inReview, inFlight]) {
        assert.deepStrictEqual(yield* screened(key, "Eve Testclear"), reused)
        assert.deepStrictEqual(yield* screened(key, "Zoë Testpep", "1990-02-02"), reused)
      }
      assert.deepStrictEqual(yield* screened(clear, "Zoë Testpep"), reused)
      assert.deepStrictEqual(facts(yield* screened(match, " Zoë  Testpep")), ["review", "Potential match", "answered"])
      yield* verify("aml", 3)
    }))

  it.scopedLive("screening stores what a reviewer needs, and logs nothing of it", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const { decisions, layer } = makeTable()
      const runtime = yield* runtimeOf(client, layer)
      const result = yield* post(runtime)({ key: randomUUID(), name: "Jos? Garc?a", dateOfBirth })
      assert.notMatch(JSON.stringify(result), /Garc|aml-profiles/)
      const [stored] = decisions()
      assert(stored?.check !== undefined)
      const { amlProfile, matchFound } = stored.check.credential.credentials.attributes
      assert.deepStrictEqual(
        [stored.outcome, stored.reason, matchFound, stored.check.warnings.map(({ code }) => code)],
        ["review", "Doubtful No", "No", ["question_mark"]]
      )
      assert.match(
        `${stored.check.checkId} ${Redacted.value(amlProfile)}`,
        /^[\da-f-]{36} http:\/\/127\.0\.0\.1:\d+\/aml-profiles\//
      )
      yield* AmlCheck.verify(stored.check)
    }))

  it.scopedLive("screening does not repeat a check that ended without a decision", () =>
    Effect.gen(function*() {
      const { client, verify } = yield* start
      const { layer } = makeTable()
      const runtime = yield* runtimeOf(client, withoutStoring(layer))
      const body = { key: randomUUID(), name: "Ada Testclear", dateOfBirth }
      assert.isTrue(Exit.isFailure(yield* Effect.promise(() => runtime.runPromiseExit(signUp(body)))))
      assert.deepStrictEqual(facts(yield* post(runtime)(body)), ["review", "Interrupted", "unknown"])
      yield* verify("aml", 1)
    }))

  it.scopedLive("fastify responds as docs/recipes/web.md shows", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const app = Fastify.makeApp({ runtime: yield* runtimeOf(client, makeTable().layer), respondAfter: 100 })
      const url = yield* Effect.acquireRelease(
        Effect.promise(() => app.listen({ host: "127.0.0.1", port: 0 })),
        () => Effect.promise(() => app.close())
      )
      const code = documents.find(({ path }) => path === "docs/recipes/web.md")?.snippets
        .find(({ code }) => code.includes("localhost:3000"))?.code ?? ""
      const script = code.replaceAll("localhost:3000", url)
      const { stdout } = yield* ExampleProcess.run(Command.make("bash", "-euc", script))
      const shown = code.split("\n").filter((line) => line.startsWith("# "))
      assert.deepStrictEqual(
        stdout.trim().split("\n"),
        shown.map((line) => line.replace(/^# |, (at once|after .+)$/g, ""))
      )
    }))

  it.scopedLive("express shows one page for a match and for an outage, and screens a form once", () =>
    Effect.gen(function*() {
      const { client, verify } = yield* start
      const { decisions, layer } = makeTable()
      const app = Express.makeApp({ runtime: yield* runtimeOf(client, layer), respondAfter: 100 })
      const server = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof app.listen>>((resume) => {
          const server = app.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const keyOfForm = Effect.map(
        send(HttpClientRequest.get(url)),
        ({ text }) => /<form method="post">\s+<input name="key" type="hidden" value="([^"]+)">/.exec(text)?.[1] ?? ""
      )
      const submit = (key: string, name: string) =>
        send(HttpClientRequest.bodyUrlParams(HttpClientRequest.post(url), { key, name, dateOfBirth }))
      const signUp = (name: string) => Effect.flatMap(keyOfForm, (key) => submit(key, name))
      const key = yield* keyOfForm
      const twice = yield* Effect.replicateEffect(submit(key, "Ada Testclear"), 2, { concurrency: 2 })
      for (const { text } of [...twice, yield* submit(key, "Ada Testclear")]) assert.include(text, "Welcome")
      yield* verify("aml", 1)
      const match = yield* signUp("Zoë Testpep")
      assert.strictEqual(match.status, 202)
      assert.deepStrictEqual(yield* signUp("Ada Test500"), match)
      assert.deepStrictEqual(yield* signUp("Jos? Garc?a"), match)
      const reused = yield* submit(key, "Zoë Testclear")
      assert.deepStrictEqual([reused.status, /correct: \w+/.exec(reused.text)?.[0]], [422, "correct: key"])
      // The page has a form with another key.
      assert.match(reused.text, /name="key" type="hidden" value="[\da-f-]{36}"/)
      assert.notInclude(reused.text, key)
      assert.strictEqual((yield* signUp("")).status, 422)
      assert.deepStrictEqual(
        decisions().map(({ outcome, reason }) => [outcome, reason]),
        [["clear", "No"], ["review", "Potential match"], ["review", "AmlUnavailable"], ["review", "Doubtful No"]]
      )
    }))

  it.scopedLive("nestjs injects the service, and closes the client with the application", () =>
    Effect.gen(function*() {
      const { client, session, verify } = yield* start
      const { layer } = makeTable()
      const closed = vi.fn()
      const watched = Layer.mergeAll(client, layer, Layer.scopedDiscard(Effect.addFinalizer(() => Effect.sync(closed))))
      const app = yield* Effect.promise(() =>
        NestFactory.createApplicationContext(Nest.IdvModule.forRoot(watched), { logger: false })
      )
      const service = app.get(Nest.ScreeningService)
      const signUp = (key: string, name: string) =>
        Effect.map(Effect.promise(() => service.signUp({ key, name, dateOfBirth })), facts)
      assert.deepStrictEqual(yield* signUp(randomUUID(), "Jos? Garcia"), ["review", "Doubtful No", "answered"])
      yield* session.fault(reset)
      const key = randomUUID()
      for (const sent of [1, 2]) {
        assert.deepStrictEqual(yield* signUp(key, "Ada Testclear"), ["review", "AmlUnavailable", "unknown"], `${sent}`)
      }
      yield* verify("aml", 2)
      assert.strictEqual(closed.mock.calls.length, 0)
      yield* Effect.promise(() => app.close())
      assert.strictEqual(closed.mock.calls.length, 1)
    }))

  it.scopedLive("nextjs keeps the client and the decisions when the module is loaded again", () =>
    Effect.gen(function*() {
      const { customer, url, verify } = yield* start
      yield* Effect.addFinalizer(() => Effect.sync(() => void vi.unstubAllEnvs()))
      vi.stubEnv("IDV_AUTH_URL", url)
      vi.stubEnv("IDV_BASE_URL", url)
      vi.stubEnv("IDV_CUSTOMER_ID", customer.customerId)
      vi.stubEnv("IDV_CUSTOMER_KEY", Redacted.value(customer.customerKey))
      const responses: Array<Fiber.RuntimeFiber<Response>> = []
      const [key, another] = [randomUUID(), randomUUID()]
      // Before the first request, because a module that loads stops the process for a while.
      const loaded = yield* Effect.forEach(
        [0, 1],
        (load) =>
          Effect.promise((): Promise<typeof NextRoute> => import(/* @vite-ignore */ `${nextRoute}?load=${load}`))
      )
      for (const { POST } of loaded) {
        const person = { key, name: "Ada Testclear", dateOfBirth }
        const damaged = { key: another, name: "Jos? Garcia", dateOfBirth }
        for (const body of [JSON.stringify(person), JSON.stringify(damaged), "no JSON"]) {
          const request = new Request("http://127.0.0.1/api/sign-up", { method: "POST", body })
          responses.push(yield* Effect.fork(Effect.promise(() => POST(request))))
        }
      }
      // Together, because each response about the damaged name is late.
      const statuses = (yield* Effect.forEach(responses, (response) => Fiber.join(response))).map(({ status }) =>
        status
      )
      assert.deepStrictEqual(statuses, [201, 202, 422, 201, 202, 422])
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

/** A queue in memory. */
const makeQueue = () => {
  const events: Array<string> = []
  const message = (id: string, name: string): Queue.Message => ({
    id,
    person: { name, dateOfBirth },
    acknowledge: Effect.sync(() => void events.push(`${id}: acknowledged`)),
    redeliver: (after) => Effect.sync(() => void events.push(`${id}: again after ${Duration.format(after)}`))
  })
  return { ...makeTable(), events, message }
}

const run = (
  client: Client,
  { layer }: Pick<ReturnType<typeof makeQueue>, "layer">,
  ...messages: ReadonlyArray<Queue.Message>
) =>
  Effect.flatMap(
    runtimeOf(client, layer),
    (runtime) => Effect.promise(() => runtime.runPromiseExit(Queue.consume(Stream.fromIterable(messages))))
  )

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
        queue.decisions().map((row) => [row.outcome, row.reason, "check" in row]),
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
      queue.rows.set("2", { person: { name: "Ada Testclear", dateOfBirth } })
      yield* run(client, queue, queue.message("1", "Ada Testclear"), queue.message("2", "Ada Testclear"))
      assert.deepStrictEqual(queue.decisions(), [
        { outcome: "review", reason: "AmlUnavailable", sent: "unknown" },
        { outcome: "review", reason: "Interrupted", sent: "unknown" }
      ])
      yield* verify("aml", 1)
    }))

  it.scopedLive("returns a message whose check was not performed, and ends if nothing can work", () =>
    Effect.gen(function*() {
      const { client, session } = yield* start
      const queue = makeQueue()
      yield* session.fault({ on: "token", what: { kind: "status", status: 401 } })
      const exit = yield* run(client, queue, queue.message("1", "Ada Testclear"))
      assert.deepStrictEqual(queue.events, ["1: again after 30s"])
      assert.strictEqual(queue.rows.size, 0)
      assert.include(String(Exit.isFailure(exit) && exit.cause), "TokenRejected")
    }))

  it.scopedLive("acknowledges nothing if the decision cannot be stored", () =>
    Effect.gen(function*() {
      const { client } = yield* start
      const queue = makeQueue()
      const exit = yield* run(client, { layer: withoutStoring(queue.layer) }, queue.message("1", "Ada Testclear"))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(queue.events, [])
      assert.deepStrictEqual([queue.rows.size, queue.decisions()], [1, []])
    }))
})
