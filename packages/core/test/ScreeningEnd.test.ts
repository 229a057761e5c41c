import { AmlClient, AmlError, Failure, Idv, Person, Screening, TokenError, Violation } from "@effect-idv/core"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Cause, Chunk, Duration, Effect, Either, Exit, Fiber, Layer, Option, Stream, TestClock } from "effect"
import * as Ada from "./support/ada.ts"
import * as Service from "./support/service.ts"
import { status } from "./support/tokens.ts"

const people = (count: number) =>
  Stream.map(Stream.range(1, count), (key): Screening.Entry<number> => ({ key, person: Ada.person }))

const respondsWith = (code: number): Service.Handler => () => Effect.sync(() => status(code))
const html: Service.Handler = () =>
  Effect.sync(() => new Response("<html>", { headers: { "content-type": "text/html" } }))
const untrusted = Service.failing({ code: "CERT_HAS_EXPIRED" })

/** A service and its client. */
const idv = (handlers: Parameters<typeof Service.make>[0]) => {
  const service = Service.make(handlers)
  return { ...service, idv: Layer.provide(Idv.layer({ ...Service.options, retry: "never" }), service.layer) }
}

/** A client whose n-th check ends as `canned` says. */
const client = (canned: (n: number) => AmlClient.Canned) => {
  let checks = 0
  return {
    checks: () => checks,
    layer: AmlClient.layerTest(() => canned(++checks))
  }
}

const ended = (screened: Effect.Effect<unknown, unknown, AmlClient.AmlClient>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Effect.exit(screened))
    yield* TestClock.adjust("2 seconds")
    const exit = yield* Fiber.join(fiber)
    return Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : "every person was screened"
  })

const cannotBeScreened: ReadonlyArray<readonly [string, Parameters<typeof Service.make>[0], object, number, number]> = [
  ["a token endpoint that returns HTML", { token: html }, { _tag: "TokenResponseInvalid", status: 200 }, 1, 0],
  [
    "a token endpoint that redirects",
    { token: respondsWith(302) },
    { _tag: "TokenResponseInvalid", status: 302 },
    1,
    0
  ],
  ["a token endpoint at another address", { token: respondsWith(404) }, { _tag: "TokenRejected", status: 404 }, 1, 0],
  [
    "a token endpoint that is down",
    { token: respondsWith(503) },
    { _tag: "TokenEndpointUnavailable", status: 503 },
    3,
    0
  ],
  [
    "an untrusted certificate of the token endpoint",
    { token: untrusted },
    { _tag: "TokenEndpointUnavailable", reason: "certificate" },
    1,
    0
  ],
  ["an untrusted certificate", { aml: untrusted }, { _tag: "AmlUnavailable", reason: "certificate" }, 1, 10],
  ["an API that redirects", { aml: respondsWith(308) }, { _tag: "AmlResponseInvalid", status: 308 }, 1, 10],
  ["an API at another address", { aml: respondsWith(404) }, { _tag: "AmlRequestRejected", status: 404 }, 1, 10],
  ["an API with another method", { aml: respondsWith(405) }, { _tag: "AmlRequestRejected", status: 405 }, 1, 10],
  ["an API that is down", { aml: respondsWith(500) }, { _tag: "AmlUnavailable", status: 500 }, 1, 60],
  ["an API that returns HTML", { aml: html }, { _tag: "AmlResponseInvalid", status: 200 }, 1, 60]
]

