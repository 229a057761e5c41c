/** The tools of `idv-mock mcp`. Each shows a part of the state. Some change it first, if the arguments ask for it. */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Control from "../../Control.ts"
import * as ControlApi from "../../ControlApi.ts"
import * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as Verification from "../../Verification.ts"
import { closed, oneOf, wholeNumber } from "../schema/fields.ts"
import * as Explanation from "./explanation.ts"
import { FaultArgument } from "./faultArgument.ts"
import * as Tool from "./tool.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>, description: string) =>
  Schema.optionalWith(schema, { exact: true }).annotations({ description })

const customerId = Schema.optionalWith(ControlApi.NewSession.fields.customerId, {
  exact: true,
  default: () => Session.demoCustomer.customerId
}).annotations({
  description: "the customer of the session; any id that begins with test- is a customer with the key test-key"
})

const flag = Schema.Boolean.annotations(Violation.expecting("true or false"))

const args = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    ...closed,
    description: `an object with any of ${Object.keys(fields).join(", ")}`
  })

const json = <A, I>(schema: Schema.Schema<A, I>) => {
  const encode = Schema.encodeSync(schema)
  return (value: A): string => JSON.stringify(encode(value), null, 2)
}

const sessionsJson = json(Schema.Array(ControlApi.SessionInfo))
const clockJson = json(ControlApi.ClockReading)
const faultsJson = json(Schema.Array(ControlApi.ArmedFault))
const profileJson = json(Profile.Profile)
const personsJson = json(Schema.Array(TestPerson.Listed))
const journalJson = json(ControlApi.JournalPage)
const encodeFault = Schema.encodeSync(Fault.Fault)
const encodePersons = Schema.encodeSync(TestPerson.CustomList)
const encodeExpectation = Schema.encodeSync(Verification.Expectation)

const clockFields = ControlApi.ClockChange.from.fields

const changeClock = (
  session: Control.SessionControl,
  { advance, frozen, set }: Schema.Schema.Type<typeof ControlApi.ClockChange.from>
) =>
  Effect.gen(function*() {
    if (set !== undefined) yield* session.setTime(set)
    if (advance !== undefined) yield* session.advance(advance)
    if (frozen !== undefined) yield* frozen ? session.freeze : session.resume
    return yield* session.clock
  })

export const all: ReadonlyArray<Tool.Tool> = [
  Tool.make(
    "sessions",
    "Lists the sessions of the mock server and its address. With create or reset it first creates a session, or " +
      "restores the initial state of one.",
    args({
      create: optional(ControlApi.NewSession.fields.customerId, "the customer id of a session to create"),
      reset: optional(ControlApi.NewSession.fields.customerId, "the customer id of a session to reset")
    }),
    ({ control, url }, { create, reset }) =>
      Effect.gen(function*() {
        if (create !== undefined) yield* control.create({ customerId: create })
        if (reset !== undefined) yield* control.session(reset).reset
        return `The token endpoint and the API are at ${url}\n${sessionsJson(yield* control.sessions)}`
      })
  ),
  Tool.make(
    "clock",
    "Reads the clock of a session. With set, advance or frozen it changes the clock first, for example to let tokens " +
      "expire: advance by 61 minutes.",
    args({ customerId, ...clockFields }),
    ({ control }, { customerId, ...change }) => Effect.map(changeClock(control.session(customerId), change), clockJson)
  ),
  Tool.make(
    "faults",
    "Lists the faults of a session, and how often each fired. It can set one, remove one by its id, or clear all.",
    args({
      customerId,
      set: optional(
        FaultArgument,
        "a fault, such as { on: \"aml\", what: { kind: \"status\", status: 503 } }, or in short aml:status=503"
      ),
      remove: optional(Schema.String, "the id of a fault"),
      clear: optional(flag, "whether to remove all faults first")
    }),
    ({ control }, { clear, customerId, remove, set }) =>
      Effect.gen(function*() {
        const session = control.session(customerId)
        if (clear === true) yield* session.clearFaults
        if (remove !== undefined) yield* session.removeFault(remove)
        if (set !== undefined) yield* session.fault(encodeFault(set))
        return faultsJson(yield* session.faults)
      })
  ),
  Tool.make(
    "profile",
    "Reads the profile of a session: its variant of each behaviour that the service document leaves open. With change " +
      "it changes options first.",
    args({ customerId, change: optional(Profile.Patch, "options such as { tokenStatus: \"201\" }, or a preset") }),
    ({ control }, { change, customerId }) => {
      const { changeProfile, profile } = control.session(customerId)
      return Effect.map(change === undefined ? profile : changeProfile(change), profileJson)
    }
  ),
  Tool.make(
    "test_persons",
    `Lists the test persons that were added to a session. With set it replaces them. Reserved last words always exist: ${
      TestPerson.reserved.map(({ description, lastWord }) => `${lastWord} ${description}`).join("; ")
    }.`,
    args({
      customerId,
      set: optional(
        TestPerson.CustomList,
        "a list such as [{ match: { nameLast: \"Sample\" }, response: \"Potential match\" }]"
      )
    }),
    ({ control }, { customerId, set }) => {
      const { setTestPersons, testPersons } = control.session(customerId)
      return Effect.map(set === undefined ? testPersons : setTestPersons(encodePersons(set)), personsJson)
    }
  ),
  Tool.make(
    "journal",
    "Shows the last exchanges of a session, or of requests that belong to none, with the reason for each response. " +
      "Names, dates of birth, keys and tokens are masked.",
    args({
      customerId,
      unmatched: optional(flag, "whether to show the requests that belong to no session"),
      ...Verification.Pattern.omit("customerId", "name", "dateOfBirth", "headers", "operation").fields,
      operation: optional(oneOf("token", "aml", "other"), "only requests to this operation"),
      limit: Schema.optionalWith(wholeNumber(1, 1000), { exact: true, default: () => 10 }).annotations({
        description: "the largest number of exchanges"
      })
    }),
    ({ control }, { customerId, limit, unmatched, ...search }) =>
      Effect.map(
        unmatched === true ? control.unmatchedRequests(search) : control.session(customerId).journal(search),
        ({ dropped, entries }) => journalJson({ dropped, entries: entries.slice(-limit) })
      )
  ),
  Tool.make(
    "verify",
    "Verifies the exchanges of a session, or of requests that belong to none. Names, dates of birth and headers are " +
      "compared with what was sent, and not shown.",
    args({
      customerId,
      unmatched: optional(flag, "whether to verify the requests that belong to no session"),
      expectation: Verification.Expectation
    }),
    ({ control }, { customerId, expectation, unmatched }) => {
      const encoded = encodeExpectation(expectation)
      return Effect.as(
        unmatched === true ? control.verifyUnmatched(encoded) : control.session(customerId).verify(encoded),
        "The exchanges are as expected."
      )
    }
  ),
  Tool.make(
    "explain_last_check",
    "Explains why the last check of a customer received its response.",
    args({ customerId }),
    ({ control }, { customerId }) => Explanation.explain(control, customerId)
  )
]

const byName = new Map(all.map((tool) => [tool.name, tool]))

/** Calls a tool. The result of a failure is its sentence. */
export const call = (target: Tool.Target, name: string, input: unknown): Effect.Effect<Either.Either<string, string>> =>
  Effect.either(
    byName.get(name)?.call(target, input) ??
      new Tool.ToolFailed({
        message: `There is no such tool: expected one of ${all.map(({ name }) => name).join(", ")}`
      })
  ).pipe(Effect.map(Either.mapLeft(({ message }) => message)))
