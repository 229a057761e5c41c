/** Sends the steps of the cases. A sequence of steps that several cases share is sent once. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type { StepExchange } from "../exchange.ts"
import type { ServiceStep, Step, TogetherStep } from "../steps.ts"
import type { Target } from "../target.ts"
import * as Templates from "../templates.ts"
import { skip, type Skipped } from "./limits.ts"
import type { ControlPlane } from "./mockServer.ts"
import type { Customer } from "./requests.ts"
import * as Session from "./session.ts"

type Outcome = Either.Either<ReadonlyArray<StepExchange>, Skipped>

export interface StepRunner {
  /** The exchanges of a sequence of steps, without those of the control API. A probe should receive no credential. */
  readonly send: (
    steps: ReadonlyArray<Step>,
    isProbe?: boolean
  ) => Effect.Effect<ReadonlyArray<StepExchange>, Skipped>
  /** The exchange of a step that was sent before, in no sequence. */
  readonly sentAlone: Effect.Effect<(step: Step) => ReadonlyArray<StepExchange>>
}

/** Whether the steps need a session of their own on a mock server, because they change its state. */
export const isControlled = (target: Target, steps: ReadonlyArray<Step>): boolean =>
  steps.some(({ to }) => to === "control" || to === "clock" && target.clock === undefined)

/** The milliseconds from `now` to the next time such as `12-31T23:59:55` or `T23:59:55`, in UTC. */
const untilNext = (until: string, now: number): number => {
  const [day = "", time = ""] = until.split("T")
  const today = new Date(now).toISOString()
  const at = (year: number): number => Date.parse(`${year}-${day === "" ? today.slice(5, 10) : day}T${time}Z`)
  const year = Number(today.slice(0, 4))
  const next = day === "" ? at(year) + 24 * 3_600_000 : at(year + 1)
  return (at(year) > now ? at(year) : next) - now
}

export const make = (
  target: Target,
  session: Session.Session,
  controlPlane: ControlPlane
): Effect.Effect<StepRunner> =>
  Effect.gen(function*() {
    // The keys are the steps as JSON.
    const outcomes = yield* Ref.make(HashMap.empty<string, Effect.Effect<Outcome>>())
    const alone = yield* Ref.make(HashMap.empty<string, ReadonlyArray<StepExchange>>())
    const remaining = yield* Ref.make(
      target.clockLimit === undefined ? Infinity : Duration.toSeconds(Duration.decode(target.clockLimit))
    )

    /** Fails before the first request if the clock cannot be moved that far. */
    const checkClock = (steps: ReadonlyArray<Step>): Effect.Effect<void, Skipped> =>
      Effect.gen(function*() {
        const seconds = steps.reduce(
          (sum, step) => sum + (step.to !== "clock" ? 0 : "advance" in step ? step.advance : Infinity),
          0
        )
        if (seconds === 0 || target.clockLimit === undefined) return
        if (seconds > (yield* Ref.get(remaining))) {
          return yield* skip(`the run would move the clock by more than ${Duration.format(target.clockLimit)}`)
        }
        yield* Ref.update(remaining, (left) => left - seconds)
      })

    const sendAll = (steps: ReadonlyArray<Step>, customer: Customer, isProbe: boolean) =>
      Effect.gen(function*() {
        const exchanges: Array<StepExchange> = []
        // By how much the clock of this case's own session is ahead, in milliseconds.
        let ahead = 0
        /** The token of a step, unless it is a check with the shared token. A token request may use it as a key. */
        const tokenOf = (step: ServiceStep): Effect.Effect<string | undefined> =>
          step.to === "aml" && step.token !== undefined
            ? Effect.succeed(Session.tokensIn(exchanges)[step.token])
            : step.to === "token" && Templates.uses(step.authorization, "token")
            ? Effect.map(session.state, ({ token }) => Option.getOrUndefined(token)?.value)
            : Effect.succeed("")
        const sendOne = (step: ServiceStep, together?: TogetherStep) =>
          Effect.gen(function*() {
            const usesSharedToken = step.to === "aml" && step.token === undefined
            const token = yield* tokenOf(step)
            if (token === undefined) return yield* skip("the customer received no token")
            const around = { previous: exchanges, isProbe, together }
            const sent = usesSharedToken
              ? yield* session.sendWithSharedToken(step, around)
              : yield* session.send(step, customer, token, around)
            const { exchange } = sent
            return exchange._tag === "Response"
              ? { ...sent, exchange: { ...exchange, receivedAt: exchange.receivedAt + ahead } }
              : sent
          })
        const isOwnSession = isControlled(target, steps)
        for (const step of steps) {
          if (step.to === "control") {
            yield* controlPlane.send(customer, step)
          } else if (step.to === "clock") {
            // The time of the target, or of this case's own session.
            const now = (yield* session.now) + ahead
            const millis = "advance" in step ? step.advance * 1000 : untilNext(step.until, now)
            if (target.clock !== undefined) yield* session.advance(target.clock, millis)
            else {
              const body = { advance: `${millis} millis` }
              yield* controlPlane.send(customer, { to: "control", path: "/clock", body })
              ahead += millis
            }
          } else {
            const sent = step.to === "together"
              ? yield* Effect.forEach(step.steps, (each) => sendOne(each, step), { concurrency: "unbounded" })
              : [yield* sendOne(step)]
            // Faults of the control API may cause 429 on purpose.
            for (const exchange of sent) {
              exchanges.push(isOwnSession ? exchange : yield* session.rejectRateLimited(exchange))
            }
          }
        }
        return exchanges
      })

    const send: StepRunner["send"] = (steps, isProbe = false) =>
      Effect.gen(function*() {
        const key = JSON.stringify(steps)
        const sending = yield* Effect.cached(Effect.either(Effect.gen(function*() {
          yield* checkClock(steps)
          const customer = isControlled(target, steps)
            ? yield* controlPlane.createFor(session.customer)
            : session.customer
          const exchanges: ReadonlyArray<StepExchange> = yield* sendAll(steps, customer, isProbe)
          if (steps.length === 1) yield* Ref.update(alone, HashMap.set(key, exchanges))
          return exchanges
        })))
        // Cases that run at the same time wait for the one that began to send.
        return yield* yield* Effect.flatten(
          Ref.modify(outcomes, (current) => {
            const before = HashMap.get(current, key)
            return Option.isSome(before) ? [before.value, current] : [sending, HashMap.set(current, key, sending)]
          })
        )
      })

    const sentAlone: StepRunner["sentAlone"] = Effect.map(Ref.get(alone), (sent) => (step) =>
      Option.getOrElse(HashMap.get(sent, JSON.stringify([step])), () => []))

    return { send, sentAlone }
  })
