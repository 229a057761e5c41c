/** `app/api/sign-up/route.ts`: a route handler is a function from `Request` to `Response`. */
import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { type ConfigError, Either, Layer, ManagedRuntime } from "effect"
import { setTimeout } from "node:timers/promises"
import { type Decisions, decisionsInMemory, receivedAfter, signUp } from "../screening.ts"

/** The client needs Node, and not the Edge runtime. */
export const runtime = "nodejs"

/** No response is cached. */
export const dynamic = "force-dynamic"

type Client = ManagedRuntime.ManagedRuntime<Idv.Idv | Decisions, ConfigError.ConfigError>

/** A hot reload evaluates this module again, but keeps `globalThis`. So the token and the connections survive. */
const shared: typeof globalThis & { idv?: Client } = globalThis

const client = (): Client =>
  shared.idv ??= ManagedRuntime.make(
    // Replace the table in memory by one of your database.
    Layer.merge(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici), decisionsInMemory())
  )

export const POST = async (request: Request): Promise<Response> => {
  const waited = setTimeout(receivedAfter)
  const body: unknown = await request.json().catch(() => undefined)
  const result = await client().runPromise(signUp(body))
  if (Either.isLeft(result)) return Response.json({ errors: result.left }, { status: 422 })
  if (result.right.outcome === "clear") return Response.json({ status: "welcome" }, { status: 201 })
  await waited
  return Response.json({ status: "received" }, { status: 202 })
}
