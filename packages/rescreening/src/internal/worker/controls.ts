/**
 * The rounds of a worker. A round checks every control of the run; it confirms the results before it, or pauses the run
 * for all workers.
 */
import type * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as AmlClient from "@effect-idv/core/AmlClient"
import type * as Person from "@effect-idv/core/Person"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Queue from "effect/Queue"
import { randomUUID } from "node:crypto"
import type * as People from "../../People.ts"
import type { EncryptionKeyError } from "../../RescreeningError.ts"
import type * as Run from "../../Run.ts"
import type * as Ledger from "../ledger/service.ts"
import * as Outcome from "./outcome.ts"
import type * as RequestLimit from "./requestLimit.ts"
import type * as RunState from "./runState.ts"
import type * as Turns from "./turns.ts"

/** How often a control is checked that has no result, before the run is paused. */
const maxAttempts = 3

/** How often a worker looks whether another one has ended a round. */
const watchPeriod = "50 millis"

interface Answer {
  readonly line: number
  /** `over`: the round or the work ended. Any other text is the failure after which there is no result. */
  readonly answer: "found" | "over" | string
}

export const make = (
  { aml, ledger, people }: {
    readonly aml: AmlClient.Service
    readonly ledger: Ledger.Service
    readonly people: People.Service
  },
  { isOfEnvironment, lease, limit, places, run, state, turns }: {
    readonly run: Run.Run
    readonly lease: Duration.Duration
    readonly state: RunState.RunState
    readonly turns: Turns.Turns
    readonly limit: RequestLimit.RequestLimit
    readonly places: Effect.Semaphore
    /** Pauses the run if the check has another environment. */
    readonly isOfEnvironment: (check: AmlCheck.AmlCheck) => Effect.Effect<boolean>
  }
) =>
  Effect.gen(function*() {
    const { id } = run
    const due = yield* Queue.sliding<{ readonly isLast: boolean }>(1)
    const { controlEvery: every } = run.policy
    const leaseMillis = Duration.toMillis(lease)

    const takeTurn = Effect.gen(function*() {
      const [at = 0] = yield* turns.take(state.policy().rate, 1)
      yield* Effect.sleep(Math.max(0, at - turns.now()))
      return at
    })

    /** Counts a request before it leaves, and returns its turn; `undefined` if the round or the work is over. */
    const request = (token: string) =>
      Effect.gen(function*() {
        while (state.isPaused() && !state.isOver()) yield* Effect.sleep("20 millis")
        while (!state.isOver() && (yield* limit.take(1)) === 0) yield* Effect.void
        if (state.isOver() || !(yield* ledger.countControlRequest(id, token, leaseMillis))) return undefined
        return yield* takeTurn
      })

    const checkOnce = (person: Person.Person, token: string) =>
      Effect.gen(function*() {
        // Before the check, because a client of its own kind may not report its requests.
        let turn = yield* request(token)
        if (turn === undefined) return undefined
        let isFirst = true
        let isOver = false
        const awaitTurn = Effect.gen(function*() {
          if (!isFirst) turn = yield* request(token)
          isFirst = false
          // The token came too late for the turn.
          while (turn !== undefined && turns.isLate(turn)) turn = yield* takeTurn
          if (turn === undefined) return yield* Effect.interrupt
        }).pipe(
          Effect.catchAll(() => Effect.interrupt),
          Effect.onInterrupt(() => Effect.sync(() => isOver = true))
        )
        return yield* AmlClient.beforeEachRequest(aml.check(person), awaitTurn).pipe(
          Effect.either,
          Effect.catchAllCause((cause) => isOver ? Effect.succeed(undefined) : Effect.failCause(cause))
        )
      })

    /** Whether the service finds the control. If it does not, the ledger knows at once, whatever happens to the others. */
    const check = (
      control: Ledger.Control,
      token: string,
      since: number | null
    ): Effect.Effect<Answer, EncryptionKeyError | Ledger.Failure> =>
      Effect.gen(function*() {
        const { line } = control
        const person = yield* people.load(id, control.id, control.person)
        for (let attempt = 1;; attempt++) {
          const answered = yield* Effect.uninterruptibleMask((restore) =>
            Effect.gen(function*() {
              const result = yield* restore(checkOnce(person, token))
              if (result === undefined) return { line, answer: "over" as const }
              if (Either.isLeft(result)) return result.left
              if (!(yield* isOfEnvironment(result.right))) return { line, answer: "over" as const }
              if (result.right.result === "Potential match") return { line, answer: "found" as const }
              yield* ledger.endRound(id, token, {
                missed: `the service returned "No" for a listed control person (line ${line} of the controls)`,
                since
              })
              yield* state.end
              return { line, answer: "over" as const }
            })
          )
          if ("answer" in answered) return answered
          const failure = answered
          const { pause, stop } = Outcome.ofFailure(failure, attempt)
          if (pause !== undefined) yield* state.pause(failure, pause.millis)
          if (stop !== undefined) yield* state.stopAll(stop)
          if (state.isOver()) return { line, answer: "over" as const }
          if (attempt === maxAttempts) return { line, answer: `${failure._tag}: ${failure.message}` }
          // The service refused the request, and did not perform it.
          if (pause !== undefined) attempt--
          else yield* Effect.sleep("1 second")
        }
      }).pipe(
        Effect.catchTag("AmlInputRejected", ({ _tag }) => Effect.succeed({ line: control.line, answer: _tag }))
      )

    const endRound = (token: string, answers: ReadonlyArray<Answer>) =>
      Effect.gen(function*() {
        const others = answers.filter(({ answer }) => answer !== "found")
        const isComplete = answers.length === run.controls
        yield* ledger.endRound(id, token, others.length === 0 && isComplete ? "found" : "inconclusive")
        if (!isComplete) return yield* state.stopAll("people of its controls were erased: plan another run")
        const failed = others.find(({ answer }) => answer !== "over")
        if (failed === undefined) return
        yield* state.stopAll(`the control in line ${failed.line} of the controls has no result (${failed.answer})`)
      })

    const round = ({ isLast }: { readonly isLast: boolean }) =>
      Effect.gen(function*() {
        const token = randomUUID()
        const begun = yield* ledger.beginRound(id, { token, every, lease: leaseMillis, isLast })
        if (begun === undefined) return
        yield* ledger.controls(id).pipe(
          Effect.flatMap((controls) =>
            Effect.forEach(controls, (control) => places.withPermits(1)(check(control, token, begun.goodAt)), {
              concurrency: "unbounded"
            })
          ),
          Effect.flatMap((results) => endRound(token, results)),
          Effect.onInterrupt(() => Effect.ignore(ledger.endRound(id, token, "inconclusive")))
        )
      })

    return {
      /** Waits until up to `count` rows may be sent, and returns how many; 0 if the work is over. */
      take: (count: number) =>
        Effect.gen(function*() {
          if (run.controls === 0 || count === 0) return count
          while (!state.isOver()) {
            const { allowed, isRoundDue } = yield* ledger.allow(id, count, every)
            if (isRoundDue) yield* Queue.offer(due, { isLast: false })
            if (allowed > 0) return allowed
            yield* Effect.sleep(watchPeriod)
          }
          return 0
        }),
      /** No row is left, so the last round is due. */
      confirm: run.controls === 0 ? Effect.void : Effect.asVoid(Queue.offer(due, { isLast: true })),
      /** Performs the rounds that this worker begins. */
      run: Effect.forever(Effect.flatMap(Queue.take(due), round))
    }
  })
