/** The actions of the forms on the page of a session. */
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Ref from "effect/Ref"
import type * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import { description } from "./clockPanel.tsx"
import * as Forms from "./forms.ts"
import * as OwnRequest from "./ownRequest.ts"
import type { FormStates, PanelId } from "./page.tsx"
import { clockOf } from "./pageModel.ts"
import * as RunCheck from "./runCheck.ts"

/** What an action did. */
export interface Outcome {
  /** The panel to render again. */
  readonly panel: PanelId
  readonly forms: FormStates
  /** A sentence for the user. */
  readonly message: string
  readonly isInvalid: boolean
}

/** `origin` is the address at which the user's browser reaches this server. */
export type Action = (
  session: Session.Session,
  fields: Forms.Fields,
  origin: string
) => Effect.Effect<Outcome, never, Session.Sessions | Recorder>

type Run = (
  session: Session.Session,
  fields: Forms.Fields,
  origin: string
) => Effect.Effect<
  { readonly message: string; readonly forms?: FormStates },
  Forms.Problems,
  Session.Sessions | Recorder
>

/** Makes the action of a form. `invalidState` is the state of all forms if this form is invalid. */
const action =
  (panel: PanelId, invalidState: (form: Forms.InvalidForm) => FormStates, run: Run): Action =>
  (session, fields, origin) =>
    Effect.match(run(session, fields, origin), {
      onFailure: (problems) => ({
        panel,
        forms: invalidState({ fields, problems }),
        message: `Not applied: ${Forms.format(problems)}`,
        isInvalid: true
      }),
      onSuccess: ({ forms = {}, message }) => ({ panel, forms, message, isInvalid: false })
    })

const moveClock = action("clock", () => ({}), (session, fields) =>
  Effect.gen(function*() {
    const { move } = yield* Forms.decodeClock(fields)
    const { clock } = session
    yield* move === "freeze"
      ? clock.freeze
      : move === "resume"
      ? clock.resume
      : move === "real"
      ? clock.reset
      : clock.advance(move)
    return { message: `Clock: ${description(yield* clockOf(session))}` }
  }))

const setFault =
  (decode: (fields: Forms.Fields) => Either.Either<Fault.Fault, Forms.Problems>): Run => ({ faults }, fields) =>
    Effect.gen(function*() {
      const fault = yield* decode(fields)
      const { id } = yield* faults.set(fault)
      return { message: `Fault ${id} set: ${fault.what.kind} on ${fault.on}` }
    })

const removeFault = action("faults", () => ({}), ({ faults }, fields) =>
  Effect.gen(function*() {
    const { id } = yield* Forms.decodeFaultId(fields)
    return { message: (yield* faults.remove(id)) ? `Fault ${id} removed` : `Fault ${id} no longer exists` }
  }))

const changeProfile = action("profile", (profile) => ({ profile }), ({ profile }, fields) =>
  Effect.gen(function*() {
    const patch = yield* Forms.decodeProfile(fields)
    yield* Ref.update(profile, Profile.apply(patch))
    return { message: patch.preset === undefined ? "Profile changed" : `Profile changed to the preset ${patch.preset}` }
  }))

const runCheck = action(
  "check",
  (invalid) => ({ check: { invalid } }),
  (session, fields, origin) =>
    Effect.gen(function*() {
      const check = yield* RunCheck.run(session, yield* Forms.decodePerson(fields), origin)
      return { message: `Check finished: ${check.verdict.text}`, forms: { check: { fields, check } } }
    })
)

const showExample = action("check", (invalid) => ({ check: { invalid } }), (_, { example }) =>
  Effect.map(
    Effect.mapError(
      Effect.fromNullable(OwnRequest.examples.find(({ name }) => name === example)),
      (): Forms.Problems => [{ path: "request", text: "There is no such example" }]
    ),
    ({ name, text }) => ({ message: `Example: ${name}`, forms: { check: { fields: { request: text } } } })
  ))

const sendRequest = action(
  "check",
  (invalid) => ({ check: { invalid } }),
  (session, fields, origin) =>
    Effect.map(OwnRequest.send(session, fields["request"] ?? "", origin), (ownRequest) => ({
      message: "Request sent: see the response below it",
      forms: { check: { fields, ownRequest } }
    }))
)

/** The actions, by the end of the path of their form. */
export const actions: Readonly<Record<string, Action>> = {
  "clock": moveClock,
  "faults": action("faults", (invalid) => ({ faults: { invalid } }), setFault(Forms.decodeFault)),
  "faults/text": action("faults", (invalidText) => ({ faults: { invalidText } }), setFault(Forms.decodeFaultText)),
  "faults/remove": removeFault,
  "profile": changeProfile,
  "check": runCheck,
  "check/example": showExample,
  "check/request": sendRequest
}
