/** Lets a client work through days, and judges what it did. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import * as Control from "../../Control.ts"
import * as MockServer from "../../MockServer.ts"
import { IsLenient } from "../service/dataPlane.ts"
import { type Recorded, requestOf, withRequests } from "./checkRequests.ts"
import type * as Day from "./day.ts"
import * as Days from "./days.ts"
import * as FirstRun from "./firstRun.ts"
import * as Judges from "./judges/all.ts"
import { isReached, merged, stepsOf } from "./judges/judge.ts"
import { exitCodes } from "./judges/outcomes.ts"
import { requests } from "./judges/requests.ts"
import { areRefused, isOfEarlierRun, otherCustomer } from "./judges/tokens.ts"
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
  /** Whether the client responds to an applicant. */
  readonly isEndpoint: boolean
  /** Whether a person operates the client, one check after the other. */
  readonly isOperated: boolean
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
  /** Why the day was not tested, or which of its responses the client did not receive. */
  readonly reason?: string
  readonly findings: ReadonlyArray<Day.Finding>
  readonly millis: number
}

export interface Report {
  /** What was understood in the first run. */
  readonly explanation: string
  readonly days: ReadonlyArray<DayResult>
}

const verdictOf = (findings: ReadonlyArray<Day.Finding>) =>
  findings.some(({ verdict }) => verdict === "wrong") ? "wrong" : findings.length > 0 ? "risky" : "good"

const muteReason = "the client clears nobody: correct the findings of first-run, and test again"

const unreachedReason = "the client sent no request to which this day responds, such as after a refused token"

const firstRunPatience = Duration.seconds(30)

const make = (door: Door, patience: Duration.Duration) =>
  Effect.gen(function*() {
    const seen: Array<Day.Request> = []
    const { customer, isEndpoint, isOperated, isProcess } = door
    const server = yield* Layer.build(MockServer.layer({
      port: door.port,
      // A client that was stopped leaves requests without a response.
      gracePeriod: "100 millis",
      ...(customer && {
        customers: [{ customerId: customer.customerId, customerKey: Redacted.make(customer.customerKey) }]
      }),
      onExchange: (entry) => Effect.sync(() => void seen.push(requestOf(entry)))
    })).pipe(Effect.provideService(IsLenient, true))
    const control = Context.get(server, Control.Control)
    const { url } = Context.get(server, MockServer.MockServer)
    /** The address by which the client knows the mock server, which may be localhost. */
    const origin = () => `http://${seen[0]?.host ?? new URL(url).host}`

    const newService = (customerId: string, customerKey = randomBytes(12).toString("hex")) =>
      Effect.as(
        control.create({ customerId, customerKey: Redacted.make(customerKey) }),
        { authUrl: url, baseUrl: url, customerId, customerKey }
      )

    const check = (
      service: Day.Service,
      drive: Drive,
      step: Day.Step,
      options: { readonly number: number; readonly patience: Duration.Duration; readonly isSubstituted: boolean }
    ): Effect.Effect<Recorded, FirstRun.NotDriven> =>
      Effect.gen(function*() {
        const person = { ...Persons.person(options.number), ...step.person }
        const session = control.session(service.customerId)
        const other = new URL(origin())
        other.hostname = other.hostname === "localhost" ? "127.0.0.1" : "localhost"
        const replies = [
          step.faults,
          options.isSubstituted && step.expect === "clear" ? Replies.altered({}) : undefined
        ]
        yield* session.clearFaults
        if (step.advance !== undefined) yield* session.advance(step.advance)
        yield* session.changeProfile({ preset: "default", ...step.profile })
        if (step.revokeTokens === true) yield* session.revokeTokens()
        yield* Effect.forEach(
          replies.flatMap((faults) => faults?.(person, new Date(), other.origin) ?? []),
          session.fault
        )
        const start = seen.length
        const reaction = yield* drive(person, { patience: options.patience, variables: step.variables ?? {} })
        return { ...reaction, step, person, service, start, end: seen.length }
      }).pipe(Effect.catchTags({
        ControlRefused: Effect.die,
        ControlUnavailable: Effect.die,
        SessionUnknown: Effect.die
      }))

    const firstService = customer === undefined
      ? yield* Effect.orDie(newService("first-run"))
      : { ...customer, authUrl: url, baseUrl: url }
    const firstDrive = door.open(firstService)
    const checkFirst = (step: Day.Step, number: number, isSubstituted: boolean) =>
      check(firstService, firstDrive, step, { number, patience: firstRunPatience, isSubstituted })
    const recorded = yield* Effect.forEach(
      Object.values(FirstRun.steps),
      (step, number) =>
        checkFirst(step, number, false).pipe(
          Effect.tap(({ ended }) =>
            ended || number > 0
              ? Effect.void
              : new FirstRun.NotDriven({ text: FirstRun.endless, explanation: "" })
          ),
          // A client with a token of an earlier run may report the 401, and renew the token for the next check.
          Effect.flatMap((recorded) =>
            number === 0 && recorded.outcome !== "clear" && seen.some(isOfEarlierRun)
              ? checkFirst(step, number, false)
              : Effect.succeed(recorded)
          )
        )
    )
    const first = withRequests(recorded, seen, () => true)
    // Such a client keeps its token between two processes, and may use that of another customer.
    const keepsToken = isProcess &&
      first.some(({ requests }) => requests.length > 0 && requests.every(({ entry }) => entry.operation !== "token"))
    // The mock server refuses the checks of such a client, so the days replace its responses.
    const isSubstituted = first[0]?.outcome !== "clear"
    const driver: Day.Driver = {
      isCommand: isProcess,
      isProcess: isProcess && !keepsToken,
      isShared: keepsToken || customer !== undefined,
      isEndpoint,
      isOperated,
      isSubstituted,
      patience: Duration.format(patience),
      history: []
    }
    const malformed = requests(first, driver)
    const explanation = FirstRun.explanation(first)
    const proposal = FirstRun.proposal(first, isEndpoint)
    const refuse = (text: string | undefined) =>
      text === undefined
        ? Effect.void
        : new FirstRun.NotDriven({ text, explanation, ...(proposal !== undefined && { proposal }) })
    yield* refuse(FirstRun.problem(first, { driver, isFlawed: malformed.length > 0, service: firstService }))
    const isMute = isSubstituted && (yield* checkFirst(FirstRun.steps.clear, 3, true)).outcome !== "clear"
    if (!isMute && first[1]?.outcome === "error") yield* refuse(FirstRun.mute)
    const second = keepsToken
      ? yield* Effect.flatMap(Effect.orDie(newService("second-customer")), (service) =>
        check(service, door.open(service), FirstRun.steps.clear, { number: 4, patience, isSubstituted }))
      : undefined
    const ofSecond = second === undefined ? [] : withRequests([second], seen, () =>
      false)
    const flaws = merged([...malformed, ...exitCodes(first, driver), ...otherCustomer(ofSecond, driver)])
    /** Returns the clock of a session to the real time, because the client has this time. */
    const resetClock = ({ customerId }: Day.Service) => Effect.orDie(control.session(customerId).resetClock)
    return {
      check,
      driver,
      explanation,
      first,
      flaws,
      isMute,
      newService,
      resetClock,
      seen,
      service: firstService
    }
  })

