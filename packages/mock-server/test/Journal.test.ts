import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Duration, Effect, Either, Exit, Fiber, JSONSchema, Redacted, Schema, Stream, TestClock } from "effect"
import * as Journal from "../src/Journal.ts"
import * as Verification from "../src/Verification.ts"

interface Change extends Partial<Omit<Journal.Draft, "exchange">> {
  readonly status?: number
  readonly body?: string
}

const draft = ({ body: text = "{}", status = 200, ...others }: Change = {}): Journal.Draft => {
  const body = new TextEncoder().encode(text)
  return {
    customerId: "demo-customer",
    operation: "aml",
    exchange: Redacted.make({
      request: { method: "POST", target: "/api/aml", headers: { accept: "*/*" }, body },
      response: { status, headers: {}, body, delivery: "whole" }
    }),
    rule: "aml.success",
    facts: { kind: "other", what: "The request is as the document has it" },
    claims: ["aml.success.status"],
    faults: [],
    unexpected: false,
    millis: 1,
    ...others
  }
}

const refused = draft({
  status: 401,
  rule: "aml.token-expired",
  facts: { kind: "refused", problem: "The token is expired", violations: [] }
})
const broken = draft({ rule: "aml.body", unexpected: true, faults: [{ id: "f1", kind: "hang", request: 1 }] })

const makeJournal = (capacity?: number) => {
  let id = 0
  return Journal.make({ nextId: () => ++id, capacity, reveal: true })
}

const filled = (drafts: ReadonlyArray<Journal.Draft>, capacity?: number) =>
  Effect.tap(makeJournal(capacity), (journal) => Effect.forEach(drafts, journal.write))

const entriesOf = (drafts: ReadonlyArray<Journal.Draft>): ReadonlyArray<Journal.Entry> =>
  Effect.runSync(Effect.flatMap(filled(drafts, drafts.length + 1), ({ entries }) => entries))

const holds = (
  expectation: Verification.Expectation,
  drafts: ReadonlyArray<Journal.Draft>,
  dropped?: number
) => Either.isRight(Verification.check(expectation, entriesOf(drafts), dropped))

const within = Duration.seconds(10)