describe("A screening of 3,000 people", () => {
  it.effect.each(cannotBeScreened)(
    "with %s ends with the reason, after few requests",
    ([, handlers, reason, tokenRequests, checks]) => {
      const { amlRequests, idv: layer, tokenRequests: tokens } = idv(handlers)
      return Effect.gen(function*() {
        assert.deepInclude(yield* ended(Screening.summary(people(3000))), reason)
        strictEqual(tokens.length, tokenRequests)
        assert(amlRequests.length <= checks, `${amlRequests.length} checks`)
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("counts the people who were not started, and every other person has an outcome", () => {
    const { idv: layer } = idv({ token: html })
    const outcomes: Array<number> = []
    return Effect.gen(function*() {
      const counts: Array<Screening.Summary> = []
      const screened = Screening.progress(people(3000), {
        onOutcome: ({ key }) => Effect.sync(() => void outcomes.push(key))
      }).pipe(Stream.runForEach((summary) => Effect.sync(() => counts.push(summary))))
      assert.deepInclude(yield* ended(screened), { _tag: "TokenResponseInvalid" })
      const last = counts.at(-1)
      assert(last !== undefined)
      deepStrictEqual({ ...last }, {
        total: 3000,
        noMatch: 0,
        doubtfulNo: 0,
        potentialMatch: 0,
        notScreened: outcomes.length,
        unknown: 0,
        notBegun: 3000 - outcomes.length
      })
      strictEqual(last.underWay, 0)
      assert(outcomes.length <= 20 && new Set(outcomes).size === outcomes.length, `${outcomes.length} outcomes`)
    }).pipe(Effect.provide(layer))
  })

  it.effect("reads no more input once it has ended", () => {
    const { layer } = client(() => new AmlError.AmlForbidden({ status: 403 }))
    let pages = 0
    const paged = Stream.repeatEffectChunk(Effect.sync(() => {
      pages++
      return Chunk.map(Chunk.range(1, 100), (key) => ({ key, person: Ada.person }))
    }))
    return Effect.gen(function*() {
      const counts = yield* Effect.fork(
        Stream.runLast(Stream.catchAll(Screening.progress(paged), () => Stream.empty))
      )
      yield* TestClock.adjust(0)
      const last = Option.getOrThrow(yield* Fiber.join(counts))
      deepStrictEqual([pages, last.total, last.notScreened + last.notBegun], [1, 100, 100])
    }).pipe(Effect.provide(layer))
  })
})

describe("Consecutive failures that concern the service", () => {
  const down = new AmlError.AmlUnavailable({ reason: "status", status: 500, sent: "answered" })
  const screen = (canned: (n: number) => AmlClient.Canned, options: Screening.Options<number> = {}, count = 3000) => {
    const { checks, layer } = client(canned)
    return Effect.map(
      Effect.either(Screening.summary(people(count), { concurrency: 1, ...options })),
      (result) => ({ checks: checks(), result })
    ).pipe(Effect.provide(layer))
  }

  it.effect("end the run after 50, with the last failure", () =>
    Effect.gen(function*() {
      const { checks, result } = yield* screen(() => down)
      deepStrictEqual([checks, result], [50, Either.left(down)])
    }))

  it.effect("end the run after stopAfter failures, or never", () =>
    Effect.gen(function*() {
      strictEqual((yield* screen(() => down, { stopAfter: 7 })).checks, 7)
      strictEqual((yield* screen(() => down, { stopAfter: 1 })).checks, 1)
      strictEqual((yield* screen(() => down, { stopAfter: Infinity }, 200)).checks, 200)
    }))

  const everySort: ReadonlyArray<Screening.Stopped> = [
    down,
    new AmlError.AmlUnavailable({ reason: "broken", sent: "unknown" }),
    new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(30) }),
    new AmlError.AmlRequestRejected({ status: 408 }),
    new AmlError.AmlResponseInvalid({ status: 200, length: 0, violations: Violation.whole("a credential") }),
    new TokenError.TokenTimeout({ deadline: Duration.seconds(30) }),
    new TokenError.TokenEndpointUnavailable({ reason: "credentials", attempts: 0 })
  ]
  it.effect("of different kinds count together", () =>
    Effect.gen(function*() {
      const { checks } = yield* screen((n) => everySort[n % everySort.length] ?? down)
      strictEqual(checks, 50)
    }))

  it.effect.each<[string, AmlClient.Canned]>([
    ["a result", "No"],
    ["a potential match", "Potential match"],
    ["a refused request of one person", new AmlError.AmlRequestRejected({ status: 422 })],
    ["a response about another person", new AmlError.AmlResponseMismatch({ fields: ["name"] })]
  ])("start again at zero after %s", ([, canned]) =>
    Effect.gen(function*() {
      const { checks, result } = yield* screen((n) => n % 50 === 0 ? canned : down, {}, 500)
      deepStrictEqual([checks, Either.isRight(result)], [500, true])
    }))

  it.effect.each<[string, AmlClient.Canned]>([
    ["refused requests", new AmlError.AmlRequestRejected({ status: 422 })],
    ["responses about another person", new AmlError.AmlResponseMismatch({ fields: ["name"] })]
  ])("do not include %s, which concern one person", ([, canned]) =>
    Effect.gen(function*() {
      const { checks, result } = yield* screen(() => canned, {}, 200)
      deepStrictEqual([checks, Either.isRight(result)], [200, true])
    }))

  it.effect("are neither reset nor counted by rejected input", () => {
    const { checks, layer } = client(() => down)
    const refused = Person.make({ name: "", dateOfBirth: "1957-03-14" })
    const mixed = Stream.map(people(3000), ({ key, person }) => ({ key, person: key % 2 === 0 ? person : refused }))
    return Effect.gen(function*() {
      strictEqual(yield* Effect.flip(Screening.summary(mixed, { concurrency: 1 })), down)
      strictEqual(checks(), 50)
      const allRefused = yield* Screening.summary(Stream.map(people(200), ({ key }) => ({ key, person: refused })))
      strictEqual(allRefused.notScreened, 200)
    }).pipe(Effect.provide(layer))
  })
})

describe("A failure concerns", () => {
  const rejected = (status: number) => new AmlError.AmlRequestRejected({ status })
  const invalid = (status: number) =>
    new AmlError.AmlResponseInvalid({ status, length: 0, violations: Violation.whole("a credential") })
  const tokenInvalid = (status: number) =>
    new TokenError.TokenResponseInvalid({ status, length: 0, violations: Violation.whole("a token") })

  const cases: Record<Failure.Facts["concerns"], ReadonlyArray<Failure.Failure>> = {
    everyone: [
      new AmlError.AmlUnauthorized({ status: 401, renewal: "replayed" }),
      new AmlError.AmlUnauthorized({ status: 401, renewal: "paused" }),
      new AmlError.AmlForbidden({ status: 403 }),
      ...[402, 404, 405, 406, 407, 410, 415, 421, 426].map(rejected),
      // `fetch` shows a redirect that it does not follow as the status 0.
      ...[0, 300, 301, 302, 303, 304, 307, 308].map(invalid),
      new AmlError.AmlUnavailable({ reason: "certificate", sent: "no" }),
      new TokenError.TokenRejected({ status: 401 }),
      new TokenError.TokenRejected({ status: 404 }),
      tokenInvalid(200),
      tokenInvalid(302),
      new TokenError.TokenEndpointUnavailable({ reason: "certificate", attempts: 1 }),
      new TokenError.TokenProviderClosed()
    ],
    service: [
      ...[408, 425].map(rejected),
      ...[200, 201].map(invalid),
      new AmlError.AmlRateLimited({}),
      ...(["unreachable", "dns", "tls", "broken"] as const).map((reason) =>
        new AmlError.AmlUnavailable({ reason, sent: "no" })
      ),
      new AmlError.AmlUnavailable({ reason: "status", status: 503, sent: "answered" }),
      new AmlError.AmlTimeout({ sent: "unknown", deadline: Duration.seconds(30) }),
      ...(["status", "unreachable", "dns", "tls", "broken", "credentials"] as const).map((reason) =>
        new TokenError.TokenEndpointUnavailable({ reason, attempts: 1 })
      ),
      new TokenError.TokenTimeout({ deadline: Duration.seconds(30) })
    ],
    person: [
      new AmlError.AmlInputRejected({ issues: [new Person.Issue({ field: "name", code: "empty" })] }),
      ...[400, 409, 413, 418, 422, 451].map(rejected),
      new AmlError.AmlResponseMismatch({ fields: ["birth_year"] })
    ]
  }

  it.each(Object.entries(cases).flatMap(([concerns, errors]) => errors.map((error) => [concerns, error] as const)))(
    "%s: %s",
    (concerns, error) => {
      strictEqual(Failure.facts(error).concerns, concerns)
    }
  )
})
