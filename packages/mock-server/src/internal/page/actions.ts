/** The actions of the forms on the page of a session. */
import { MatchFound } from "@effect-idv/core/AmlCredential"
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Session from "../../Session.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as FaultText from "../faults/faultText.ts"
import { sentOf } from "../journal/entry.ts"
import { groups } from "../operations/all.ts"
import type { ArmedFault } from "../operations/faults.ts"
import type * as Operation from "../operations/operation.ts"
import { IsoDay } from "../schema/personText.ts"
import { description } from "./clockPanel.tsx"
import * as FaultFields from "./faultFormFields.ts"
import * as Forms from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"
import type { PanelId } from "./page.tsx"
import { clockOf } from "./pageModel.ts"

/** `origin` is the address at which the user's browser reaches this server. */
type Run<A, E> = (
  session: Session.Session,
  fields: Forms.Fields,
  origin: string
) => Effect.Effect<A, E, Operation.Services>

interface Done {
  /** A sentence for the user. */
  readonly message: string
  /** The form, if the page shows it again. */
  readonly sent?: Forms.SentForm
}

/** What an action did. */
export interface Outcome extends Done {
  /** The panel to render again. */
  readonly panel: PanelId
}

export type Action = Run<Outcome, never>

const action = (panel: PanelId, run: Run<Done, Forms.Problems>): Action => (session, fields, origin) =>
  Effect.match(run(session, fields, origin), {
    onFailure: (problems) => ({
      panel,
      message: `Not applied: ${Forms.format(problems)}`,
      sent: { fields, problems }
    }),
    onSuccess: (done) => ({ panel, ...done })
  })

/** Calls an operation on the session. `nameOf` returns the name of a field in the form. */
const call = <A, E extends Error>(
  operation: Operation.Callable<A, E>,
  { customerId }: Session.Session,
  input?: unknown,
  { faultId = "", nameOf = (path: string) => path } = {}
) => Effect.mapError(operation.call({ customerId, faultId }, input), Forms.problemsOfError(nameOf))

const { clock, faults, profile, sessions } = groups

const changeClock = action("clock", (session, fields) =>
  Effect.gen(function*() {
    yield* call(clock.change, session, Forms.json(fields))
    return { message: `Clock: ${description(yield* clockOf(session))}` }
  }))

const changeOptions = action(
  "profile",
  (session, fields) => Effect.as(call(sessions.change, session, Forms.json(fields)), { message: "Options changed" })
)

const reset = action("profile", (session) => Effect.as(call(sessions.reset, session), { message: "Session reset" }))

const wasSet = ({ fault: { on, what }, id }: ArmedFault) => ({ message: `Fault ${id} set: ${what.kind} on ${on}` })

const setFault = action("faults", (session, fields) => {
  const { json, names } = FaultFields.encode(fields)
  return Effect.map(call(faults.set, session, json, { nameOf: (path) => names.get(path) ?? path }), wasSet)
})

const setFaultText = action(
  "faults",
  (session, { text = "" }) =>
    Effect.map(call(faults.set, session, FaultText.input(text), { nameOf: () => "text" }), wasSet)
)

const removeFault = action(
  "faults",
  (session, { id = "" }) =>
    Effect.as(call(faults.remove, session, undefined, { faultId: id }), { message: `Fault ${id} removed` })
)

const changeProfile = action(
  "profile",
  (session, fields) =>
    Effect.as(call(profile.change, session, fields), {
      message: fields["preset"] === undefined ? "Profile changed" : `Profile changed to the preset ${fields["preset"]}`
    })
)

const showExample = action(
  "send",
  (_, { example }) =>
    Effect.mapBoth(Effect.fromNullable(OwnRequest.examples.find(({ name }) => name === example)), {
      onFailure: (): Forms.Problems => [{ path: "request", text: "There is no such example" }],
      onSuccess: ({ name, text }) => ({
        message: `Example: ${name}`,
        sent: { fields: { request: text }, problems: [] }
      })
    })
)

const sendRequest = action(
  "send",
  (session, fields, origin) =>
    Effect.map(OwnRequest.send(session, fields["request"] ?? "", origin), (entry) => ({
      message: `Request sent: status ${entry.response.status}`,
      sent: { fields, problems: [], entry }
    }))
)

const decodePerson = Violation.decodeUnknown(TestPerson.Custom)

const isResult = Schema.is(MatchFound)

/** Adds a test person that matches the one of an exchange. A reserved name keeps its response, so it is not compared. */
const answerLike = action("test-persons", ({ journal, testPersons }, { id, response = "" }) =>
  Effect.gen(function*() {
    const entry = (yield* journal.entries).find((entry) => String(entry.id) === id)
    const { person: sentPerson } = yield* Effect.mapError(
      Option.flatMap(Option.fromNullable(entry), sentOf),
      (): Forms.Problems => [{ path: "", text: "The journal no longer has this request" }]
    )
    const { dateOfBirth, name } = sentPerson()
    const shownName = Option.filter(name, (name) => TestPerson.of(name).lastWord === undefined)
    const person = yield* Effect.mapError(
      decodePerson({
        match: {
          ...(Option.isSome(shownName) && { name: shownName.value }),
          ...(Option.isSome(dateOfBirth) && { dateOfBirth: Schema.encodeSync(IsoDay)(dateOfBirth.value) })
        },
        response: isResult(response) ? response : { kind: response }
      }),
      (violations) => Forms.problemsOf(violations)
    )
    yield* testPersons.addFirst(person)
    return { message: `The next checks of this person receive: ${response}` }
  }))

/** The actions, by the end of the path of their form. */
export const actions: Readonly<Record<string, Action>> = {
  "clock": changeClock,
  "options": changeOptions,
  reset,
  "faults": setFault,
  "faults/text": setFaultText,
  "faults/remove": removeFault,
  "profile": changeProfile,
  "test-persons/like": answerLike,
  "send": sendRequest,
  "send/example": showExample
}
