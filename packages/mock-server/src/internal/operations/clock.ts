/** The operations on the clock of a session. */
import * as Violation from "@effect-idv/core/Violation"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Session from "../../Session.ts"
import { DurationText } from "../schema/durationText.ts"
import { closed, numberOrText, optional, trueOrFalse } from "../schema/fields.ts"
import { Instant, isInRange } from "../session/sessionClock.ts"
import { ControlRefused, refusal, SessionUnknown } from "./controlErrors.ts"
import * as Operation from "./operation.ts"

/**
 * The clock of a session.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClockReading = Schema.Struct({
  now: Schema.DateTimeUtc.annotations({ description: "the time of the session" }),
  frozen: Schema.Boolean
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ClockReading extends Schema.Schema.Type<typeof ClockReading> {}

/**
 * A change of the clock. Its fields are applied in this order: `real`, `set`, `advance`, `frozen`. With `real`, the
 * clock returns to the real time, and runs.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClockChange = Schema.Struct({
  real: optional(Schema.Literal(true).annotations(Violation.expecting("true"))),
  set: optional(Instant),
  advance: optional(DurationText),
  frozen: optional(trueOrFalse)
}).annotations(closed).pipe(
  Schema.filter((change) => Object.keys(change).length > 0)
).annotations(Violation.expecting("an object with one or more of real, set, advance, frozen"))

/**
 * @category schemas
 * @since 0.1.0
 */
export interface ClockChange extends Schema.Schema.Type<typeof ClockChange> {}

export const readClock = ({ clock }: Session.Session): Effect.Effect<ClockReading> =>
  Effect.map(clock.read, ({ frozen, now }) => ({ now: DateTime.unsafeMake(now), frozen }))

const tooFar = refusal("advance", "invalid", "a duration that ends before the year 10000")

const changeClock = (session: Session.Session, { advance, frozen, real, set }: ClockChange) =>
  Effect.gen(function*() {
    const { clock } = session
    const from = set !== undefined
      ? DateTime.toEpochMillis(set)
      : yield* real === true ? clock.real : clock.now
    const to = from + Duration.toMillis(advance ?? Duration.zero)
    if (!isInRange(to)) return yield* tooFar
    if (real === true) yield* clock.reset
    if (set !== undefined || advance !== undefined) yield* clock.set(to)
    if (frozen !== undefined) yield* frozen ? clock.freeze : clock.resume
    return yield* readClock(session)
  })

const print = ({ frozen, now }: ClockReading) => [`${DateTime.formatIso(now)}${frozen ? ", frozen" : ""}`]

export const clock = {
  read: Operation.make({
    endpoint: HttpApiEndpoint.get("read")`/sessions/${Operation.customerIdParameter}/clock`.addSuccess(ClockReading)
      .addError(SessionUnknown),
    description: "Shows the time of a session",
    on: Operation.session,
    accepts: Operation.nothing,
    run: readClock,
    commands: [{ usage: "clock show", help: "Show the time", print }]
  }),
  change: Operation.make({
    endpoint: HttpApiEndpoint.post("change")`/sessions/${Operation.customerIdParameter}/clock`.setPayload(ClockChange)
      .addSuccess(ClockReading).addError(ControlRefused).addError(SessionUnknown),
    description: "Moves, sets, stops or starts the clock of a session, for example by 61 minutes so that tokens expire",
    on: Operation.begunSession,
    accepts: Operation.accept(ClockChange),
    run: changeClock,
    commands: [
      {
        usage: "clock advance <duration...>",
        help: "Move the clock forward, for example by 61 minutes",
        input: (text) => ({ advance: numberOrText(text) }),
        print
      },
      {
        usage: "clock set <time>",
        help: "Set the clock, for example to 2026-01-31T12:00:00Z",
        input: (set) => ({ set }),
        print
      },
      { usage: "clock freeze", help: "Stop the clock", input: () => ({ frozen: true }), print },
      { usage: "clock resume", help: "Start the clock again", input: () => ({ frozen: false }), print },
      { usage: "clock reset", help: "Return to the real time", input: () => ({ real: true }), print }
    ]
  })
}
