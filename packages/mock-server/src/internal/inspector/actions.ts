/** The actions of the forms on the page of a session. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Ref from "effect/Ref"
import type * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import { description } from "./clockPanel.tsx"
import * as Forms from "./forms.ts"
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

const done = (panel: PanelId, message: string, forms: FormStates = {}): Outcome => ({
  panel,
  forms,
  message,
  isInvalid: false
})

const invalid = (panel: PanelId, problems: Forms.Problems, forms: FormStates = {}): Outcome => ({
  panel,
  forms,
  message: `Not applied: ${Forms.format(problems)}`,
  isInvalid: true
})

const moveClock: Action = (session, fields) =>
  Either.match(Forms.decodeClock(fields), {
    onLeft: (problems) => Effect.succeed(invalid("clock", problems)),
    onRight: ({ move }) =>
      Effect.gen(function*() {
        const { clock } = session
        yield* move === "freeze"
          ? clock.freeze
          : move === "resume"
          ? clock.resume
          : move === "real"
          ? clock.reset
          : clock.advance(move)
        return done("clock", `Clock: ${description(yield* clockOf(session))}`)
      })
  })

const setFault = ({ faults }: Session.Session, fault: Fault.Fault) =>
  Effect.map(faults.set(fault), ({ id }) => done("faults", `Fault ${id} set: ${fault.what.kind} on ${fault.on}`))

const setFaultByFields: Action = (session, fields) =>
  Either.match(Forms.decodeFault(fields), {
    onLeft: (problems) => Effect.succeed(invalid("faults", problems, { faults: { invalid: { fields, problems } } })),
    onRight: (fault) => setFault(session, fault)
  })

const setFaultByText: Action = (session, fields) =>
  Either.match(Forms.decodeFaultText(fields), {
    onLeft: (problems) =>
      Effect.succeed(invalid("faults", problems, { faults: { invalidText: { fields, problems } } })),
    onRight: (fault) => setFault(session, fault)
  })

const removeFault: Action = ({ faults }, fields) =>
  Either.match(Forms.decodeFaultId(fields), {
    onLeft: (problems) => Effect.succeed(invalid("faults", problems)),
    onRight: ({ id }) =>
      Effect.map(
        faults.remove(id),
        (wasThere) => done("faults", wasThere ? `Fault ${id} removed` : `Fault ${id} no longer exists`)
      )
  })

const changeProfile: Action = ({ profile }, fields) =>
  Either.match(Forms.decodeProfile(fields), {
    onLeft: (problems) => Effect.succeed(invalid("profile", problems, { profile: { fields, problems } })),
    onRight: (patch) =>
      Effect.as(
        Ref.update(profile, Profile.apply(patch)),
        done(
          "profile",
          patch.preset === undefined ? "Profile changed" : `Profile changed to the preset ${patch.preset}`
        )
      )
  })

const runCheck: Action = (session, fields, origin) =>
  Effect.matchEffect(Forms.decodePerson(fields), {
    onFailure: (problems) => Effect.succeed(invalid("check", problems, { check: { invalid: { fields, problems } } })),
    onSuccess: (person) =>
      Effect.map(
        RunCheck.run(session, person, origin),
        (check) => done("check", `Check finished: ${check.verdict.text}`, { check: { fields, check } })
      )
  })

/** By the end of the path of each form. */
export const actions: Readonly<Record<string, Action>> = {
  "clock": moveClock,
  "faults": setFaultByFields,
  "faults/text": setFaultByText,
  "faults/remove": removeFault,
  "profile": changeProfile,
  "check": runCheck
}