describe("make", () => {
  it.effect("keeps entries in the order of their ids, with the time of the session", () =>
    Effect.gen(function*() {
      let id = 0
      const nextId = () => ++id
      let time = 1_700_000_000_001
      const one = yield* Journal.make({ nextId, now: Effect.sync(() => time) })
      const other = yield* Journal.make({ nextId })
      yield* TestClock.setTime(1)
      yield* one.write(draft())
      yield* other.write(draft())
      time = Number.NaN
      yield* one.write(draft())
      const entries = yield* one.entries
      deepStrictEqual(entries.map(({ at, id }) => [id, at]), [[1, "2023-11-14T22:13:20.001Z"], [3, "out of range"]])
      deepStrictEqual((yield* other.entries).map(({ at, id }) => [id, at]), [[2, "1970-01-01T00:00:00.001Z"]])
      strictEqual(Exit.isSuccess(yield* Effect.exit(Schema.decode(Journal.Entry)(entries[0] ?? assert.fail()))), true)
    }))

  it.effect("never writes a negative duration, which the schema of an entry refuses", () =>
    Effect.gen(function*() {
      const journal = yield* makeJournal()
      strictEqual((yield* journal.write(draft({ millis: -5 }))).millis, 0)
      strictEqual((yield* journal.write(draft({ millis: 0.5 }))).millis, 0.5)
    }))

  it.effect("keeps the order when many writers write at once", () =>
    Effect.gen(function*() {
      let id = 0
      let turn = 0
      const now = Effect.as(Effect.suspend(() => ++turn % 2 === 0 ? Effect.yieldNow() : Effect.void), 0)
      const journal = yield* Journal.make({ nextId: () => ++id, now })
      yield* Effect.replicateEffect(journal.write(draft()), 50, { concurrency: "unbounded" })
      deepStrictEqual((yield* journal.entries).map(({ id }) => id), Array.from({ length: 50 }, (_, index) => index + 1))
    }))

  it.effect("drops the oldest entries and counts them", () =>
    Effect.gen(function*() {
      const journal = yield* filled([draft(), draft(), draft(), draft(), draft()], 2)
      deepStrictEqual((yield* journal.entries).map(({ id }) => id), [4, 5])
      strictEqual(yield* journal.dropped, 3)
      yield* journal.clear
      deepStrictEqual(yield* journal.entries, [])
      strictEqual(yield* journal.dropped, 0)
      strictEqual((yield* journal.write(draft())).id, 6)
    }))

  it.effect("keeps 1,000 entries by default", () =>
    Effect.gen(function*() {
      const journal = yield* makeJournal()
      yield* Effect.replicateEffect(journal.write(draft()), 1001)
      strictEqual((yield* journal.entries).length, 1000)
      strictEqual(yield* journal.dropped, 1)
    }))

  it.effect.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "a capacity of %d is a defect",
    (capacity) =>
      Effect.gen(function*() {
        strictEqual(Exit.isFailure(yield* Effect.exit(makeJournal(capacity))), true)
      })
  )

  it.effect.each<[string, string]>([
    ["x".repeat(16_384), "x".repeat(16_384)],
    ["x".repeat(16_385), `${"x".repeat(16_384)}… (16385 bytes in all)`],
    [`x${"ë".repeat(8192)}`, `x${"ë".repeat(8191)}… (16385 bytes in all)`],
    [`xx${"😀".repeat(4096)}`, `xx${"😀".repeat(4095)}… (16386 bytes in all)`]
  ])("keeps 16 KiB of a body, and cuts no character in half", ([body, expected]) =>
    Effect.gen(function*() {
      const journal = yield* makeJournal()
      const { request, response } = yield* journal.write(draft({ body }))
      strictEqual(request.body, expected)
      strictEqual(response.body, expected)
    }))

  it.scoped("publishes each entry to every reader, and a slow reader does not delay a writer", () =>
    Effect.gen(function*() {
      const journal = yield* makeJournal()
      const reader = yield* Effect.fork(Stream.runCollect(Stream.take(journal.changes, 2)))
      const slow = yield* Effect.fork(Stream.runForEach(journal.changes, () => Effect.never))
      yield* TestClock.adjust(0)
      yield* Effect.replicateEffect(journal.write(draft()), 1000)
      strictEqual((yield* journal.entries).length, 1000)
      strictEqual(Chunk.size(yield* Fiber.join(reader)), 2)
      yield* Fiber.interrupt(slow)
    }))
})

describe("check", () => {
  const drafts = [draft(), refused, draft(), broken]

  it.each<[Verification.Pattern, number]>([
    [{}, 4],
    [{ operation: "aml" }, 4],
    [{ operation: "token" }, 0],
    [{ status: 401 }, 1],
    [{ rule: "aml.success" }, 2],
    [{ fault: "f1" }, 1],
    [{ fault: "hang" }, 1],
    [{ fault: "f2" }, 0],
    [{ unexpected: true }, 1],
    [{ unexpected: false }, 3],
    [{ customerId: "demo-customer" }, 4],
    [{ customerId: null }, 0],
    [{ status: 401, rule: "aml.success" }, 0]
  ])("%j matches %d entries", (pattern, n) => {
    strictEqual(holds({ kind: "exactly", n, pattern }, drafts), true)
    strictEqual(holds({ kind: "exactly", n: n + 1, pattern }, drafts), false)
    strictEqual(holds({ kind: "atLeast", n: n + 1, pattern }, drafts), false)
    strictEqual(holds({ kind: "never", pattern }, drafts), n === 0)
    strictEqual(entriesOf(drafts).filter(Verification.matches(pattern)).length, n)
    if (n > 0) {
      strictEqual(holds({ kind: "exactly", n: n - 1, pattern }, drafts), false)
      strictEqual(holds({ kind: "atLeast", n, pattern }, drafts), true)
    }
  })

  it("inOrder allows other entries in between, and counts an entry for one pattern only", () => {
    const inOrder = (...patterns: readonly [Verification.Pattern, ...Array<Verification.Pattern>]) =>
      holds({ kind: "inOrder", patterns }, drafts)
    strictEqual(inOrder({ rule: "aml.success" }, { rule: "aml.body" }), true)
    strictEqual(inOrder({ rule: "aml.body" }, { rule: "aml.success" }), false)
    strictEqual(inOrder({ status: 401 }, { status: 401 }), false)
    strictEqual(inOrder({}, {}, {}, {}), true)
    strictEqual(inOrder({}, {}, {}, {}, {}), false)
  })

  it("nothingUnexpected holds if no request breaks the service document", () => {
    strictEqual(holds({ kind: "nothingUnexpected" }, [draft(), refused]), true)
    strictEqual(holds({ kind: "nothingUnexpected" }, drafts), false)
    strictEqual(holds({ kind: "nothingUnexpected" }, []), true)
  })

  it.each<[Verification.Expectation, boolean]>([
    [{ kind: "exactly", n: 4, pattern: {} }, false],
    [{ kind: "never", pattern: { operation: "token" } }, false],
    [{ kind: "nothingUnexpected" }, false],
    [{ kind: "atLeast", n: 4, pattern: {} }, true],
    [{ kind: "inOrder", patterns: [{}, { status: 401 }] }, true]
  ])("with entries dropped, %j holds: %s", (expectation, expected) => {
    const entries = [draft(), refused, draft(), draft()]
    strictEqual(holds(expectation, entries, 0), true)
    strictEqual(holds(expectation, entries, 1), expected)
  })
})

