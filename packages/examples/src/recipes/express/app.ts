import type { Idv } from "@effect-idv/core"
import { type ConfigError, Either, type ManagedRuntime } from "effect"
import express, { type Express } from "express"
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
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
}

const page = (content: string) => `<!doctype html><html lang="en"><title>Sign up</title><main>${content}</main></html>`

/** Each page has a key: a form that is sent twice is one sign-up. */
const form = (alert = "") =>
  page(`<h1>Sign up</h1>${alert}<form method="post">
  <input name="key" type="hidden" value="${randomUUID()}">
  <label>Full name <input name="name" required></label>
  <label>Date of birth <input name="dateOfBirth" type="date" required></label>
  <button>Sign up</button>
</form>`)

export const makeApp = ({ respondAfter = receivedAfter, runtime }: Options): Express => {
  const app = express()
  app.disable("x-powered-by")
  app.use(express.urlencoded({ extended: false }))

  app.get("/", (_, response) => void response.send(form()))

  // Express 5 passes a rejected promise to its error handler.
  app.post("/", async (request, response) => {
    const waited = setTimeout(respondAfter)
    const result = await runtime.runPromise(signUp(request.body))
    if (Either.isLeft(result)) {
      const fields = [...new Set(result.left.map(({ field }) => field))]
      return void response.status(422).send(form(`<p role="alert">Please correct: ${fields.join(", ")}</p>`))
    }
    if (result.right.outcome === "clear") return void response.status(201).send(page("<h1>Welcome</h1>"))
    await waited
    return void response.status(202).send(page("<h1>Thank you</h1><p>We will write to you.</p>"))
  })

  return app
}
