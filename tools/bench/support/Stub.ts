/** Starts the stub service as a process. It uses only `node:http`, so that the client is measured. */
import { FetchHttpClient, HttpClient, HttpClientResponse } from "@effect/platform"
import { Effect, Schema } from "effect"
import * as Program from "./Program.ts"
import * as Server from "./Server.ts"

export interface Options {
  /**
   * Milliseconds until the response to a check.
   *
   * @default 0
   */
  readonly latency?: number
  /**
   * `expires_in` of the token response.
   *
   * @default 3600
   */
  readonly tokenSeconds?: number
  /**
   * Milliseconds until the response to a token request.
   *
   * @default 0
   */
  readonly tokenLatency?: number
  /**
   * The token endpoint responds with 503 while the last token is at least this old, in milliseconds.
   *
   * @default Infinity
   */
  readonly downFrom?: number
  /**
   * The age of the last token at which the token endpoint works again, in milliseconds.
   *
   * @default Infinity
   */
  readonly downTo?: number
}

const Counts = Schema.Struct({ tokens: Schema.Number, refused: Schema.Number, checks: Schema.Number })

/** Starts the stub until the scope closes, and returns its address. */
export const start = (options: Options = {}) =>
  Effect.gen(function*() {
    const program = yield* Program.compile("servers/stub.ts")
    const { line } = yield* Server.startAndReadLine(process.execPath, program, JSON.stringify(options))
    return line
  })

/** The numbers of responses so far: tokens, 503s of the token endpoint, and checks. */
export const counts = (url: string) =>
  HttpClient.get(`${url}/counts`).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Counts)),
    Effect.provide(FetchHttpClient.layer)
  )
