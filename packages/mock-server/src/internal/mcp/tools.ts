/** The tools of `idv-mock mcp`: those of the operations, an explanation of the last check, and a help. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type * as Control from "../../Control.ts"
import * as Fault from "../../Fault.ts"
import type * as Journal from "../../Journal.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import { groups } from "../operations/all.ts"
import { type ControlRefused, refusal } from "../operations/controlErrors.ts"
import type * as Operation from "../operations/operation.ts"
import { CustomerId } from "../operations/sessions.ts"
import { withDefault } from "../schema/fields.ts"

/** The server that the tools use. */
export interface Target {
  /** Its address, which an app under test needs. */
  readonly url: string
  readonly call: Operation.Call<Control.ControlUnavailable>
}

/** A JSON Schema of an object. */
interface ObjectSchema {
  readonly type: "object"
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: ReadonlyArray<string>
}

interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  readonly annotations: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean }
  /** Returns the result as an object. A failure has one sentence, which names the field and never repeats its value. */
  readonly call: (target: Target, input: Readonly<Record<string, unknown>>) => Effect.Effect<object, Error>
}

/** Fails if the arguments have a field that is not among the names. */
const checkNames = (input: object, names: ReadonlyArray<string>): Effect.Effect<void, ControlRefused> => {
  const unknown = Object.keys(input).find((name) => !names.includes(name))
  return unknown === undefined
    ? Effect.void
    : Effect.fail(refusal(unknown, "unexpected", `one of ${names.join(", ")}`))
}

const described = (
  { at, faults, id, request, response, rule, unexpected, why }: Journal.Entry
): string =>
  `exchange ${id} at ${at}: ${request.method} ${request.target} received ` +
  `${response.delivery === "whole" ? `status ${response.status}` : `a broken response (status ${response.status})`}, ` +
  `by the rule ${rule}. ${why}.` +
  (faults.length === 0 ? "" : ` Faults that fired: ${faults.map(({ id, kind }) => `${id} (${kind})`).join(", ")}.`) +
  (unexpected ? " The service document does not allow this request: the client must change it." : "")

/** Explains the last check of a customer, with the last token request if it may be the cause. */
const explanationOf = (call: Operation.Call<Control.ControlUnavailable>, customerId: string) =>
  Effect.gen(function*() {
    const { entries, none } = yield* call(groups.journal.search, { customerId }, {}).pipe(
      Effect.map(({ entries }) => ({ entries, none: `${customerId} has sent no check.` })),
      Effect.catchTag("SessionUnknown", ({ message }) => Effect.succeed({ entries: [], none: `${message}.` }))
    )
    const { entries: unmatched } = yield* call(groups.journal.unmatched, {}, {})
    const lastOf = (operation: Journal.Operation) => entries.findLast((entry) => entry.operation === operation)
    const check = lastOf("aml")
    const token = lastOf("token")
    const lastUnmatched = unmatched.at(-1)
    return [
      check === undefined ? none : `The last check is ${described(check)}`,
      ...(token === undefined || check !== undefined && token.id < check.id && check.response.status !== 401
        ? []
        : [`The last token request is ${described(token)}`]),
      ...(lastUnmatched === undefined
        ? []
        : [`Requests that belong to no session: ${unmatched.length}. The last one is ${described(lastUnmatched)}`])
    ].join("\n")
  })

type Json = Readonly<Record<string, unknown>>

const members = (value: unknown): Json => Predicate.isRecord(value) ? value : {}

/** The fields of a schema, and those that are required. None if it is not that of an object. */
const fieldsOf = (schema: Schema.Schema.AnyNoContext) => {
  const { $defs, $ref, ...inline } = members(JSONSchema.make(schema))
  const { properties, required } = typeof $ref === "string"
    ? members(members($defs)[$ref.replace("#/$defs/", "")])
    : inline
  return { fields: members(properties), required: Array.isArray(required) ? required.map(String) : [] }
}

/** Only the type of a field: its whole schema would cost an agent more than the error that explains it. */
const shortField = (field: unknown): Json => {
  const { enum: values, type } = members(field)
  return { ...(typeof type === "string" && { type }), ...(Array.isArray(values) && { enum: values }) }
}

/** The names of the fields of a result. A list is the field `items`. */
const resultSchema = (schema: Schema.Schema.AnyNoContext): ObjectSchema => {
  const fields = Record.map(fieldsOf(schema).fields, () => ({}))
  return HttpApiSchema.isVoid(schema.ast) ? { type: "object" } : {
    type: "object",
    properties: Record.isEmptyRecord(fields) ? { items: { type: "array" } } : fields
  }
}

const decodeCustomer = Violation.decodeUnknown(Schema.Struct({
  customerId: withDefault(CustomerId, Session.demoCustomer.customerId)
}))

/** The customer of the arguments. */
const customerOf = ({ customerId }: Json) =>
  Either.mapBoth(decodeCustomer(customerId === undefined ? {} : { customerId }), {
    onLeft: ([{ expected, path, problem }]) => refusal(path, problem, expected),
    onRight: ({ customerId }) => customerId
  })

const snake = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const annotationsOf = {
  reads: { readOnlyHint: true },
  changes: { destructiveHint: false },
  destroys: { destructiveHint: true }
}

