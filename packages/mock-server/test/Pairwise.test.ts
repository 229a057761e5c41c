/** The client against pairs of all variants of the profile and all faults. */
import { AmlClient, AmlError, Idv, Person, TokenError, TokenProvider, Violation } from "@effect-idv/core"
import { Control, Fault, type Journal, MockServer, Profile } from "@effect-idv/mock-server"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import {
  Array as Arr,
  Cause,
  Chunk,
  Clock,
  Console,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Option,
  Random,
  Redacted,
  Schema,
  TestClock,
  TestContext,
  TestServices
} from "effect"
import { inspect } from "node:util"
import { transportIn } from "../../core/test/support/canary.ts"
import { sample } from "../../core/test/support/cases.ts"
import * as RecordingTracer from "../../core/test/support/tracer.ts"
import * as Pairwise from "./support/pairwise.ts"

const canaries = {
  customerKey: "canaryCustomerKey",
  givenName: "Canaryfirst",
  dateOfBirth: "1931-07-29",
  wireDate: "29-07-1931"
}

const people: Readonly<Record<string, string>> = {
  "Zoë Canaryfirst Testclear": "No",
  "Zoë Canaryfirst Testpep": "Potential match"
}

const faults = new Map(Pairwise.faultCases.map((fault) => [JSON.stringify(fault.what), fault]))

const variantsOf = (isWanted: (client: Profile.Client) => boolean) =>
  Object.fromEntries(
    Profile.points.map(({ name, variants }) => [
      name,
      variants.filter(({ client }) => isWanted(client)).map(({ value }) => value)
    ])
  )

const others = {
  fault: ["none", ...faults.keys()],
  on: ["token", "aml", "both"],
  when: ["always", "first"],
  person: Object.keys(people),
  token: ["fresh", "expired"]
}

const factors: Pairwise.Factors = { ...variantsOf(() => true), ...others }

const accepted: Pairwise.Factors = { ...variantsOf((client) => client === "accepts"), ...others }

const refusable = Object.entries(variantsOf((client) => client === "refuses")).flatMap(([name, values]) =>
  values.map((value) => ({ name, value }))
)

const faultOf = ({ fault = "" }: Pairwise.Row) => faults.get(fault)

/** Whether the kind of the fault applies to the operation. */
const isPossible = (row: Pairwise.Row): boolean => {
  const kind = faultOf(row)?.what.kind
  const on: ReadonlyArray<string> = Fault.kinds.find((fault) => fault.kind === kind)?.on ?? []
  return kind === undefined || row["on"] === undefined || on.length === 2 || on.includes(row["on"])
}

const acceptedRows = Pairwise.rowsOf(accepted, isPossible)

/**
 * A row has at most one variant that the client refuses, because it hides the effect of the others. Pairs
 * of such variants have rows of their own.
 */
const rows: ReadonlyArray<Pairwise.Row> = [
  ...acceptedRows,
  ...refusable.flatMap(({ name, value }, turn) => Pairwise.rowsWith(accepted, name, value, turn)),
  ...refusable.flatMap((one, index) =>
    refusable.slice(index + 1).filter(({ name }) => name !== one.name).map((two) => ({
      ...Object.fromEntries(Object.entries(accepted).map(([name, [value = ""]]) => [name, value])),
      token: "expired",
      [one.name]: one.value,
      [two.name]: two.value
    }))
  )
].map((row) => isPossible(row) ? row : { ...row, on: "aml" })

