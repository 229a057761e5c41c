/** Screens the people of a queue that may deliver a message twice, such as SQS, RabbitMQ or pg-boss. */
import { AmlClient, Failure, Person } from "@effect-idv/core"
import { Duration, Effect, Either, Option, Stream } from "effect"
import { type Decision, decisionOf, Decisions, interrupted } from "../screening.ts"

export interface Message {
  /** The same for each delivery of this message. */
  readonly id: string
  readonly person: Person.Input
  readonly acknowledge: Effect.Effect<void>
  /** Returns the message to the queue, which delivers it again after the wait. */
  readonly redeliver: (after: Duration.Duration) => Effect.Effect<void>
}

/** True if the service did not perform the check, so that another delivery may send it. */
const notPerformed = (failure: Failure.Failure) =>
  failure._tag === "AmlRateLimited" || (failure._tag !== "AmlInputRejected" && Failure.facts(failure).sent === "no")

const check = (message: Message) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const { decide, release } = yield* Decisions
    const store = (decision: Decision) => Effect.zipRight(decide(message.id, decision), message.acknowledge)

    yield* Person.make(message.person).pipe(
      Effect.flatMap(aml.check),
      Effect.matchEffect({
        onSuccess: (check) => store(decisionOf(Either.right(check))),
        onFailure: (failure) => {
          const { concerns, retryAfter = Duration.seconds(30) } = Failure.facts(failure)
          const settled = notPerformed(failure)
            ? Effect.zipRight(release(message.id), message.redeliver(retryAfter))
            : store(decisionOf(Either.left(failure)))
          // An error that concerns everyone ends the consumer, and should page someone.
          return concerns === "everyone" ? Effect.zipRight(settled, Effect.fail(failure)) : settled
        }
      })
    )
  })

const handle = (message: Message) =>
  Effect.gen(function*() {
    const { begin, decide, find } = yield* Decisions
    if (Option.isNone(yield* begin(message.id, message.person))) return yield* check(message)
    // Delivered before. The check is never sent again, because it may have been performed.
    if (Option.isNone(yield* find(message.id))) {
      yield* decide(message.id, interrupted)
    }
    yield* message.acknowledge
    // A stop waits for the check, its decision and the acknowledgement.
  }).pipe(Effect.uninterruptible)

/** Runs until the stream ends, or until an error concerns everyone. */
export const consume = <E, R>(messages: Stream.Stream<Message, E, R>) =>
  Stream.runDrain(Stream.mapEffect(messages, handle, { concurrency: 4, unordered: true }))
