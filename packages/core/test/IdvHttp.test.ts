import { AmlClient, Idv, Person, Screening, TokenProvider } from "@effect-idv/core"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Context, Deferred, type Duration, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import type { Socket } from "node:net"
import { Progress } from "../src/internal/check/progress.ts"
import * as Exchange from "../src/internal/wire/exchange.ts"
import * as Transport from "../src/internal/wire/transport.ts"
import { eventually, orHang } from "./support/eventually.ts"
import * as MovableClock from "./support/movableClock.ts"
import * as RawServer from "./support/rawServer.ts"
import * as Service from "./support/service.ts"
import { counted, measured } from "./support/tokens.ts"
import * as Yielding from "./support/yielding.ts"

const execute = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(HttpClient.HttpClient, (client) => client.execute(request))

const provideClient = Effect.provide(IdvHttp.layerUndici())

/** As a user would, who adds a header for a proxy. */
const wrap = <E>(client: Layer.Layer<HttpClient.HttpClient, E>) =>
  Layer.provide(
    Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-proxy", "1")))
    ),
    client
  )

const respondWith = (head: string, body: string | Buffer = "") =>
  RawServer.make((_, socket) => {
    socket.write(`HTTP/1.1 ${head}\r\ncontent-length: ${body.length}\r\n\r\n`)
    socket.write(body)
  })

