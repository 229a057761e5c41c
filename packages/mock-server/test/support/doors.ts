/** The doors of a mock server: each calls an operation by its name, with its JSON form. */
import type { Control } from "@effect-idv/mock-server"
import { ControlApi, type MockServer } from "@effect-idv/mock-server"
import { FetchHttpClient } from "@effect/platform"
import { ConfigProvider, Effect, Either, Option, Redacted, Schema } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../../src/internal/command/main.ts"
import * as Tools from "../../src/internal/mcp/tools.ts"
import { groups } from "../../src/internal/operations/all.ts"
import * as Remote from "../../src/internal/operations/remote.ts"
import * as SessionOptions from "../../src/internal/operations/sessionOptions.ts"
import { captured } from "./captured.ts"

/** The name of an operation, such as `clock.change`. */
export const names: ReadonlyArray<string> = Object.entries(groups).flatMap(([group, operations]) =>
  Object.keys(operations).map((name) => `${group}.${name}`)
)

export type Outcome =
  | { readonly _tag: "Done"; readonly text: string }
  /** The sentence of a refusal. */
  | { readonly _tag: "Refused"; readonly sentence: string }

export const done = (text: string): Outcome => ({ _tag: "Done", text })
export const refused = (sentence: string): Outcome => ({ _tag: "Refused", sentence })

export interface Call {
  readonly operation: string
  readonly customerId: string
  readonly input?: unknown
}

export interface Door {
  readonly name: string
  /** The operations that this door does not have. */
  readonly absent: ReadonlyArray<string>
  readonly call: (call: Call) => Effect.Effect<Outcome>
}

type Json = Readonly<Record<string, unknown>>
const fieldsOf = (input: unknown): Json => Object(input)

const textsOf = (fields: Json): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

/** The input as a program without types passes it. */
const untyped = (input: unknown) => input === undefined ? undefined : JSON.parse(JSON.stringify(input))

const outcomeOf = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Outcome> =>
  Effect.match(effect, {
    onFailure: (error) => refused(error instanceof Error ? error.message : String(error)),
    onSuccess: (value) => done(JSON.stringify(value) ?? "")
  })

/** A service of `Control`. */
export const ofControl = (name: string, control: Control.Service): Door => ({
  name,
  absent: ["tokens.list", "server.live", "server.ready"],
  call: ({ customerId, input: json, operation }) => {
    const session = control.session(customerId)
    const input = untyped(json)
    const calls: Readonly<Record<string, () => Effect.Effect<unknown, unknown>>> = {
      "sessions.list": () => control.sessions,
      "sessions.create": () =>
        control.create({ ...input, ...(input?.customerKey && { customerKey: Redacted.make(input.customerKey) }) }),
      "sessions.get": () => session.info,
      "sessions.change": () => session.change(input),
      "sessions.reset": () => session.reset,
      "sessions.remove": () => session.remove,
      "clock.read": () => session.clock,
      "clock.change": () =>
        input.advance !== undefined
          ? session.advance(input.advance)
          : input.set !== undefined
          ? session.setTime(input.set)
          : input.real === true
          ? session.resetClock
          : input.frozen
          ? session.freeze
          : session.resume,
      "faults.list": () => session.faults,
      "faults.set": () => session.fault(input),
      "faults.remove": () => session.removeFault(input.faultId),
      "faults.clear": () => session.clearFaults,
      "testPersons.list": () => session.testPersons,
      "testPersons.set": () => session.setTestPersons(input),
      "profile.get": () => session.profile,
      "profile.change": () => session.changeProfile(input),
      "tokens.revoke": () => session.revokeTokens(input?.token && Redacted.make(input.token)),
      "journal.search": () => session.journal(input),
      "journal.clear": () => session.clearJournal,
      "journal.verify": () => session.verify(input),
      "journal.unmatched": () => control.unmatchedRequests(input),
      "journal.verifyUnmatched": () => control.verifyUnmatched(input),
      "server.metrics": () => control.metrics
    }
    return outcomeOf(calls[operation]?.() ?? Effect.die(operation))
  }
})