describe("verify", () => {
  const failure = (journal: Journal.Journal, expectation: Verification.Expectation) =>
    Effect.flip(journal.verify(expectation))

  it.effect("reports what was expected, what was found, and the nearest entries", () =>
    Effect.gen(function*() {
      const journal = yield* filled([draft(), refused, draft({ rule: "token.success", operation: "token" })])
      const error = yield* failure(journal, {
        kind: "exactly",
        n: 2,
        pattern: { operation: "aml", status: 401 }
      })
      strictEqual(error._tag, "VerificationFailed")
      strictEqual(
        error.message,
        "Expected exactly 2 of {\"operation\":\"aml\",\"status\":401}; found 1 among 3 entries; nearest: " +
          "#2 aml.token-expired 401 (The token is expired), #1 aml.success 200 (The request is as the document has it; " +
          "differs in status), #3 token.success 200 (The request is as the document has it; differs in operation, status)"
      )
    }))

  it.effect("lists the nearest misses first, and the latest first among equals", () =>
    Effect.gen(function*() {
      const token = draft({ operation: "token", rule: "token.success" })
      const refusedToken = draft({ operation: "token", status: 401, rule: "token.credentials" })
      // How many of status, operation and rule match: 2 of 3, 0, 1, 2, 1, 0.
      const journal = yield* filled([refused, token, draft(), refused, refusedToken, token])
      const pattern = { operation: "aml", status: 401, rule: "aml.token-unknown" } as const
      const nearest = [4, 1, 5, 3, 6]
      for (const kind of ["exactly", "atLeast"] as const) {
        const error = yield* failure(journal, { kind, n: 1, pattern })
        deepStrictEqual(error.nearest.map(({ id }) => id), nearest)
      }
      const error = yield* failure(journal, { kind: "inOrder", patterns: [pattern] })
      deepStrictEqual(error.nearest.map(({ id }) => id), nearest)
    }))

  it.effect("lists matching entries first, the latest first, if more were expected", () =>
    Effect.gen(function*() {
      const journal = yield* filled([refused, draft(), refused, draft({ operation: "token" })])
      for (const kind of ["exactly", "atLeast"] as const) {
        const error = yield* failure(journal, { kind, n: 3, pattern: { operation: "aml", status: 401 } })
        deepStrictEqual(error.nearest.map(({ id }) => id), [3, 1, 2, 4])
      }
    }))

  it.effect("lists the latest five entries in excess", () =>
    Effect.gen(function*() {
      const journal = yield* filled(Array.from({ length: 8 }, () => refused))
      const { found, nearest } = yield* failure(journal, { kind: "never", pattern: { status: 401 } })
      strictEqual(found, 8)
      deepStrictEqual(nearest.map(({ id }) => id), [8, 7, 6, 5, 4])
    }))

  it.effect("reports how many patterns of an order matched, and the entries after them", () =>
    Effect.gen(function*() {
      const journal = yield* filled([refused, draft(), broken])
      const { expected, found, nearest } = yield* failure(journal, {
        kind: "inOrder",
        patterns: [{ status: 401 }, { rule: "aml.success" }, { status: 401 }]
      })
      strictEqual(expected, "in order {\"status\":401}, {\"rule\":\"aml.success\"}, {\"status\":401}")
      strictEqual(found, 2)
      deepStrictEqual(nearest.map(({ id }) => id), [3])
    }))

  it.effect("fails and says so if entries were dropped", () =>
    Effect.gen(function*() {
      const journal = yield* filled([broken, draft(), draft()], 2)
      const error = yield* failure(journal, { kind: "nothingUnexpected" })
      strictEqual(
        error.message,
        "Expected nothing unexpected; found 0 among 2 entries; entries dropped before these, which cannot be checked: 1"
      )
      yield* failure(journal, { kind: "exactly", n: 2, pattern: {}, within })
    }))

  it.effect("never shows a body, a target or a header", () =>
    Effect.gen(function*() {
      const parts = { headers: { canary: "canary" }, body: new TextEncoder().encode("canary") }
      const journal = yield* filled([{
        ...broken,
        exchange: Redacted.make({
          request: { ...parts, method: "POST", target: "/canary" },
          response: { ...parts, status: 200, delivery: "whole" }
        })
      }])
      const error = yield* failure(journal, { kind: "never", pattern: {} })
      assertInclude(error.message, "#1 aml.body")
      assert.notInclude(error.message + JSON.stringify(error) + String(error), "canary")
    }))
})