describe("The rows", () => {
  it("have every pair of values of two factors", () => {
    const { all, missing } = Pairwise.pairsOf(factors, rows)
    const sizes = Object.values(factors).map(({ length }) => length)
    const sum = sizes.reduce((sum, size) => sum + size, 0)
    strictEqual(all.length, (sum ** 2 - sizes.reduce((sum, size) => sum + size ** 2, 0)) / 2)
    deepStrictEqual(
      missing,
      ["somebodyElse", "unknownMatch"].flatMap((kind) =>
        ["token", "both"].map((on) => ["fault", JSON.stringify({ kind }), "on", on])
      )
    )
  })

  it("lose pairs without the first row", () => {
    strictEqual(Pairwise.pairsOf(factors, rows.slice(1)).missing.length > 4, true)
  })

  it("do not depend on the order of the variants and faults", () => {
    const reversed = Object.fromEntries(
      Object.entries(accepted).toReversed().map(([name, values]) => [name, values.toReversed()])
    )
    deepStrictEqual(Pairwise.rowsOf(reversed, isPossible), acceptedRows)
  })

  it("lose no pair when faults are added that come before and after the others", () => {
    const added = { ...accepted, fault: [...accepted["fault"] ?? [], "a", "{\"kind\":\"newKind\"}"] }
    const { missing } = Pairwise.pairsOf(added, Pairwise.rowsOf(added, isPossible))
    deepStrictEqual(missing.filter(([one, , other]) => one !== "fault" || other !== "on"), [])
    strictEqual(missing.length, 4)
  })

  it("have every kind of fault", () => {
    deepStrictEqual(
      Array.from(new Set(Pairwise.faultCases.map(({ what }) => what.kind))).toSorted(),
      Fault.kinds.map(({ kind }) => kind).toSorted()
    )
  })
})

/** The outcome of a row without a fault: the first that applies. A plain-text token has no type. */
const refusals: ReadonlyArray<readonly [tag: string, isRefused: (row: Pairwise.Row) => boolean]> = [
  ["TokenResponseInvalid", ({ redirects }) => redirects !== "none"],
  ["TokenResponseInvalid", ({ tokenField, tokenType }) => tokenType === "other" && tokenField !== "text"],
  ["AmlForbidden", ({ expiredToken, token }) => expiredToken === "forbidden" && token === "expired"],
  ["AmlResponseInvalid", ({ amlStatus, credVersion }) => amlStatus === "203" || credVersion === "2.0"],
  ["AmlResponseMismatch", ({ nameEcho }) => nameEcho === "reordered"]
]

/** The expected outcome. `failure` is any error; `either` is an error or a credential. */
const expectation = (row: Pairwise.Row): string => {
  const fault = faultOf(row)
  const refusal = refusals.find(([, isRefused]) => isRefused(row))?.[0]
  if (fault === undefined) return refusal ?? "credential"
  const places = row["on"] === "both" ? ["token", "aml"] : [row["on"] ?? ""]
  if (places.every((on) => fault.harmless.includes(on))) return refusal ?? "credential"
  // A fault may replace the 403 for an expired token.
  if (refusal !== undefined && refusal !== "AmlForbidden") return "failure"
  return row["when"] === "always" && fault.fatal.length > 0 ? "failure" : "either"
}

const isRight = (outcome: string, expected: string): boolean =>
  expected === "either" || outcome === expected || expected === "failure" && outcome !== "credential"

const deadline = 30_000

/** Long enough, also on a busy machine, for everything that does not wait for a timer. */
const aWhile = Effect.zipRight(
  TestServices.provideLive(Effect.sleep("8 millis")),
  Effect.repeatN(Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void))), 25)
)

/**
 * Moves the clock from timer to timer until the fiber ends. Work without a timer gets some real time: the
 * clock moves only after nothing has happened for a while. The time of the check shows whether it is late.
 */
const passing = <A, E>(fiber: Fiber.RuntimeFiber<A, E>, progress: () => number) =>
  Effect.gen(function*() {
    const clock = yield* TestClock.testClock()
    const ended = Effect.zipRight(aWhile, Fiber.poll(fiber))
    const last = (yield* Clock.currentTimeMillis) + 2 * deadline
    let before = ""
    for (let looks = 0; looks < 2000; looks++) {
      const exit = yield* ended
      if (Option.isSome(exit)) return exit
      const sleeps = Chunk.toReadonlyArray(yield* clock.sleeps)
      const now = `${progress()} ${sleeps.length}`
      const next = Math.min(...sleeps)
      if (now === before && next <= last) {
        yield* clock.setTime(next)
        before = ""
      } else before = now
    }
    return Option.none()
  })