const decodeError = Schema.decodeUnknownEither(
  Schema.parseJson(Schema.Union(ControlApi.ControlRefused, ControlApi.SessionUnknown, ControlApi.FaultUnknown))
)

const sentenceOf = (text: string): string =>
  Either.match(decodeError(text), { onLeft: () => text, onRight: ({ message }) => message })

const post = (url: string, init: RequestInit) =>
  Effect.promise(() => fetch(url, init).then((response) => response.text().then((text) => ({ response, text }))))

/** The control API. */
export const http = ({ url }: MockServer.Service): Door => ({
  name: "the control API",
  absent: [],
  call: ({ customerId, input, operation: name }) => {
    const [group = "", member = ""] = name.split(".")
    const { method, path } = untyped(Object(Object(groups)[group])[member])
    const fields = fieldsOf(input)
    const address = `${url}/_mock${path}`.replace(":customerId", encodeURIComponent(customerId))
      .replace(":faultId", encodeURIComponent(String(fields["faultId"])))
    const query = method === "GET" && input !== undefined
      ? `?${new URLSearchParams(textsOf(fields))}`
      : ""
    const isSent = input !== undefined && method !== "GET" && method !== "DELETE"
    return Effect.map(
      post(address + query, {
        method,
        ...(isSent && { headers: { "content-type": "application/json" }, body: JSON.stringify(input) })
      }),
      ({ response: { status }, text }) => status < 300 ? done(text) : refused(sentenceOf(text))
    )
  }
})

/** The command of an operation, and its words. */
const wordsOf = ({ input, operation }: Call): ReadonlyArray<string> => {
  const fields = fieldsOf(input)
  const flags = (values: Json) =>
    Object.entries(values).flatMap(([name, value]) => value === true ? [`--${name}`] : [`--${name}`, String(value)])
  const profile = (patch: unknown) =>
    Object.entries(fieldsOf(patch)).flatMap((
      [point, variant]
    ) => ["--profile", point === "preset" ? String(variant) : `${point}=${variant}`])
  switch (operation) {
    case "clock.change": {
      const { advance, frozen, real, set } = fields
      return advance !== undefined
        ? ["clock", "advance"]
        : set !== undefined
        ? ["clock", "set"]
        : ["clock", real === true ? "reset" : frozen === true ? "freeze" : "resume"]
    }
    case "clock.read":
      return ["clock", "show"]
    case "sessions.change": {
      const single = SessionOptions.all.flatMap(({ flag, name }) =>
        Option.isSome(flag) && !flag.value.isRepeated && fields[name] !== undefined
          ? [`--${flag.value.name}`, String(fields[name])]
          : []
      )
      return [
        "session",
        "set",
        ...single,
        ...profile(fields["profile"]),
        ...Array.from(Object.values(fieldsOf(fields["faults"] ?? [])), (fault) => ["--fault", textOf(fault)]).flat()
      ]
    }
    case "profile.change":
      return ["session", "set", ...profile(input)]
    case "faults.set":
      return ["fault", "set"]
    case "faults.remove":
      return ["fault", "remove"]
    case "journal.search":
      return ["journal", ...flags(fields)]
    case "journal.unmatched":
      return ["journal", "--unmatched", ...flags(fields)]
    case "journal.clear":
      return ["journal", "--clear"]
    default:
      return ({
        "sessions.list": ["sessions"],
        "sessions.get": ["session", "show"],
        "sessions.reset": ["reset"],
        "faults.list": ["fault", "list"],
        "faults.clear": ["fault", "clear"]
      } as Readonly<Record<string, ReadonlyArray<string>>>)[operation] ?? []
  }
}

/** The argument of a command, which may begin like a flag. */
const argumentOf = ({ input, operation }: Call): ReadonlyArray<string> => {
  const { advance, faultId, set } = fieldsOf(input)
  const argument = operation === "faults.set" ? textOf(input) : advance ?? set ?? faultId
  return argument === undefined ? [] : ["--", String(argument)]
}

const textOf = (input: unknown): string => typeof input === "string" ? input : JSON.stringify(input)