describe("verify within a time", () => {
  const started = Effect.fnUntraced(function*(
    expectation: Verification.Expectation,
    drafts: ReadonlyArray<Journal.Draft> = []
  ) {
    const journal = yield* filled(drafts)
    const fiber = yield* Effect.fork(Effect.either(journal.verify(expectation)))
    const isDone = Effect.map(Effect.zipRight(TestClock.adjust(0), Fiber.poll(fiber)), ({ _tag }) => _tag === "Some")
    const succeeds = Effect.map(Fiber.join(fiber), Either.isRight)
    yield* TestClock.adjust(0)
    return { ...journal, isDone, succeeds }
  })

  it.effect("waits for entries, and succeeds as soon as there are enough", () =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started({ kind: "atLeast", n: 2, pattern: {}, within }, [draft()])
      yield* TestClock.adjust("9 seconds")
      strictEqual(yield* isDone, false)
      yield* write(draft())
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, true)
    }))

  it.effect("fails when the time is over", () =>
    Effect.gen(function*() {
      const { isDone, succeeds } = yield* started({ kind: "atLeast", n: 1, pattern: {}, within })
      yield* TestClock.adjust("9999 millis")
      strictEqual(yield* isDone, false)
      yield* TestClock.adjust("1 millis")
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, false)
    }))

  it.effect("counts entries of the last millisecond", () =>
    Effect.gen(function*() {
      const journal = yield* makeJournal()
      const writer = yield* Effect.fork(Effect.delay(journal.write(draft()), "9999 millis"))
      const fiber = yield* Effect.fork(Effect.either(journal.verify({ kind: "atLeast", n: 1, pattern: {}, within })))
      yield* TestClock.adjust(within)
      yield* Fiber.join(writer)
      strictEqual(Either.isRight(yield* Fiber.join(fiber)), true)
    }))

  it.effect("fails exactly at once when there are too many", () =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started({ kind: "exactly", n: 0, pattern: { status: 401 }, within }, [
        refused
      ])
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, false)
      yield* write(draft())
    }))

  it.effect("succeeds exactly as soon as it holds", () =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started({ kind: "exactly", n: 1, pattern: { status: 401 }, within })
      yield* write(draft())
      strictEqual(yield* isDone, false)
      yield* write(refused)
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, true)
    }))

  it.effect("waits for the rest of an inOrder", () =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started(
        { kind: "inOrder", patterns: [{ status: 401 }, { status: 200 }], within },
        [draft(), refused]
      )
      strictEqual(yield* isDone, false)
      yield* write(draft())
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, true)
    }))

  it.effect.each<Verification.Expectation>([
    { kind: "never", pattern: { unexpected: true }, within },
    { kind: "nothingUnexpected", within }
  ])("%j holds if no entry comes in time", (expectation) =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started(expectation)
      yield* write(draft())
      yield* TestClock.adjust("9999 millis")
      strictEqual(yield* isDone, false)
      yield* TestClock.adjust("1 millis")
      strictEqual(yield* succeeds, true)
    }))

  it.effect.each<Verification.Expectation>([
    { kind: "never", pattern: { unexpected: true }, within },
    { kind: "nothingUnexpected", within }
  ])("%j fails at the first entry against it", (expectation) =>
    Effect.gen(function*() {
      const { isDone, succeeds, write } = yield* started(expectation)
      yield* write(broken)
      strictEqual(yield* isDone, true)
      strictEqual(yield* succeeds, false)
    }))

  it.effect("misses no entry of a burst that is longer than the buffer of a reader", () =>
    Effect.gen(function*() {
      const { succeeds, write } = yield* started({ kind: "exactly", n: 900, pattern: {}, within })
      yield* Effect.replicateEffect(write(draft()), 900)
      strictEqual(yield* succeeds, true)
    }))
})

