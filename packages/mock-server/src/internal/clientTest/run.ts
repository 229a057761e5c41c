/** Lets a client work through days, and judges what it did. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import * as Control from "../../Control.ts"
import * as MockServer from "../../MockServer.ts"
import type { Entry } from "../journal/entry.ts"
import * as Sent from "../journal/sent.ts"
import type * as Day from "./day.ts"
import * as Days from "./days.ts"
import * as FirstRun from "./firstRun.ts"
import * as Judges from "./judges.ts"
import * as Persons from "./persons.ts"
import * as Replies from "./replies.ts"

/** Lets the client check one person. */
export type Drive = (
  person: Day.Person,
  options: { readonly patience: Duration.Duration; readonly variables: Readonly<Record<string, string>> }
) => Effect.Effect<Day.Reaction, FirstRun.NotDriven>

/** A way to drive a client. */
export interface Door {
  /** Whether each check is a new process. */
  readonly isProcess: boolean
  /** The customer of a client that is configured with it. Without one, each day has a customer of its own. */
  readonly customer?: Pick<Day.Service, "customerId" | "customerKey">
  /** The port of the mock server. */
  readonly port: number
  /** Prepares the client for the customer of a day. */
  readonly open: (service: Day.Service) => Drive
}

export interface Options {
  readonly days: ReadonlyArray<Day.Day>
  /** How long the test waits for one check. */
  readonly patience: Duration.Duration
  /** How many checks run at once. */
  readonly concurrency: number
  readonly onDay: (result: DayResult) => Effect.Effect<void>
}

export interface DayResult {
  readonly word: string
  readonly title: string
  readonly verdict: "wrong" | "risky" | "good" | "not tested"
  /** Why the day was not tested. */
  readonly reason?: string
  readonly findings: ReadonlyArray<Day.Finding>
  readonly millis: number
}

export interface Report {
  /** The address of the mock server. */
  readonly origin: string
  /** What was understood in the first run. */
  readonly explanation: string
  readonly days: ReadonlyArray<DayResult>
}

const pad = (value: number) => String(value).padStart(2, "0")

const requestOf = (entry: Entry): Day.Request => {
  const sent = Sent.of(entry)
  const person = Option.map(sent, ({ person }) => person())
  const header = (name: string) => Option.getOrUndefined(Option.map(sent, ({ headers }) => headers[name] ?? ""))
  const born = Option.flatMap(person, ({ dateOfBirth }) => dateOfBirth)
  return {
    entry,
    at: Date.parse(entry.at),
    authorization: header("authorization") || undefined,
    host: header("host"),
    name: Option.getOrUndefined(Option.flatMap(person, ({ name }) => name)),
    dateOfBirth: Option.getOrUndefined(
      Option.map(born, ({ day, month, year }) => [year, pad(month), pad(day)].join("-"))
    )
  }
}

const verdictOf = (findings: ReadonlyArray<Day.Finding>) =>
  findings.some(({ verdict }) => verdict === "wrong") ? "wrong" : findings.length > 0 ? "risky" : "good"

/** The first finding of each text. */
const distinct = (findings: ReadonlyArray<Day.Finding>): ReadonlyArray<Day.Finding> =>
  findings.filter(({ text }, index) => findings.findIndex((other) => other.text === text) === index)

const muteReason = "the client clears nobody: correct the findings of first-run, and test again"

const firstRunPatience = Duration.seconds(30)

