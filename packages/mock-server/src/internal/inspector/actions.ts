/** What the forms of a session do. */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Ref from "effect/Ref"
import type * as Fault from "../../Fault.ts"
import * as Profile from "../../Profile.ts"
import type * as Session from "../../Session.ts"
import type { Recorder } from "../journal/recorder.ts"
import * as Check from "./checkRun.ts"
import { description } from "./clockPanel.tsx"
import * as Forms from "./forms.ts"
import type * as Page from "./page.tsx"
import { clockOf } from "./pageModel.ts"

/**
 * - `panel`: which one to show again. `forms`: with what in it.
 * - `said`: what happened, in a sentence.
 */
export interface Outcome {
  readonly panel: Page.PanelId
  readonly forms: Page.Forms
  readonly said: string
  readonly isRefused: boolean
}

/** - `origin`: where the person who looks reaches this server. */
export type Action = (
  session: Session.Session,
  fields: Forms.Fields,
  origin: string
) => Effect.Effect<Outcome, never, Session.Sessions | Recorder>

const done = (panel: Page.PanelId, said: string, forms: Page.Forms = {}): Outcome => ({
  panel,
  forms,
  said,
  isRefused: false
})

const refused = (
  panel: Page.PanelId,
  violations: ReadonlyArray<Violation.Violation>,
  forms: Page.Forms = {}
): Outcome => ({ panel, forms, said: `Not done: ${Violation.format(violations)}`, isRefused: true })

const moveClock: Action = (session, fields) =>
  Either.match(Forms.decodeClock(fields), {
    onLeft: (violations) => Effect.succeed(refused("clock", violations)),
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
        return done("clock", `The clock ${description(yield* clockOf(session))}`)
      })
  })

const setFault = ({ faults }: Session.Session, fault: Fault.Fault) =>
  Effect.map(faults.set(fault), ({ id }) => done("faults", `The fault ${id} is set: ${fault.what.kind} on ${fault.on}`))

const setFaultByFields: Action = (session, fields) =>
  Either.match(Forms.decodeFault(fields), {
    onLeft: (violations) =>
      Effect.succeed(refused("faults", violations, { faults: { refusal: { fields, violations } } })),
    onRight: (fault) => setFault(session, fault)
  })

const setFaultByText: Action = (session, fields) =>
  Either.match(Forms.decodeFaultText(fields), {
    onLeft: (violations) =>
      Effect.succeed(refused("faults", violations, { faults: { textRefusal: { fields, violations } } })),
    onRight: (fault) => setFault(session, fault)
  })

const removeFault: Action = ({ faults }, fields) =>
  Either.match(Forms.decodeFaultId(fields), {
    onLeft: (violations) => Effect.succeed(refused("faults", violations)),
    onRight: ({ id }) =>
      Effect.map(
        faults.remove(id),
        (wasThere) => done("faults", wasThere ? `The fault ${id} is removed` : `There is no fault ${id} any more`)
      )
  })

const decodePatch = Violation.decodeUnknown(Profile.Patch)

const changeProfile: Action = ({ profile }, fields) =>
  Either.match(decodePatch(fields), {
    onLeft: (violations) => Effect.succeed(refused("profile", violations, { profile: { fields, violations } })),
    onRight: (patch) =>
      Effect.as(
        Ref.update(profile, Profile.apply(patch)),
        done("profile", patch.preset === undefined ? "The profile is changed" : `The profile is ${patch.preset}`)
      )
  })

const runCheck: Action = (session, fields, origin) =>
  Either.match(Forms.decodeCheck(fields), {
    onLeft: (violations) =>
      Effect.succeed(refused("check", violations, { check: { refusal: { fields, violations } } })),
    onRight: (input) =>
      Effect.map(
        Check.run(session, input, origin),
        (check) => done("check", `The check is done: ${check.verdict.text}`, { check: { fields, check } })
      )
  })

/** By the end of their path. */
export const actions: Readonly<Record<string, Action>> = {
  "clock": moveClock,
  "faults": setFaultByFields,
  "faults/text": setFaultByText,
  "faults/remove": removeFault,
  "profile": changeProfile,
  "check": runCheck
}