/** Collects the logs, spans and the exit of an effect as text. */
const printing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const printed: Array<string> = []
    const logger = Logger.make((options) => {
      printed.push(Logger.stringLogger.log(options))
    })
    const { spans, tracer } = RecordingTracer.make()
    const exit = yield* effect.pipe(
      Effect.tapErrorCause((cause) => Effect.logTrace("failed", cause)),
      Effect.exit,
      Effect.withTracer(tracer),
      Effect.provide(Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(LogLevel.All)))
    )
    const traced = spans.map(({ attributes, events, exit, name }) => inspect({ attributes, events, exit, name }))
    const rendered = [JSON.stringify(exit), inspect(exit, { depth: Infinity, showHidden: true, customInspect: false })]
    return { exit, printed: [...printed, ...traced, ...rendered].join("\n") }
  })

const Sent = Schema.Struct({
  name: Schema.String,
  birth_year: Schema.String,
  searched_on: Schema.String,
  match_found: Schema.String,
  aml_profile: Schema.String
})

const decodeSent = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Struct({ credentials: Schema.Struct({ attributes: Sent }) }))
)

const sentIn = ({ operation, response: { body, status } }: Journal.Entry) =>
  operation === "aml" && status >= 200 && status < 300
    ? Option.toArray(Option.map(decodeSent(body), ({ credentials }) => credentials.attributes))
    : []

/** The key and the token as sent, and the addresses of profiles. */
const secretsOf = (entries: ReadonlyArray<Journal.Entry>): ReadonlyArray<string> =>
  entries.flatMap((entry) => [
    (entry.request.headers["authorization"] ?? "").replace(/^\w+ /, ""),
    ...sentIn(entry).map(({ aml_profile }) => aml_profile)
  ]).filter((secret) => secret !== "")

/** The journal entries of each session. */
const exchanges = new Map<string, Array<Journal.Entry>>()

const note = (entry: Journal.Entry) =>
  Effect.sync(() => {
    const id = entry.customerId ?? ""
    exchanges.set(id, Arr.append(exchanges.get(id) ?? [], entry))
  })

const check = (row: Pairwise.Row, { advance, fault }: Control.SessionControl) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name: row["person"] ?? "", dateOfBirth: canaries.dateOfBirth })
    if (row["token"] === "expired") {
      yield* Effect.either((yield* TokenProvider.TokenProvider).get)
      yield* advance("2 hours")
    }
    const what = faultOf(row)?.what
    if (what !== undefined) {
      const on = row["on"] === "token" || row["on"] === "aml" ? row["on"] : "both"
      yield* fault({ on, what, ...(row["when"] === "first" && { when: { kind: "first", n: 1 } }) })
    }
    const started = yield* Clock.currentTimeMillis
    const exit = yield* Effect.exit(aml.check(person))
    return { exit, took: (yield* Clock.currentTimeMillis) - started }
  })

const decodePatch = Violation.decodeUnknown(Profile.Patch)