/** Runs the first run and then the days. Fails if the client cannot be tested. */
export const run = (door: Door, { concurrency, days, onDay, patience }: Options) =>
  Effect.gen(function*() {
    const client = yield* make(door, patience)
    const { driver, flaws, isMute, seen } = client
    const { isShared, isSubstituted } = driver
    const slots = yield* Effect.makeSemaphore(concurrency)
    let history = isShared ? client.first : []

    const runDay = (day: Day.Day): Effect.Effect<DayResult, FirstRun.NotDriven> =>
      Effect.gen(function*() {
        const { title, word } = day
        const notTested = day.notTested(driver)
        if (notTested !== undefined) {
          return { word, title, verdict: "not tested", reason: notTested, findings: [], millis: 0 } as const
        }
        const service = isShared
          ? client.service
          : yield* Effect.orDie(client.newService(word, day.customerKey))
        const number = 16 + 16 * Days.all.indexOf(day)
        const checkAs = (drive: Drive) => (step: Day.Step, index: number) =>
          client.check(service, drive, step, { number: number + index, patience, isSubstituted })
        const drive = checkAs(door.open(service))
        /**
         * A client with one token may report the 401, and renew the token for the next check. What it says after the
         * 401 is judged on the day `refused-token`.
         */
        const driveRenewed: typeof drive = (step, index) =>
          Effect.flatMap(drive(step, index), (recorded) =>
            isShared && step.revokeTokens === true && recorded.outcome !== "clear" &&
              areRefused(seen.slice(recorded.start, recorded.end))
              // Another person, so that each request belongs to one of the two checks.
              ? Effect.map(drive({ ...step, revokeTokens: false }, index + 8), (next) => ({ ...next, step }))
              : Effect.succeed(recorded))
        const [duration, recorded] = yield* Effect.timed(
          day.isSimultaneous
            ? Effect.gen(function*() {
              const [first, second, ...others] = day.steps
              if (first === undefined || second === undefined) return []
              const check = yield* drive(first, 0)
              // A backend that renewed its token at once has one again. Other clients begin without one.
              const isRenewed = isShared && check.outcome === "clear"
              const steps = [{ ...second, ...isRenewed && { revokeTokens: true } }, ...others]
              const fresh = isShared ? drive : checkAs(door.open(service))
              return yield* Effect.forEach(steps, (step, index) =>
                fresh(step, index + 1), { concurrency: "unbounded" })
            })
            : Effect.forEach(
              day.steps,
              (step, index) => day.isLong ? driveRenewed(step, index) : slots.withPermits(1)(driveRenewed(step, index))
            )
        )
        yield* client.resetClock(service)
        const checks = withRequests(
          recorded,
          seen,
          ({ entry }) => isShared || entry.customerId === service.customerId
        )
        const findings = merged(
          Judges.of(day, isMute).flatMap((judge) => judge(checks, { ...driver, history }))
        )
        if (isShared) history = [...history, ...checks]
        const verdict = verdictOf(findings)
        const millis = Duration.toMillis(duration)
        const unreached = stepsOf(checks.filter((check) => !isReached(check))).map(({ label }) => label)
        const reason = isMute
          ? muteReason
          : unreached.length === checks.length
          ? unreachedReason
          : undefined
        return verdict === "good" && reason !== undefined
          ? { word, title, verdict: "not tested", reason, findings, millis } as const
          : {
            word,
            title,
            verdict,
            ...unreached.length > 0 && { reason: `not reached: ${unreached.join(", ")}` },
            findings,
            millis
          } as const
      }).pipe(Effect.tap(onDay))

    const results = yield* Effect.forEach(days, runDay, { concurrency: isShared ? 1 : "unbounded" })
    const firstDay: DayResult = {
      word: "first-run",
      title: "The first requests",
      verdict: verdictOf(flaws),
      findings: flaws,
      millis: 0
    }
    return { explanation: client.explanation, days: [firstDay, ...results] } satisfies Report
  })
