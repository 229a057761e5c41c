/** The commands that talk to a running server. */
import * as Violation from "@effect-idv/core/Violation"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Control from "../../Control.ts"
import { type ArmedFault, type ClockReading, NewSession, type SessionInfo } from "../../ControlApi.ts"
import * as Fault from "../../Fault.ts"
import * as Session from "../../Session.ts"
import * as Verification from "../../Verification.ts"
import { DurationText } from "../schema/durationText.ts"
import * as Fields from "../schema/fields.ts"
import { Instant } from "../schema/instantText.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import { Address } from "./address.ts"
import * as EntryLine from "./entryLine.ts"
import * as Given from "./parsedArguments.ts"
import * as Secrets from "./secrets.ts"
import * as Settings from "./settings.ts"
import * as Refusal from "./usageError.ts"

/** A value of the command line. The refusal has the name that it has there. */
const decode = <A, I>(schema: Schema.Schema<A, I>, input: unknown, name: (field: string) => string) =>
  Effect.mapError(Violation.decodeUnknown(schema)(input), Refusal.of(name))

/** If the other side takes a request and never answers it, it is no mock server. */
const deadline = "30 seconds"

/** Something done with the control plane of the server that the flags mean. */
const using = <A, E>(given: Given.Given, use: (control: Control.Service) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const address = yield* decode(Address, Given.value(given, "url") ?? "http://127.0.0.1:4010", () => "--url")
    // A server announces the address of its control plane, which is as good.
    const url = address.replace(/\/*(_mock\/*)?$/, "")
    const token = yield* Secrets.controlToken(given)
    return yield* Effect.flatMap(Control.make({ url, token }), use).pipe(
      Effect.timeoutFail({
        duration: deadline,
        onTimeout: () => new Control.ControlUnavailable({ url, reason: "transport" })
      })
    )
  }).pipe(Effect.provide(NodeHttpClient.layerUndici))

/** The same with the session of the customer that they mean. */
const usingSession = <A, E>(given: Given.Given, use: (session: Control.SessionControl) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const text = Given.value(given, "customer") ?? Session.demoCustomer.customerId
    const { customerId } = yield* decode(NewSession.pick("customerId"), { customerId: text }, () => "--customer")
    return yield* using(given, ({ session }) => use(session(customerId)))
  })

const printEach = <A>(line: (item: A) => string) => (items: ReadonlyArray<A>) =>
  Effect.forEach(items, (item) => Console.log(line(item)), { discard: true })

const Search = Schema.Struct({
  ...Verification.Pattern.omit("customerId", "status").fields,
  status: Schema.optionalWith(Fields.whole(100, 599), { exact: true })
})

export const journal = (given: Given.Given) =>
  Effect.gen(function*() {
    if (Given.isOn(given, "clear")) return yield* usingSession(given, ({ clearJournal }) => clearJournal)
    const search = yield* decode(Search, {
      ...Given.field(given, "operation"),
      ...Given.field(given, "status", numberOrText),
      ...Given.field(given, "rule"),
      ...Given.field(given, "fault"),
      ...(Given.isOn(given, "unexpected") && { unexpected: true })
    }, (field) => `--${field}`)
    const { dropped, entries } = yield* Given.isOn(given, "strangers")
      ? using(given, ({ strangers }) => strangers(search))
      : usingSession(given, ({ journal }) => journal(search))
    if (dropped > 0) yield* Console.error(`${dropped} older entries are not kept any more`)
    yield* printEach(Given.isOn(given, "json") ? JSON.stringify : EntryLine.pretty(false))(entries)
  })

const encodeFault = Schema.encodeSync(Fault.Fault)

const faultLine = ({ fault, fired, id, seen }: ArmedFault) =>
  `${id}: fired at ${fired} of ${seen} requests: ${JSON.stringify(encodeFault(fault))}`

const printFault = (fault: ArmedFault) => Console.log(faultLine(fault))

export const faultList = (given: Given.Given) =>
  Effect.flatMap(usingSession(given, ({ faults }) => faults), printEach(faultLine))

export const faultSet = (given: Given.Given) =>
  Effect.gen(function*() {
    const faults = yield* Settings.faults(given.words, "<fault>")
    yield* usingSession(
      given,
      (session) => Effect.forEach(faults, (fault) => Effect.flatMap(session.fault(encodeFault(fault)), printFault))
    )
  })

export const faultRemove = (given: Given.Given) => usingSession(given, ({ removeFault }) => removeFault(given.argument))

export const faultClear = (given: Given.Given) => usingSession(given, ({ clearFaults }) => clearFaults)

const printClock = ({ frozen, now }: ClockReading) =>
  Console.log(`${DateTime.formatIso(now)}${frozen ? ", frozen" : ""}`)

const clock = <E>(use: (session: Control.SessionControl) => Control.Call<ClockReading, E>) => (given: Given.Given) =>
  Effect.flatMap(usingSession(given, use), printClock)

export const clockShow = clock(({ clock }) => clock)

export const clockFreeze = clock(({ freeze }) => freeze)

export const clockResume = clock(({ resume }) => resume)

export const clockAdvance = (given: Given.Given) =>
  Effect.gen(function*() {
    const duration = yield* decode(DurationText, numberOrText(given.argument), () => "<duration>")
    yield* clock(({ advance }) => advance(duration))(given)
  })

export const clockSet = (given: Given.Given) =>
  Effect.gen(function*() {
    const time = yield* decode(Instant, given.argument, () => "<time>")
    yield* clock(({ setTime }) => setTime(time))(given)
  })

const sessionLine = ({ clock, customerId, exchanges, faults, seed }: SessionInfo) =>
  `${customerId}: ${DateTime.formatIso(clock.now)}${clock.frozen ? " (frozen)" : ""}, seed ${seed}, ` +
  `faults: ${faults}, exchanges: ${exchanges}`

export const sessions = (given: Given.Given) =>
  Effect.flatMap(using(given, ({ sessions }) => sessions), printEach(sessionLine))

export const reset = (given: Given.Given) =>
  Effect.flatMap(usingSession(given, ({ reset }) => reset), (session) => Console.log(sessionLine(session)))
