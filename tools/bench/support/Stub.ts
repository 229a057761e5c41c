/**
 * The service as a process of its own: as little as a server of Node's own `http` can do, so that
 * what is measured is the client.
 */
import { Command, FetchHttpClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { Chunk, Effect, Option, Schema, Stream } from "effect"
import * as Program from "./Program.ts"

/**
 * - `latency`: how long the answer to a check takes, in milliseconds.
 * - `tokenSeconds`: what the token response says of its lifetime.
 * - `tokenLatency`: how long a token takes, in milliseconds.
 * - `downFrom`, `downTo`: at which age of the last token, in milliseconds, the token endpoint is down.
 */
export interface Options {
  readonly latency?: number
  readonly tokenSeconds?: number
  readonly tokenLatency?: number
  readonly downFrom?: number
  readonly downTo?: number
}

const Counts = Schema.Struct({ tokens: Schema.Number, refused: Schema.Number, checks: Schema.Number })

/** Its address, until the scope is closed. */
export const start = (options: Options = {}) =>
  Effect.gen(function*() {
    const program = yield* Program.compiled("stub.ts")
    const running = yield* Command.make(process.execPath, program, JSON.stringify(options)).pipe(
      Command.stderr("inherit"),
      Command.start
    )
    const line = yield* running.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1), Stream.runCollect)
    return Option.getOrThrow(Chunk.head(line))
  })

/** What it has answered so far. */
export const counts = (url: string) =>
  HttpClient.get(`${url}/counts`).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Counts)),
    Effect.provide(FetchHttpClient.layer)
  )