describe("IdvHttp.layerUndici", () => {
  it.scopedLive("returns the body in every form, more than once", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* respondWith("200 OK\r\nset-cookie: a=b\r\nset-cookie: c=d", "{\"a\":1}")
      const response = yield* execute(HttpClientRequest.get(`${url}/path?query=1`))
      strictEqual(requests[0]?.split("\r\n")[0], "GET /path?query=1 HTTP/1.1")
      strictEqual(yield* response.text, "{\"a\":1}")
      deepStrictEqual(yield* response.json, { a: 1 })
      deepStrictEqual(new Uint8Array(yield* response.arrayBuffer), new TextEncoder().encode("{\"a\":1}"))
      const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.decodeText(response.stream)))
      strictEqual(chunks.join(""), "{\"a\":1}")
      strictEqual(response.headers["content-length"], "7")
    }).pipe(provideClient))

  it.scopedLive("ignores an interim response", () =>
    Effect.gen(function*() {
      const { url } = yield* RawServer.make((_, socket) => {
        socket.write("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
      })
      const response = yield* execute(HttpClientRequest.get(url))
      deepStrictEqual([response.status, yield* response.text], [200, "ok"])
    }).pipe(provideClient))

  it.scopedLive("refuses a body over 1 MiB, and a request body that is a stream", () =>
    Effect.gen(function*() {
      const longest = yield* respondWith("200 OK", Buffer.alloc(1024 * 1024))
      const complete = yield* Effect.flatMap(execute(HttpClientRequest.get(longest.url)), ({ text }) => text)
      strictEqual(complete.length, 1024 * 1024)
      const { requests, url } = yield* respondWith("200 OK", Buffer.alloc(1024 * 1024 + 1))
      const response = yield* execute(HttpClientRequest.get(url))
      const tooLong = yield* Effect.flip(response.text)
      deepStrictEqual([tooLong._tag, tooLong.reason], ["ResponseError", "Decode"])
      const streamed = HttpClientRequest.bodyStream(HttpClientRequest.post(url), Stream.empty)
      const unsupported = yield* Effect.flip(execute(streamed))
      deepStrictEqual([unsupported._tag, unsupported.reason, requests.length], ["RequestError", "Encode", 1])
    }).pipe(provideClient))

  it.scopedLive("names the request in a response and in both kinds of errors", () =>
    Effect.gen(function*() {
      const { url } = yield* RawServer.make((_, socket) =>
        void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx")
      )
      const closed = yield* Effect.scoped(RawServer.make(() => {}))
      const response = yield* execute(HttpClientRequest.get(url))
      const cut = yield* Effect.flip(response.text)
      const refused = yield* Effect.flip(execute(HttpClientRequest.get(closed.url)))
      deepStrictEqual(
        [response, cut, refused].map(({ request }) => request.url),
        [url, url, closed.url]
      )
    }).pipe(provideClient))

  it.scopedLive("fails, and throws nothing, for a header that HTTP cannot send", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* respondWith("200 OK")
      const request = HttpClientRequest.setHeader(HttpClientRequest.get(url), "a", "b\r\nc: d")
      const error = yield* Effect.flip(execute(request))
      deepStrictEqual([error._tag, error.reason, requests.length], ["RequestError", "Transport", 0])
    }).pipe(provideClient))

  it.scopedLive("closes the connection of an interrupted request, before and within the body", () =>
    Effect.gen(function*() {
      const closed: Array<string> = []
      const { requests, url } = yield* RawServer.make((request, socket) => {
        const path = request.split(" ")[1] ?? ""
        socket.on("close", () => closed.push(path))
        if (path === "/body") socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx")
      })
      const isRead = yield* Deferred.make<void>()
      const get = (path: string) =>
        execute(HttpClientRequest.get(url + path)).pipe(
          Effect.tap(Deferred.succeed(isRead, undefined)),
          Effect.flatMap(({ text }) => text)
        )
      const fibers = yield* Effect.forEach(["/head", "/body"], (path) => Effect.fork(get(path)))
      yield* eventually("both requests", () => requests.length, (length) => length === 2)
      yield* orHang(Deferred.await(isRead), () => "the head of the second one")
      strictEqual(closed.length, 0)
      yield* Fiber.interruptAll(fibers)
      yield* eventually("closed connections", () => closed.sort().join(), (paths) => paths === "/body,/head")
    }).pipe(provideClient))

  /** A server that sends the end of each body on request, or a byte in each interval, and the connections that it has lost. */
  const slowBodies = (interval?: number) =>
    Effect.gen(function*() {
      const closed: Array<string> = []
      const sockets = new Set<Socket>()
      const { url } = yield* RawServer.make((_, socket) => {
        sockets.add(socket)
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx")
        const timer = interval === undefined ? undefined : setInterval(() => socket.write("y"), interval)
        socket.on("close", () => {
          clearInterval(timer)
          closed.push("closed")
        })
      })
      const finish = Effect.sync(() => {
        for (const socket of sockets) socket.write("y".repeat(999))
      })
      return { url, closed, finish }
    })

  it.scopedLive("returns an unfinished body to several readers, also if one of them is interrupted", () =>
    Effect.gen(function*() {
      const { closed, finish, url } = yield* slowBodies()
      const response = yield* execute(HttpClientRequest.get(url))
      const interrupted = yield* Effect.fork(response.text)
      const readers = yield* Effect.replicateEffect(Effect.fork(response.text), 2)
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(interrupted)
      yield* finish
      const texts = yield* Effect.forEach(readers, (reader) => Fiber.join(reader))
      deepStrictEqual(texts.map(({ length }) => length), [1000, 1000])
      strictEqual(closed.length, 0)
    }).pipe(provideClient))

  it.scopedLive("closes the connection of a check that ended between the head and the first read", () =>
    Effect.gen(function*() {
      const { closed, url } = yield* slowBodies(5)
      const progress = new Progress(yield* Effect.clock)
      const response = yield* Effect.provideService(execute(HttpClientRequest.get(url)), Transport.Current, {
        pool: "checks",
        observer: progress
      })
      strictEqual(response.status, 200)
      progress.isEnded = true
      yield* eventually("a closed connection", () => closed.length, (length) => length === 1)
    }).pipe(provideClient))

  it.scopedLive("does not send a request that was interrupted while it waited for a connection", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* RawServer.make(() => {})
      const start = (path: string) => Effect.fork(execute(HttpClientRequest.get(url + path)))
      const received = (count: number) => eventually(`${count} requests`, () => requests.length, (n) => n === count)
      const first = yield* start("/first")
      yield* received(1)
      const second = yield* start("/second")
      yield* Effect.sleep("50 millis")
      yield* Fiber.interruptAll([second, first])
      const third = yield* start("/third")
      yield* received(2)
      yield* Fiber.interrupt(third)
      deepStrictEqual(requests.map((request) => request.split(" ")[1]), ["/first", "/third"])
    }).pipe(Effect.provide(IdvHttp.layerUndici({ connections: 1 }))))

  it.scopedLive("opens at most 128 connections, also if the option is set to undefined", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* RawServer.make(() => {})
      const options = {}
      Reflect.set(options, "connections", undefined)
      yield* Effect.replicateEffect(execute(HttpClientRequest.get(url)), 130, { concurrency: "unbounded" }).pipe(
        Effect.provide(IdvHttp.layerUndici(options)),
        Effect.forkScoped
      )
      yield* eventually("128 requests", () => requests.length, (length) => length >= 128)
      yield* Effect.sleep("50 millis")
      strictEqual(requests.length, 128)
    }))

  it.scopedLive("never takes a response that arrived between two requests for that of the second", () =>
    Effect.gen(function*() {
      const sockets: Array<Socket> = []
      const { url } = yield* RawServer.make((request, socket) => {
        sockets.push(socket)
        const path = request.split(" ")[1] ?? ""
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`)
      })
      const get = (path: string) => Effect.flatMap(execute(HttpClientRequest.get(url + path)), ({ text }) => text)
      strictEqual(yield* get("/first"), "/first")
      yield* Effect.sleep("20 millis")
      yield* Effect.async<void>((resume) => {
        sockets[0]?.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n/other", () => resume(Effect.void))
      })
      strictEqual(yield* get("/second"), "/second")
    }).pipe(Effect.provide(IdvHttp.layerUndici({ connections: 1 }))))

  /** The other timeout is that of Undici, so that only one of them passes. */
  it.scopedLive("applies the timeouts of its options, so a body that nobody reads does not keep its connection", () =>
    Effect.gen(function*() {
      const { url } = yield* RawServer.make((request, socket) => {
        if (request.startsWith("GET /endless ")) socket.write("HTTP/1.1 503 X\r\ncontent-length: 9\r\n\r\nx")
        if (request.startsWith("GET /next ")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      })
      const get = (path: string) => execute(HttpClientRequest.get(url + path))
      yield* Effect.gen(function*() {
        yield* get("/endless")
        strictEqual((yield* get("/next")).status, 200)
      }).pipe(Effect.provide(IdvHttp.layerUndici({ connections: 1, bodyTimeout: 200 })))
      const error = yield* Effect.flip(get("/silent")).pipe(
        Effect.provide(IdvHttp.layerUndici({ headersTimeout: 200 }))
      )
      deepStrictEqual([error._tag, error.reason], ["RequestError", "Transport"])
    }))

  it.scopedLive("also works when a user has wrapped it", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* RawServer.make((request, socket) =>
        void socket.end(RawServer.ok(
          request.startsWith("POST /api/aml ")
            ? Service.credential({}, { name: "Zoë Testpep", birth_year: "1957" })
            : { access_token: "t", expires_in: 3600 }
        ))
      )
      const { result } = yield* Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        return yield* aml.check(yield* Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" }))
      }).pipe(
        Effect.withSpan("sign-up"),
        Effect.provide(Idv.layer({ ...Service.options, authUrl: url, baseUrl: url })),
        Effect.provide(wrap(IdvHttp.layerUndici()))
      )
      strictEqual(result, "No")
      strictEqual(requests.every((request) => request.includes("x-proxy: 1")), true)
      assert.notMatch(requests.join(), /traceparent|b3:/i)
    }))

  const person = Person.make({ name: "Zoë Testpep", dateOfBirth: "1957-03-14" })

  const idvOver = <E>(url: string, client: Layer.Layer<HttpClient.HttpClient, E>, options: Partial<Idv.Options> = {}) =>
    Layer.provide(Idv.layer({ ...Service.options, authUrl: url, baseUrl: url, ...options }), client)

  const oneConnection = [
    ["as it is", IdvHttp.layerUndici({ connections: 1 })],
    ["wrapped", wrap(IdvHttp.layerUndici({ connections: 1 }))]
  ] as const

  /** A service that returns tokens, closes no connection, and never responds to a check. */
  const hangingService = RawServer.make((request, socket) => {
    if (!request.startsWith("POST /oauth/")) return
    const response = RawServer.ok({ access_token: crypto.randomUUID(), expires_in: 3600 })
    // A closed connection would be replaced beyond the limit.
    socket.write(response.replace("connection: close\r\n", ""))
  })

  it.scopedLive.each(oneConnection)(
    "counts a check that waited for a connection until its deadline, or an interruption, as not sent: %s",
    ([, client]) =>
      Effect.gen(function*() {
        const { requests, url } = yield* hangingService
        const checks = (requests: ReadonlyArray<string>) =>
          requests.filter((request) => request.startsWith("POST /api/aml")).length
        const { clock, move } = MovableClock.make()
        const errors = yield* Effect.gen(function*() {
          const aml = yield* AmlClient.AmlClient
          const zoe = yield* person
          const fails = (deadline: Duration.DurationInput) =>
            Effect.flip(AmlClient.withPolicy(aml.check(zoe), { deadline }))
          const first = yield* Effect.fork(fails("1 minute"))
          yield* eventually("the first check", () => checks(requests), (length) => length === 1)
          // The first has the connection, and keeps it for longer than the others wait.
          const others = yield* Effect.replicateEffect(fails("300 millis"), 2, { concurrency: 2 })
          yield* move("1 minute")
          return [yield* Fiber.join(first), ...others]
        }).pipe(Effect.provide(idvOver(url, client)), Effect.withClock(clock))
        deepStrictEqual(errors.map((error) => "sent" in error && error.sent), ["unknown", "no", "no"])
        strictEqual(checks(requests), 1)
        const people = Stream.map(Stream.range(1, 3), (key) => ({ key, person }))
        const outcomes: Array<string> = []
        const screening = yield* Stream.runDrain(Screening.stream(people, {
          gracePeriod: 0,
          onOutcome: ({ _tag }) => Effect.sync(() => void outcomes.push(_tag))
        })).pipe(Effect.provide(idvOver(url, client)), Effect.fork)
        yield* eventually("the second check", () => checks(requests), (length) => length === 2)
        // The others wait for the connection.
        yield* Effect.sleep("200 millis")
        yield* Fiber.interrupt(screening)
        deepStrictEqual(outcomes.sort(), ["NotScreened", "NotScreened", "Unknown"])
      })
  )

  it.scopedLive("reports a request that a wrapping client sent before one that found no server", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* RawServer.make((request, socket) => {
        if (request.startsWith("POST /oauth/")) socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
        else socket.destroy()
      })
      let attempts = 0
      const retrying = Layer.map(IdvHttp.layerUndici(), (context) =>
        Context.make(
          HttpClient.HttpClient,
          Context.get(context, HttpClient.HttpClient).pipe(
            HttpClient.mapRequest((request) =>
              request.url.endsWith("/aml") && ++attempts > 1
                ? HttpClientRequest.setUrl(request, "http://127.0.0.1:1/api/aml")
                : request
            ),
            HttpClient.retry({ times: 1 })
          )
        ))
      const error = yield* Effect.gen(function*() {
        const { check } = yield* AmlClient.AmlClient
        return yield* Effect.flip(AmlClient.withPolicy(check(yield* person), { retry: "never" }))
      }).pipe(Effect.provide(idvOver(url, retrying)))
      deepStrictEqual([attempts, requests.length], [2, 2])
      assert.deepInclude(error, { _tag: "AmlUnavailable", reason: "unreachable", sent: "unknown" })
    }))

  it.scopedLive("frees the connection of a request that yields at any step and is interrupted at any moment", () =>
    Effect.gen(function*() {
      const { url } = yield* RawServer.make((request, socket) => {
        if (request.startsWith("GET /next ")) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      })
      const get = (path: string) => execute(HttpClientRequest.get(url + path))
      for (const moment of Yielding.moments) {
        const waiting = yield* Yielding.forkUntil(moment, get("/silent"))
        yield* Fiber.interrupt(waiting)
        yield* orHang(get("/next"), () => `no connection after ${moment.steps} steps and ${moment.ticks} ticks`)
      }
    }).pipe(Effect.provide(IdvHttp.layerUndici({ connections: 1 }))))

  it.scopedLive("closes the connection after the last reader of a body, also if another is interrupted at any moment", () =>
    Effect.gen(function*() {
      let open = 0
      const { url } = yield* RawServer.make((_, socket) => {
        open++
        socket.on("close", () => open--)
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx")
      })
      for (const moment of Yielding.moments) {
        const { text } = yield* execute(HttpClientRequest.get(url))
        const reader = yield* Yielding.forkUntil(moment, text)
        yield* Fiber.interrupt(reader)
        const last = yield* Effect.fork(text)
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(last)
        yield* eventually(
          `${moment.steps} steps and ${moment.ticks} ticks: no open connection`,
          () => open,
          (n) => n === 0
        )
      }
    }).pipe(provideClient))

  it.scopedLive("keeps a connection open for the next request if one that waited for it is interrupted", () =>
    Effect.gen(function*() {
      const sockets: Array<Socket> = []
      const { url } = yield* RawServer.make((_, socket) => void sockets.push(socket))
      const respond = (socket: Socket | undefined) => socket?.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
      const received = (count: number) => eventually(`${count} requests`, () => sockets.length, (n) => n === count)
      const get = execute(HttpClientRequest.get(url))
      const first = yield* Effect.fork(get)
      yield* received(1)
      yield* Effect.timeoutOption(get, "20 millis")
      respond(sockets[0])
      yield* Fiber.join(first)
      const next = yield* Effect.fork(get)
      yield* received(2)
      respond(sockets[1])
      yield* Fiber.join(next)
      strictEqual(new Set(sockets).size, 1)
    }).pipe(Effect.provide(IdvHttp.layerUndici({ connections: 1 }))))

  it.scopedLive.each([["layerUndici", IdvHttp.layerUndici()], ["fetch", FetchHttpClient.layer]] as const)(
    "sends nothing after the end of a check, also over %s",
    ([, client]) =>
      Effect.gen(function*() {
        const { requests, url } = yield* respondWith("200 OK")
        const exchange = yield* Effect.provide(Exchange.make(url, "checks"), client)
        const progress = new Progress(yield* Effect.clock)
        progress.isEnded = true
        const exit = yield* Effect.exit(Effect.timeout(exchange(HttpClientRequest.get(url), progress), "1 second"))
        deepStrictEqual([exit._tag, requests.length, progress.sent], ["Failure", 0, "no"])
      })
  )

  it.scopedLive("counts a request that the service received, and not those whose connection failed later", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const token = yield* RawServer.make((_, socket) =>
        void socket.end(RawServer.ok({ access_token: "t", expires_in: 3600 }))
      )
      const api = yield* Scope.extend(
        RawServer.make((_, socket) =>
          // Nobody listens when the client tries again.
          Effect.runFork(Effect.zipRight(
            Effect.sync(() =>
              socket.end("HTTP/1.1 503 X\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            ),
            Scope.close(scope, Exit.void)
          ))
        ),
        scope
      )
      const error = yield* Effect.gen(function*() {
        const { check } = yield* AmlClient.AmlClient
        return yield* Effect.flip(Effect.flatMap(person, check))
      }).pipe(Effect.provide(idvOver(token.url, IdvHttp.layerUndici(), { baseUrl: api.url })))
      assert.deepInclude(error, { _tag: "AmlUnavailable", reason: "unreachable", sent: "no" })
      deepStrictEqual([api.requests.length, yield* counted("idv_aml_requests")], [1, 1])
    }).pipe(measured("failed later")))

  it.scopedLive.each(oneConnection)(
    "renews the token while checks hold all connections to the same origin: %s",
    ([, client]) =>
      Effect.gen(function*() {
        const { requests, url } = yield* hangingService
        yield* Effect.gen(function*() {
          const { check } = yield* AmlClient.AmlClient
          const { refresh } = yield* TokenProvider.TokenProvider
          yield* Effect.forkScoped(Effect.flatMap(person, check))
          yield* eventually("a token request and a check", () => requests.length, (length) => length === 2)
          yield* orHang(refresh, () => "the token request waits for a connection")
          // The check never ends before the token request.
        }).pipe(Effect.provide(idvOver(url, client, { deadline: "1 hour" })))
      })
  )
})