/** The tool of an operation. An input that is not an object has an argument of its own. */
const ofOperation = (group: string, operation: Operation.AnyOperation): Tool => {
  const { description, impact, input, inputName, json, name, path, success } = operation
  const parameters = Array.from(path.matchAll(/:(\w+)/g), ([, parameter = ""]) => parameter)
  const own = Option.match(input, { onNone: () => ({ fields: {}, required: [] }), onSome: fieldsOf })
  const isWrapped = Option.isSome(input) && Record.isEmptyRecord(own.fields)
  const properties = {
    ...Object.fromEntries(parameters.map((parameter) => [parameter, { type: "string" }])),
    ...(isWrapped ? { [inputName]: {} } : Record.map(own.fields, shortField))
  }
  const required = [
    ...parameters.filter((parameter) => parameter !== "customerId"),
    ...own.required,
    ...(isWrapped ? [inputName] : [])
  ]
  return {
    name: snake(`${group}_${name}`),
    description,
    inputSchema: { type: "object", properties, ...(required.length > 0 && { required }) },
    outputSchema: impact === "reads" ? resultSchema(success) : { type: "object" },
    annotations: annotationsOf[impact],
    call: ({ call }, args) =>
      Effect.gen(function*() {
        yield* checkNames(args, isWrapped || Option.isNone(input) ? Object.keys(properties) : Object.keys(args))
        const customerId = parameters.includes("customerId") ? yield* customerOf(args) : ""
        const ids = Object.fromEntries(parameters.map((parameter) => [parameter, String(args[parameter] ?? "")]))
        const fields = Record.filter(args, (_, name) => !parameters.includes(name))
        const value = yield* json(
          call,
          { ...ids, customerId },
          Option.isNone(input) ? undefined : isWrapped ? args[inputName] : fields
        )
        return Predicate.isRecord(value) ? value : value === undefined ? {} : { items: value }
      })
  }
}

const { clock, faults, journal, sessions, testPersons, tokens } = groups

const { search, unmatched, verify } = journal

/** Profile and test persons are options, which `sessions_change` changes. `sessions_get` shows clock and profile. */
const offered = {
  sessions,
  clock: { change: clock.change },
  faults,
  testPersons: { list: testPersons.list },
  tokens: { revoke: tokens.revoke },
  journal: { search, unmatched, verify }
}

const explainLastCheck: Tool = {
  name: "explain_last_check",
  description: "Explains why the last check of a customer received its response",
  inputSchema: { type: "object", properties: { customerId: { type: "string" } } },
  outputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: annotationsOf.reads,
  call: ({ call }, args) =>
    Effect.gen(function*() {
      yield* checkNames(args, ["customerId"])
      return { text: yield* explanationOf(call, yield* customerOf(args)) }
    })
}

const topics: Readonly<Record<string, () => string>> = {
  faults: () =>
    [
      "A fault is on:what[=value][:when[=value]], such as aml:status=503:nth=2. on is token, aml or both. when is " +
      "always, nth=n, first=n, every=n, probability=p or window=duration. what is one of",
      ...Fault.kinds.map(({ description, kind }) => `${kind}: ${description}`)
    ].join("\n"),
  profile: () =>
    [
      `A profile has a preset (${
        Object.keys(Profile.presets).join(", ")
      }) and options. Of each, the first is the default`,
      ...Profile.points.map(({ name, variants }) => `${name}: ${variants.map(({ value }) => value).join(", ")}`)
    ].join("\n"),
  testPersons: () =>
    [
      "Test persons are a list such as [{\"match\":{\"nameLast\":\"Sample\"},\"response\":\"Potential match\"}]. These " +
      "last words of a name are reserved",
      ...TestPerson.reserved.map(({ description, lastWord }) => `${lastWord} ${description}`)
    ].join("\n"),
  expectation: () =>
    "An expectation is {\"kind\":\"exactly\",\"n\":1,\"pattern\":{\"operation\":\"aml\",\"status\":200}}. kind is exactly, " +
    "atLeast, never, inOrder (with patterns) or nothingUnexpected. A pattern has any of operation, status, rule, fault, " +
    "unexpected, name, dateOfBirth, headers"
}

const topicNames = Object.keys(topics)

const help: Tool = {
  name: "help",
  description: "Shows the address of the mock server, and explains how to write a topic",
  inputSchema: { type: "object", properties: { topic: { enum: topicNames } } },
  outputSchema: { type: "object", properties: { url: { type: "string" }, text: { type: "string" } } },
  annotations: annotationsOf.reads,
  call: ({ url }, args) =>
    Effect.gen(function*() {
      yield* checkNames(args, ["topic"])
      const { topic = "faults" } = args
      const text = typeof topic === "string" && Record.has(topics, topic) ? topics[topic] : undefined
      if (text === undefined) return yield* refusal("topic", "invalid", `one of ${topicNames.join(", ")}`)
      return { url, text: text() }
    })
}

export const all: ReadonlyArray<Tool> = [
  help,
  explainLastCheck,
  ...Object.entries(offered).flatMap(([group, operations]) =>
    Object.values<Operation.AnyOperation>(operations).map((operation) => ofOperation(group, operation))
  )
]

const byName = new Map(all.map((tool) => [tool.name, tool]))

/** Calls a tool. The result of a failure is its sentence, which begins with the name of the tool. */
export const call = (target: Target, name: string, input: unknown): Effect.Effect<Either.Either<object, string>> => {
  const tool = byName.get(name)
  return tool === undefined
    ? Effect.succeed(Either.left(`There is no such tool: expected one of ${all.map(({ name }) => name).join(", ")}`))
    : Effect.either(
      Predicate.isRecord(input)
        ? tool.call(target, input)
        : refusal("arguments", "invalid", "an object")
    ).pipe(Effect.map(Either.mapLeft(({ message }) => `${name}: ${message}`)))
}