describe("decodeUnknown", () => {
  const refusals = (input: unknown) =>
    Either.match(Verification.decodeUnknown(input), {
      onLeft: (violations) => violations.map(({ expected, path, problem }) => [path, problem, expected]),
      onRight: () => []
    })

  it("decodes each kind", () => {
    const read = (input: unknown) => Either.getOrThrow(Verification.decodeUnknown(input))
    deepStrictEqual(read({ kind: "exactly", n: 0, pattern: { status: 401 }, within: "2 seconds" }), {
      kind: "exactly",
      n: 0,
      pattern: { status: 401 },
      within: Duration.seconds(2)
    })
    deepStrictEqual(read({ kind: "atLeast", n: 1, pattern: {}, within: 5 }), {
      kind: "atLeast",
      n: 1,
      pattern: {},
      within: Duration.millis(5)
    })
    deepStrictEqual(read({ kind: "never", pattern: { customerId: null } }), {
      kind: "never",
      pattern: { customerId: null }
    })
    deepStrictEqual(read({ kind: "inOrder", patterns: [{}] }), { kind: "inOrder", patterns: [{}] })
    deepStrictEqual(read({ kind: "nothingUnexpected" }), { kind: "nothingUnexpected" })
  })

  const kinds = "one of exactly, atLeast, never, inOrder, nothingUnexpected"
  const fields = "one of operation, status, rule, fault, unexpected, customerId, name, dateOfBirth, headers"

  it.each<[unknown, ReadonlyArray<ReadonlyArray<string>>]>([
    [{ kind: "sometimes" }, [["kind", "invalid", kinds]]],
    [{}, [["kind", "missing", kinds]]],
    [null, [["", "invalid", `an object whose kind is ${kinds}`]]],
    [{ kind: "exactly", n: -1, pattern: {} }, [["n", "invalid", "a whole number from 0"]]],
    [{ kind: "atLeast", n: 0, pattern: {} }, [["n", "invalid", "a whole number from 1"]]],
    [{ kind: "never", pattern: { rules: 1 } }, [["pattern.rules", "unexpected", fields]]],
    [{ kind: "never", pattern: {}, n: 1 }, [["n", "unexpected", "one of kind, pattern, within"]]],
    [{ kind: "never", pattern: { operation: "x" } }, [["pattern.operation", "invalid", "one of token, aml, other"]]],
    [{ kind: "inOrder", patterns: [{}, { x: 1 }] }, [["patterns.1.x", "unexpected", fields]]],
    [{ kind: "inOrder", patterns: [{}], within: -1 }, [
      [
        "within",
        "invalid",
        "a number of milliseconds from 0 to 2147483647 (24.8 days), or a text such as \"2 seconds\""
      ]
    ]]
  ])("refuses %j, and lists the allowed values", (input, expected) => {
    deepStrictEqual(refusals(input), expected)
  })

  it("refuses an empty order", () => {
    strictEqual(refusals({ kind: "inOrder", patterns: [] }).length, 1)
  })

  it("has a JSON schema, and encodes what it decodes", () => {
    assertInclude(JSON.stringify(JSONSchema.make(Verification.Expectation)), "nothingUnexpected")
    assertInclude(JSON.stringify(JSONSchema.make(Journal.Entry)), "customerId")
    deepStrictEqual(Schema.encodeSync(Verification.Expectation)({ kind: "nothingUnexpected", within }), {
      kind: "nothingUnexpected",
      within: 10_000
    })
  })
})
