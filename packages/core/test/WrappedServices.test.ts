/** A program may wrap each service. Nothing goes around a wrapper, and nothing depends on its identity or its `this`. */
import { AccessToken, AmlClient, Failure, Idv, type Person, Screening, TokenProvider } from "@effect-idv/core"
import type { TokenStore } from "@effect-idv/core/TokenStore"
import { HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, Context, type Duration, Effect, Fiber, Layer, Stream, TestClock } from "effect"
import * as Ada from "./support/ada.ts"
import * as MemoryStore from "./support/memoryStore.ts"
import * as Service from "./support/service.ts"
import { status, textOf } from "./support/tokens.ts"

/** Records its calls, and returns a new token object each time. */
class Tokens implements TokenProvider.Service {
  readonly #inner: TokenProvider.Service
  readonly #calls: Array<string>
  constructor(inner: TokenProvider.Service, calls: Array<string>) {
    this.#inner = inner
    this.#calls = calls
  }
  get get() {
    return Effect.map(this.#called("get", this.#inner.get), (token) => new AccessToken.AccessToken({ ...token }))
  }
  get refresh() {
    return this.#called("refresh", this.#inner.refresh)
  }
  get readiness() {
    return this.#inner.readiness
  }
  get status() {
    return this.#inner.status
  }
  invalidate(rejected: AccessToken.AccessToken) {
    return this.#called("invalidate", this.#inner.invalidate(rejected))
  }
  #called<A, E>(name: string, effect: Effect.Effect<A, E>) {
    return Effect.suspend(() => {
      this.#calls.push(`tokens.${name}`)
      return Effect.withSpan(effect, name)
    })
  }
}