/** Runs a command in this process. */
export const runCommand = (words: ReadonlyArray<string>, variables: ReadonlyArray<readonly [string, string]> = []) =>
  captured(Effect.either(main(words, { stdout: new PassThrough(), version: "1.2.3" }))).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables)))
  )

/** The command line. */
export const command = ({ url }: MockServer.Service): Door => ({
  name: "the command line",
  absent: [
    "sessions.create",
    "sessions.remove",
    "testPersons.list",
    "testPersons.set",
    "profile.get",
    "tokens.list",
    "tokens.revoke",
    "journal.verify",
    "journal.verifyUnmatched",
    "server.live",
    "server.ready",
    "server.metrics"
  ],
  call: (call) =>
    Effect.map(
      runCommand([
        ...wordsOf(call),
        ...(call.operation === "sessions.list" ? [] : ["--customer", call.customerId]),
        "--url",
        url,
        ...argumentOf(call)
      ]),
      ({ stdout, value }) =>
        Either.match(value, {
          onLeft: (error) => refused(error instanceof Error ? error.message : String(error)),
          onRight: () => done(stdout.join("\n"))
        })
    )
})

/** The tools for agents. */
export const mcp = (server: MockServer.Service): Door => ({
  name: "the tools for agents",
  absent: [
    "clock.read",
    "testPersons.set",
    "profile.get",
    "profile.change",
    "tokens.list",
    "server.live",
    "server.ready",
    "server.metrics",
    "journal.clear",
    "journal.verifyUnmatched"
  ],
  call: ({ customerId, input, operation }) =>
    Effect.gen(function*() {
      const call = yield* Remote.make({ url: server.url })
      const tool = operation.replace(".", "_").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const wrapped: Json = {
        "faults.set": "fault",
        "journal.verify": "expectation",
        "journal.verifyUnmatched": "expectation"
      }
      const wrapper = wrapped[operation]
      const args = wrapper === undefined ? fieldsOf(input) : { [String(wrapper)]: input }
      const isOfServer = ["sessions.list", "sessions.create", "journal.unmatched"]
        .includes(operation)
      const result = yield* Tools.call({ url: server.url, call }, tool, isOfServer ? args : { ...args, customerId })
      return Either.match(result, {
        onLeft: (text) => text.startsWith(`${tool}: `) ? refused(text.slice(tool.length + 2)) : refused(text),
        onRight: (value) => done(JSON.stringify(value))
      })
    }).pipe(Effect.provide(FetchHttpClient.layer))
})

const unescaped = (html: string): string =>
  html.replaceAll("&quot;", "\"").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")

/** The page, without its script. */
export const page = ({ url }: MockServer.Service): Door => ({
  name: "the page",
  absent: [
    "sessions.list",
    "sessions.create",
    "sessions.remove",
    "faults.clear",
    "testPersons.list",
    "testPersons.set",
    "tokens.list",
    "tokens.revoke",
    "journal.search",
    "journal.unmatched",
    "journal.verify",
    "journal.verifyUnmatched",
    "server.live",
    "server.ready",
    "server.metrics"
  ],
  call: ({ customerId, input, operation }) => {
    const address = `${url}/_mock/ui/${encodeURIComponent(customerId)}`
    const fields = fieldsOf(input)
    const forms: Readonly<Record<string, readonly [string, Json]>> = {
      "clock.change": ["clock", fields],
      "sessions.change": ["options", fields],
      "sessions.reset": ["reset", {}],
      "profile.change": ["profile", fields],
      "faults.set": ["faults/text", { text: textOf(input) }],
      "faults.remove": ["faults/remove", { id: fields["faultId"] }],
      "journal.clear": ["exchanges/clear", {}]
    }
    const [path, values] = forms[operation] ?? ["", {}]
    return Effect.map(
      path === "" ? post(address, {}) : post(`${address}/${path}`, {
        method: "POST",
        headers: { "hx-request": "true" },
        body: new URLSearchParams(textsOf(values))
      }),
      ({ text }) => {
        const html = unescaped(text)
        const [, sentence] = /Not applied: ([^<]*)/.exec(html) ?? []
        return sentence === undefined ? done(html) : refused(sentence)
      }
    )
  }
})
