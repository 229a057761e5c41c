/** The commands that talk to a running server. Most of them are those of the operations. */
import { Address } from "@effect-idv/cli/flagValues"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as UsageError from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Control from "../../Control.ts"
import { ControlRefused, NewSession } from "../../ControlApi.ts"
import * as Session from "../../Session.ts"
import { groups, operations } from "../operations/all.ts"
import type * as Operation from "../operations/operation.ts"
import * as Remote from "../operations/remote.ts"
import * as SessionOptions from "../operations/sessionOptions.ts"
import { line } from "../operations/sessions.ts"
import * as EntryLine from "./entryLine.ts"
import * as OptionFlags from "./optionFlags.ts"

/** Decodes a value. `name` returns its flag for the error. */
const decode = <A, I>(schema: Schema.Schema<A, I>, input: unknown, name: (field: string) => string) =>
  Effect.mapError(Violation.decodeUnknown(schema)(input), UsageError.fromViolations(name))

/** A server that does not respond within this time is reported as unreachable. */
const deadline = "30 seconds"

export interface Server {
  readonly url: string
  readonly call: Operation.Call<Control.ControlUnavailable>
}

/** The server that the flags select. Sends nothing. */
const connect = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const address = yield* decode(Address, ParsedArguments.value(args, "url") ?? "http://127.0.0.1:4010", () => "--url")
    // The address of the control API, which the server prints, is accepted too.
    const url = address.replace(/\/*(_mock\/*)?$/, "")
    const token = yield* ParsedArguments.controlToken(args)
    const call = yield* Remote.make({ url, token })
    const server: Server = {
      url,
      call: (operation, path, input, form) =>
        Effect.timeoutFail(call(operation, path, input, form), {
          duration: deadline,
          onTimeout: () => new Control.ControlUnavailable({ url, reason: "transport" })
        })
    }
    return server
  })

/** The server that the flags select, once it has accepted a request. */
export const reachable = (args: ParsedArguments.ParsedArguments) =>
  Effect.tap(connect(args), ({ call }) => call(groups.sessions.list, {}))

/** Uses the operations of the server and the customer that the flags select. */
const withServer = <A, E>(
  args: ParsedArguments.ParsedArguments,
  use: (call: Server["call"], path: Operation.Path) => Effect.Effect<A, E>
) =>
  Effect.gen(function*() {
    const text = ParsedArguments.value(args, "customer") ?? Session.demoCustomer.customerId
    const { customerId } = yield* decode(NewSession.pick("customerId"), { customerId: text }, () => "--customer")
    const { call } = yield* connect(args)
    return yield* use(call, { customerId })
  }).pipe(
    // A refused argument is wrong usage, as a refused flag is. The sentence is that of every other door.
    Effect.mapError((error) =>
      error instanceof ControlRefused ? new UsageError.UsageError({ text: error.message }) : error
    ),
    Effect.provide(NodeHttpClient.layerUndici)
  )

const print = (lines: ReadonlyArray<string>) => Effect.forEach(lines, (line) => Console.log(line), { discard: true })

/** Puts the index of a repeated argument before the paths of its violations. */
const atIndex = (index: number) => (error: Error): Error =>
  error instanceof ControlRefused
    ? new ControlRefused({
      violations: error.violations.map((violation) =>
        new Violation.Violation({ ...violation, path: `${index}.${violation.path}`.replace(/\.$/, "") })
      )
    })
    : error

const runOf = (command: Operation.Command) => (args: ParsedArguments.ParsedArguments) =>
  withServer(args, (call, path) =>
    Effect.gen(function*() {
      const { input = () => undefined, isRepeated = false, none, parameter } = command
      const ownPath = parameter === undefined ? path : { ...path, [parameter]: args.argument }
      const inputs = isRepeated ? args.words.map(input) : [input(args.argument)]
      yield* Effect.forEach(inputs, (input, index) =>
        Effect.mapError(
          command.check(ownPath, input),
          inputs.length > 1 ? atIndex(index) : (error) => error
        ))
      for (const input of inputs) {
        const lines = yield* command.lines(call, ownPath, input)
        if (lines.length === 0 && none !== undefined) yield* Console.error(none)
        yield* print(lines)
      }
    }))

const filters = ["operation", "status", "rule", "fault"]

const journal = (args: ParsedArguments.ParsedArguments) =>
  withServer(args, (call, path) =>
    Effect.gen(function*() {
      if (ParsedArguments.isOn(args, "clear")) return yield* call(groups.journal.clear, path)
      const search = {
        ...Object.assign({}, ...filters.map((name) => ParsedArguments.field(args, name))),
        ...(ParsedArguments.isOn(args, "unexpected") && { unexpected: true })
      }
      const { dropped, entries } = yield* ParsedArguments.isOn(args, "unmatched")
        ? call(groups.journal.unmatched, {}, search)
        : call(groups.journal.search, path, search)
      if (dropped > 0) yield* Console.error(`${dropped} older entries are no longer kept`)
      if (entries.length === 0) yield* Console.error("No exchange matches: send a request, or use other flags")
      yield* print(entries.map((entry) =>
        ParsedArguments.isOn(args, "json") ? JSON.stringify(entry) : EntryLine.pretty(false)(entry)
      ))
    }))

const setOptions = (args: ParsedArguments.ParsedArguments) =>
  withServer(args, (call, path) =>
    Effect.gen(function*() {
      const change = yield* OptionFlags.parse(SessionOptions.changeable, args)
      yield* print([line(yield* call(groups.sessions.change, path, change))])
    }))

const commands = new Map<string, (args: ParsedArguments.ParsedArguments) => Effect.Effect<void, Error>>([
  ...operations.flatMap(({ commands }) =>
    commands.map((command) => [command.usage.replace(/ <.*/, ""), runOf(command)] as const)
  ),
  ["journal", journal],
  ["session set", setOptions]
])

export const run = (command: string, args: ParsedArguments.ParsedArguments): Effect.Effect<void, Error> =>
  commands.get(command)?.(args) ?? Effect.dieMessage(`The command ${command} has no implementation`)