class Checks implements AmlClient.Service {
  readonly #inner: AmlClient.Service
  readonly #calls: Array<string>
  constructor(inner: AmlClient.Service, calls: Array<string>) {
    this.#inner = inner
    this.#calls = calls
  }
  check(person: Person.Person) {
    this.#calls.push("aml.check")
    return Effect.withSpan(this.#inner.check(person), "audited")
  }
}

const wrap = <I, S>(tag: Context.Tag<I, S>, make: (inner: S) => S) => <E, R>(layer: Layer.Layer<I, E, R>) =>
  Layer.map(layer, (context) => Context.make(tag, make(Context.get(context, tag))))

/** The client, with each service wrapped or as it is. */
const client = (service: ReturnType<typeof Service.make>, calls: Array<string> | undefined) => {
  if (calls === undefined) return Layer.provide(Idv.layer(Service.options), service.layer)
  const http = wrap(HttpClient.HttpClient, (inner) =>
    inner.pipe(
      HttpClient.tapRequest(({ url }) => Effect.sync(() => calls.push(`http ${new URL(url).pathname}`))),
      HttpClient.transform((response) => Effect.withSpan(response, "sent"))
    ))(service.layer)
  const tokens = wrap(TokenProvider.TokenProvider, (inner) => new Tokens(inner, calls))(
    TokenProvider.layer(Service.options)
  )
  const checks = wrap(AmlClient.AmlClient, (inner) => new Checks(inner, calls))(AmlClient.layer(Service.options))
  return checks.pipe(Layer.provideMerge(tokens), Layer.provide(http))
}

const lost = Service.failing({ code: "ECONNRESET", syscall: "read" })
const refused = Service.failing({ code: "ECONNREFUSED", syscall: "connect" })
const rejected: Service.Handler = () => Effect.sync(() => status(401))
const good: Service.Handler = () => Effect.sync(() => Service.json(Service.credential()))
const asksToWait: Service.Handler = () => Effect.sync(() => status(429, { "retry-after": "10" }))
const hangs: Service.Handler = () => Effect.never

const scripted = (script: ReadonlyArray<Service.Handler>) =>
  Service.make({ aml: (received, count, request) => (script[count - 1] ?? good)(received, count, request) })

/** The outcome of screening three people, and the requests in their order with their tokens. */
const screened = (script: ReadonlyArray<Service.Handler>, calls: Array<string> | undefined) => {
  const service = scripted(script)
  return Effect.gen(function*() {
    const outcomes: Array<readonly [number, ...ReadonlyArray<unknown>]> = []
    const people = Stream.map(Stream.range(1, 3), (key) => ({ key, person: Ada.person }))
    const fiber = yield* Screening.stream(people, {
      concurrency: 2,
      gracePeriod: "1 second",
      onOutcome: (outcome) =>
        Effect.sync(() =>
          outcomes.push([
            outcome.key,
            outcome._tag,
            "error" in outcome ? Failure.facts(outcome.error).sent : outcome.check.attempts
          ])
        )
    }).pipe(Stream.runDrain, Effect.ignore, Effect.fork)
    yield* TestClock.adjust("9 seconds")
    const early = service.amlRequests.length
    yield* TestClock.adjust("5 minutes")
    yield* Fiber.join(fiber)
    const tokens = service.amlRequests.map(({ headers }) => headers["authorization"])
    return { outcomes: outcomes.sort(([a], [b]) => a - b), early, tokens, tokenRequests: service.tokenRequests.length }
  }).pipe(Effect.provide(client(service, calls)))
}

describe("A client whose services are all wrapped", () => {
  it.effect.each<[string, ReadonlyArray<Service.Handler>]>([
    ["results", []],
    ["a 401", [rejected]],
    ["a 401 for each of two tokens", [rejected, rejected, rejected, rejected]],
    ["a 429", [asksToWait]],
    ["a lost connection", [lost, good, good]],
    ["a lost connection after a refused one", [refused, lost]],
    ["a server without a connection", Array.replicate(refused, 20)],
    ["a service that does not respond", [hangs, hangs, hangs]]
  ])("screens people as one without wrappers: %s", ([, script]) =>
    Effect.gen(function*() {
      deepStrictEqual(yield* screened(script, []), yield* screened(script, undefined))
    }))

  it.effect("calls each method of a wrapper that it calls of the service", () => {
    const calls: Array<string> = []
    return Effect.gen(function*() {
      yield* Effect.exit(Ada.check)
    }).pipe(
      Effect.provide(client(scripted([rejected]), calls)),
      Effect.zipRight(Effect.sync(() =>
        deepStrictEqual(calls, [
          "aml.check",
          "tokens.get",
          "http /oauth/service",
          "http /api/aml",
          "tokens.invalidate",
          "tokens.get",
          "http /oauth/service",
          "http /api/aml"
        ])
      ))
    )
  })

  it.effect("renews a rejected token every 30 seconds, also if each get returns another object", () => {
    const service = Service.make({ aml: () => Effect.sync(() => status(401)) })
    /** The token requests of one check every 10 seconds. */
    const count = (calls: Array<string> | undefined) => {
      const from = service.tokenRequests.length
      return Effect.gen(function*() {
        for (let i = 0; i < 20; i++) {
          yield* Effect.exit(Ada.check)
          yield* TestClock.adjust("10 seconds")
        }
        return service.tokenRequests.length - from
      }).pipe(Effect.provide(client(service, calls)))
    }
    return Effect.gen(function*() {
      strictEqual(yield* count([]), yield* count(undefined))
    })
  })
})

/** A store as a class: its methods need their `this`. */
class Store implements TokenStore {
  readonly #inner: TokenStore
  readonly calls: Array<keyof TokenStore> = []
  constructor(inner: TokenStore) {
    this.#inner = inner
  }
  read(name: string) {
    this.calls.push("read")
    return this.#inner.read(name)
  }
  compareAndPut(change: Parameters<TokenStore["compareAndPut"]>[0]) {
    this.calls.push("compareAndPut")
    return this.#inner.compareAndPut(change)
  }
  compareAndDelete(name: string, value: string) {
    this.calls.push("compareAndDelete")
    return this.#inner.compareAndDelete(name, value)
  }
  tryLead(name: string, ttl: Duration.Duration) {
    this.calls.push("tryLead")
    return this.#inner.tryLead(name, ttl)
  }
}

describe("A wrapped TokenStore", () => {
  const acquireTwice = (makeStore: (inner: TokenStore) => TokenStore) => {
    const [service, memory] = [Service.make(), MemoryStore.make()]
    return Effect.gen(function*() {
      const store = makeStore(memory.connect().service)
      const first = yield* MemoryStore.provider(service, store)
      const second = yield* MemoryStore.provider(service, store)
      const token = yield* first.get
      yield* TestClock.adjust("1 second")
      const adopted = yield* second.get
      yield* second.invalidate(adopted)
      const replaced = yield* second.get
      yield* TestClock.adjust("1 second")
      return {
        texts: [token, adopted, replaced].map(textOf),
        requests: service.tokenRequests.length,
        calls: memory.calls
      }
    })
  }

  it.scoped("is used for each operation, with the same results", () =>
    Effect.gen(function*() {
      let wrapped: Store | undefined
      const expected = yield* acquireTwice((inner) => inner)
      deepStrictEqual(yield* acquireTwice((inner) => wrapped = new Store(inner)), expected)
      deepStrictEqual(wrapped?.calls, expected.calls)
      deepStrictEqual(new Set(expected.calls), new Set(MemoryStore.operations))
    }))
})