/** Runs a row, and returns its outcome and what is wrong with it. */
const run = (row: Pairwise.Row, index: number) =>
  Effect.gen(function*() {
    const { options } = yield* MockServer.MockServer
    const { create, session } = yield* Control.Control
    const customer = { customerId: `test-pair-${index}`, customerKey: Redacted.make(canaries.customerKey) }
    const profile = yield* decodePatch(Object.fromEntries(Profile.points.map(({ name }) => [name, row[name]])))
    yield* create({ ...customer, seed: index, profile })
    const control = session(customer.customerId)
    const fiber = yield* check(row, control).pipe(
      Effect.provide(Idv.layer({ ...options, ...customer })),
      printing,
      Effect.withRandom(Random.make(index)),
      Effect.fork
    )
    const ended = yield* passing(fiber, () => (exchanges.get(customer.customerId) ?? []).length)
    if (Option.isNone(ended)) return { outcome: "no end", problems: ["it does not end"] }
    const { exit: ran, printed } = yield* ended.value
    const { exit, took } = yield* ran
    const entries = exchanges.get(customer.customerId) ?? []
    const judged = Exit.match(exit, {
      onSuccess: ({ credential: { credentials: { attributes } } }) => {
        const { amlProfile, birthYear, matchFound, name, searchedOn } = attributes
        const got = {
          name: Redacted.value(name),
          birth_year: Redacted.value(birthYear),
          searched_on: searchedOn,
          match_found: matchFound,
          aml_profile: Redacted.value(amlProfile)
        }
        const isSent = entries.flatMap(sentIn).some((sent) => Schema.equivalence(Sent)(sent, got))
        const isOfPerson = matchFound === people[row["person"] ?? ""] && got.birth_year === "1931"
        return {
          outcome: "credential",
          problems: [...isSent ? [] : ["nobody sent that"], ...isOfPerson ? [] : [`wrong: ${matchFound}`]]
        }
      },
      onFailure: (cause) =>
        cause._tag === "Fail" && (AmlError.isAmlError(cause.error) || TokenError.isTokenError(cause.error))
          ? { outcome: String(cause.error._tag), problems: transportIn(cause).map(() => "its failure holds a request") }
          : { outcome: cause._tag, problems: [`no typed failure: ${Cause.pretty(cause)}`] }
    })
    const expected = expectation(row)
    return {
      outcome: judged.outcome,
      problems: [
        ...judged.problems,
        ...Math.round(took) <= deadline ? [] : [`it takes ${took} ms`],
        ...isRight(judged.outcome, expected) ? [] : [`expected ${expected}, and it is ${judged.outcome}`],
        ...[...Object.values(canaries), ...secretsOf(entries)].filter((secret) => printed.includes(secret)).map(
          (secret) => `it prints ${secret}`
        )
      ]
    }
  })

const slots = 16

/** Runs rows in sequence with one clock, which each row resets. */
const runAll = (rows: ReadonlyArray<readonly [Pairwise.Row, number]>) =>
  Effect.forEach(rows, ([row, index]) =>
    Effect.gen(function*() {
      const restore = yield* TestClock.save()
      const outcome = yield* run(row, index)
      yield* restore
      return { row, ...outcome }
    })).pipe(Effect.provide(TestClock.defaultTestClock))

/** The services that each clock needs. */
const layerTest = Layer.merge(TestServices.annotationsLayer(), TestServices.liveLayer()).pipe(
  Layer.provide(TestContext.LiveContext)
)

describe("The client with every pair of variants and faults", () => {
  it.live(
    "returns the right credential or a typed error within its deadline, and prints no secret",
    () =>
      Effect.gen(function*() {
        const some = sample(rows.map((row, index) => [row, index] as const), 5)
        const ran = Arr.flatten(
          yield* Effect.forEach(
            Arr.makeBy(
              slots,
              (slot) => some.filter((_, index) => index % slots === slot)
            ),
            runAll,
            { concurrency: "unbounded" }
          )
        )
        const counts = new Map<string, number>()
        for (const { outcome } of ran) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        const counted = Array.from(counts).toSorted(([, a], [, b]) => b - a)
        yield* Console.log(
          `${some.length} combinations: ${counted.map(([outcome, count]) => `${count} ${outcome}`).join(", ")}`
        )
        deepStrictEqual(ran.flatMap(({ problems, row }) => problems.map((problem) => ({ problem, ...row }))), [])
      }).pipe(Effect.provide([MockServer.layerHttpClientWith({ reveal: true, onExchange: note }), layerTest]))
  )
})