/** Runs the first run and then the days. Fails if the client cannot be tested. */
export const run = (door: Door, { concurrency, days, onDay, patience }: Options) =>
  Effect.gen(function*() {
    const seen: Array<Day.Request> = []
    const customer = door.customer
    const server = yield* Layer.build(MockServer.layer({
      port: door.port,
      ...(customer && {
        customers: [{ customerId: customer.customerId, customerKey: Redacted.make(customer.customerKey) }]
      }),
      onExchange: (entry) => Effect.sync(() => void seen.push(requestOf(entry)))
    }))
    const control = Context.get(server, Control.Control)
    const { url } = Context.get(server, MockServer.MockServer)
    const port = new URL(url).port
    const driver: Day.Driver = {
      isProcess: door.isProcess,
      isShared: customer !== undefined,
      patience: Duration.format(patience)
    }
    const slots = yield* Effect.makeSemaphore(customer === undefined ? concurrency : 1)

    /** The address by which the client knows the mock server. */
    const origin = () => `http://${seen[0]?.host ?? new URL(url).host}`

    /** The customer of a day: that of the client, or a new one. */
    const serviceOf = (word: string, customerKey = randomBytes(12).toString("hex")): Effect.Effect<Day.Service> =>
      customer !== undefined
        ? Effect.succeed({ ...customer, authUrl: origin(), baseUrl: origin() })
        : Effect.as(
          Effect.orDie(control.create({ customerId: word, customerKey: Redacted.make(customerKey) })),
          { authUrl: url, baseUrl: url, customerId: word, customerKey }
        )

    const check = (
      service: Day.Service,
      drive: Drive,
      step: Day.Step,
      options: { readonly number: number; readonly patience: Duration.Duration; readonly isSubstituted: boolean }
    ) =>
      Effect.gen(function*() {
        const person = { ...Persons.person(options.number), ...step.person }
        const session = control.session(service.customerId)
        const substitute = options.isSubstituted && step.expect === "clear" ? Replies.altered({}) : undefined
        const elsewhere = `http://${
          new URL(service.baseUrl).hostname === "localhost" ? "127.0.0.1" : "localhost"
        }:${port}`
        yield* session.clearFaults
        if (step.advance !== undefined) yield* session.advance(step.advance)
        if (step.revokeTokens === true) yield* session.revokeTokens()
        yield* Effect.forEach([
          ...(step.faults?.(person, new Date(), elsewhere) ?? []),
          ...(substitute?.(person, new Date(), elsewhere) ?? [])
        ], session.fault)
        const start = seen.length
        const reaction = yield* drive(person, { patience: options.patience, variables: step.variables ?? {} })
        const isOwn = ({ entry: { customerId }, name }: Day.Request) =>
          customer !== undefined || customerId === service.customerId ||
          customerId === null && name !== undefined && Persons.comparable(name) === Persons.comparable(person.name)
        return { ...reaction, step, person, service, requests: seen.slice(start).filter(isOwn) } satisfies Day.Check
      }).pipe(Effect.catchTags({
        ControlRefused: Effect.die,
        ControlUnavailable: Effect.die,
        SessionUnknown: Effect.die
      }))

    const service = yield* serviceOf("first-run")
    const drive = door.open(service)
    const checks = yield* Effect.forEach(
      Object.values(FirstRun.steps),
      (step, number) => check(service, drive, step, { number, patience: firstRunPatience, isSubstituted: false })
    )
    const first = checks.map((check) => ({ ...check, service: { ...service, baseUrl: origin() } }))
    const explanation = FirstRun.explanation(first)
    const flaws = distinct(Judges.requests(first, driver))
    const problem = FirstRun.problem(first, flaws.length > 0)
    if (problem !== undefined) return yield* new FirstRun.NotDriven({ text: problem, explanation })
    // The mock server refuses the checks of such a client, so the days replace its responses.
    const isSubstituted = first[0]?.outcome !== "clear"
    const isMute = isSubstituted && "clear" !== (yield* check(service, drive, FirstRun.steps.clear, {
          number: 3,
          patience: firstRunPatience,
          isSubstituted
        })).outcome
    const judgesOf = (
      day: Day.Day
    ) => [Judges.cleared(day), ...(isMute ? [] : [Judges.notCleared]), ...day.judges, ...Judges.all]

    const runDay = (day: Day.Day, index: number) =>
      Effect.gen(function*() {
        const reason = day.notTested(driver)
        const { title, word } = day
        if (reason !== undefined) {
          return { word, title, verdict: "not tested", reason, findings: [], millis: 0 } satisfies DayResult
        }
        const service = yield* serviceOf(word, day.customerKey)
        const drive = door.open(service)
        const take = day.isLong ? <A, E, R>(effect: Effect.Effect<A, E, R>) => effect : slots.withPermits(1)
        const [duration, checks] = yield* Effect.timed(
          Effect.forEach(
            day.steps,
            (step, stepIndex) =>
              take(check(service, drive, step, { number: 16 + index * 16 + stepIndex, patience, isSubstituted }))
          )
        )
        const findings = distinct(judgesOf(day).flatMap((judge) => judge(checks, driver)))
        const verdict = verdictOf(findings)
        const millis = Duration.toMillis(duration)
        return verdict === "good" && isMute
          ? { word, title, verdict: "not tested", reason: muteReason, findings, millis } satisfies DayResult
          : { word, title, verdict, findings, millis } satisfies DayResult
      }).pipe(Effect.tap(onDay))

    const results = yield* Effect.forEach(days, (day) => runDay(day, Days.all.indexOf(day)), {
      concurrency: customer === undefined ? "unbounded" : 1
    })
    const firstDay: DayResult = {
      word: "first-run",
      title: "The first requests",
      verdict: verdictOf(flaws),
      findings: flaws,
      millis: 0
    }
    return { origin: url, explanation, days: [firstDay, ...results] } satisfies Report
  })
