import type { Idv } from "@effect-idv/core"
import { type ConfigError, Either, type ManagedRuntime } from "effect"
import fastify from "fastify"
import { setTimeout } from "node:timers/promises"
import { type Logger, pino } from "pino"
import { type Decisions, receivedAfter, signUp } from "../screening.ts"

export interface Options {
  /** The client with its token, and your table. */
  readonly runtime: ManagedRuntime.ManagedRuntime<Idv.Idv | Decisions, ConfigError.ConfigError>
  /**
   * The time of the response "received" in milliseconds, longer than the deadline of the check.
   *
   * @default 3500
   */
  readonly respondAfter?: number
  /** It receives no body, because a body contains a name and a date of birth. */
  readonly log?: Logger
}

export const makeApp = ({ log = pino({ level: "warn" }), respondAfter = receivedAfter, runtime }: Options) => {
  const app = fastify({ loggerInstance: log })

  // Builds the client at the start, so that a missing variable stops the program before the first applicant.
  app.addHook("onReady", () => runtime.runPromise(runtime.runtimeEffect).then(() => undefined))
  // Fastify runs this hook after the last response.
  app.addHook("onClose", () => runtime.dispose())

  app.post("/sign-up", async (request, reply) => {
    const waited = setTimeout(respondAfter)
    const result = await runtime.runPromise(signUp(request.body))
    if (Either.isLeft(result)) return reply.code(422).send({ errors: result.left })
    if (result.right.outcome === "clear") return reply.code(201).send({ status: "welcome" })
    await waited
    return reply.code(202).send({ status: "received" })
  })

  return app
}
