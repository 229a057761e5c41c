/** The commands that talk to a running server. */
import { Address } from "@effect-idv/cli/address"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Secrets from "@effect-idv/cli/secrets"
import * as UsageError from "@effect-idv/cli/usageError"
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
import * as EntryLine from "./entryLine.ts"
import * as Settings from "./settings.ts"

/** Decodes a value. `name` returns its flag or argument for the error. */
const decode = <A, I>(schema: Schema.Schema<A, I>, input: unknown, name: (field: string) => string) =>
  Effect.mapError(Violation.decodeUnknown(schema)(input), UsageError.fromViolations(name))

/** A server that does not respond within this time is reported as unreachable. */
const deadline = "30 seconds"

/** The server that the flags select. Sends nothing. */
const connect = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const address = yield* decode(Address, ParsedArguments.value(args, "url") ?? "http://127.0.0.1:4010", () => "--url")
    // The address of the control API, which the server prints, is accepted too.
    const url = address.replace(/\/*(_mock\/*)?$/, "")
    const token = yield* Secrets.controlToken(args)
    return { url, control: yield* Control.make({ url, token }) }
  })

const withDeadline = (url: string) =>
  Effect.timeoutFail({
    duration: deadline,
    onTimeout: () => new Control.ControlUnavailable({ url, reason: "transport" })
  })

/** The server that the flags select, once it has accepted a request. */
export const reachable = (args: ParsedArguments.ParsedArguments) =>
  Effect.tap(connect(args), ({ control, url }) => withDeadline(url)(control.sessions))

/** Uses the control API of the server that the flags select. */
const withControl = <A, E>(
  args: ParsedArguments.ParsedArguments,
  use: (control: Control.Service) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const { control, url } = yield* connect(args)
    return yield* withDeadline(url)(use(control))
  }).pipe(Effect.provide(NodeHttpClient.layerUndici))

/** Uses the session of the customer that the flags select. */
const withSession = <A, E>(
  args: ParsedArguments.ParsedArguments,
  use: (session: Control.SessionControl) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const text = ParsedArguments.value(args, "customer") ?? Session.demoCustomer.customerId
    const { customerId } = yield* decode(NewSession.pick("customerId"), { customerId: text }, () => "--customer")
    return yield* withControl(args, ({ session }) => use(session(customerId)))
  })

const printEach = <A>(line: (item: A) => string) => (items: ReadonlyArray<A>) =>
  Effect.forEach(items, (item) => Console.log(line(item)), { discard: true })

const Search = Schema.Struct({
  ...Verification.Pattern.omit("customerId", "status", "name", "dateOfBirth", "headers").fields,
  status: Schema.optionalWith(Fields.wholeNumber(100, 599), { exact: true })
})

export const journal = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    if (ParsedArguments.isOn(args, "clear")) return yield* withSession(args, ({ clearJournal }) => clearJournal)
    const search = yield* decode(Search, {
      ...ParsedArguments.field(args, "operation"),
      ...ParsedArguments.field(args, "status", numberOrText),
      ...ParsedArguments.field(args, "rule"),
      ...ParsedArguments.field(args, "fault"),
      ...(ParsedArguments.isOn(args, "unexpected") && { unexpected: true })
    }, (field) => `--${field}`)
    const { dropped, entries } = yield* ParsedArguments.isOn(args, "unmatched")
      ? withControl(args, ({ unmatchedRequests }) => unmatchedRequests(search))
      : withSession(args, ({ journal }) => journal(search))
    if (dropped > 0) yield* Console.error(`${dropped} older entries are no longer kept`)
    if (entries.length === 0) yield* Console.error("No exchange matches: send a request, or use other flags")
    yield* printEach(ParsedArguments.isOn(args, "json") ? JSON.stringify : EntryLine.pretty(false))(entries)
  })

const encodeFault = Schema.encodeSync(Fault.Fault)

const faultLine = ({ fault, fired, id, seen }: ArmedFault) =>
  `${id}: fired at ${fired} of ${seen} requests: ${JSON.stringify(encodeFault(fault))}`

const printFault = (fault: ArmedFault) => Console.log(faultLine(fault))

export const faultList = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const faults = yield* withSession(args, ({ faults }) => faults)
    if (faults.length === 0) yield* Console.error("The session has no faults: idv-mock fault set adds one")
    yield* printEach(faultLine)(faults)
  })

export const faultSet = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const faults = yield* Settings.faults(args.words, "<fault>")
    yield* withSession(
      args,
      (session) => Effect.forEach(faults, (fault) => Effect.flatMap(session.fault(encodeFault(fault)), printFault))
    )
  })

export const faultRemove = (args: ParsedArguments.ParsedArguments) =>
  withSession(args, ({ removeFault }) => removeFault(args.argument))

export const faultClear = (args: ParsedArguments.ParsedArguments) => withSession(args, ({ clearFaults }) => clearFaults)

const printClock = ({ frozen, now }: ClockReading) =>
  Console.log(`${DateTime.formatIso(now)}${frozen ? ", frozen" : ""}`)

const clock =
  <E>(use: (session: Control.SessionControl) => Control.Call<ClockReading, E>) =>
  (args: ParsedArguments.ParsedArguments) => Effect.flatMap(withSession(args, use), printClock)

export const clockShow = clock(({ clock }) => clock)

export const clockFreeze = clock(({ freeze }) => freeze)

export const clockResume = clock(({ resume }) => resume)

export const clockAdvance = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const duration = yield* decode(DurationText, numberOrText(args.argument), () => "<duration>")
    yield* clock(({ advance }) => advance(duration))(args)
  })

export const clockSet = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const time = yield* decode(Instant, args.argument, () => "<time>")
    yield* clock(({ setTime }) => setTime(time))(args)
  })

const sessionLine = ({ clock, customerId, exchanges, faults, seed }: SessionInfo) =>
  `${customerId}: ${DateTime.formatIso(clock.now)}${clock.frozen ? " (frozen)" : ""}, seed ${seed}, ` +
  `faults: ${faults}, exchanges: ${exchanges}`

export const sessions = (args: ParsedArguments.ParsedArguments) =>
  Effect.flatMap(withControl(args, ({ sessions }) => sessions), printEach(sessionLine))

export const reset = (args: ParsedArguments.ParsedArguments) =>
  Effect.flatMap(withSession(args, ({ reset }) => reset), (session) => Console.log(sessionLine(session)))
