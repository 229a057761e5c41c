/** The progress of a run: one line on a terminal that is rewritten, and the number of its requests. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

/** Where the line goes. Nothing is written if it is not a terminal. */
export interface Terminal {
  readonly isTTY?: boolean | undefined
  readonly write: (text: string) => unknown
}

export interface Progress {
  /** Counts one of the total, and shows the count. */
  readonly advance: Effect.Effect<void>
  /** Shows this count of the total. */
  readonly show: (done: number) => Effect.Effect<void>
  /** Clears the line, before other output. */
  readonly clear: Effect.Effect<void>
}

/** The shortest time between two writes of the line, in milliseconds. */
const interval = 100

const clearLine = "\r\u001b[2K"

/** `what` names what is counted, such as `cases`. */
export const make = (terminal: Terminal, total: number, what: string): Effect.Effect<Progress> =>
  Effect.map(Ref.make({ done: 0, shownAt: -Infinity }), (state) => {
    if (terminal.isTTY !== true) return { advance: Effect.void, show: () => Effect.void, clear: Effect.void }
    const update = (count: (done: number) => number) =>
      Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const { done, shownAt } = yield* Ref.updateAndGet(state, (old) => ({ ...old, done: count(old.done) }))
        if (now - shownAt < interval) return
        yield* Ref.update(state, (old) => ({ ...old, shownAt: now }))
        terminal.write(`${clearLine}${done} of ${total} ${what}`)
      })
    return {
      advance: update((done) => done + 1),
      show: (done) => update(() => done),
      clear: Effect.sync(() => void terminal.write(clearLine))
    }
  })

/** Counts requests, because a service may bill them. An interrupted run reports the count too. */
export interface RequestCount {
  readonly client: HttpClient.HttpClient
  /** How many requests were started, without those to the control API. */
  readonly requests: () => number
  /** How many checks had a 2xx response. */
  readonly checks: () => number
}

const pathOf = (url: string): string => URL.canParse(url) ? new URL(url).pathname : ""

/** `onRequest` runs for each request. */
export const countRequests = (
  client: HttpClient.HttpClient,
  onRequest: Effect.Effect<void> = Effect.void
): RequestCount => {
  let requests = 0
  let checks = 0
  return {
    client: client.pipe(
      HttpClient.tapRequest(({ url }) =>
        Effect.suspend(() => {
          if (pathOf(url).includes("/_mock/")) return Effect.void
          requests++
          return onRequest
        })
      ),
      HttpClient.tap(({ request: { method, url }, status }) =>
        Effect.sync(() => {
          if (method === "POST" && pathOf(url).endsWith("/api/aml") && status >= 200 && status < 300) checks++
        })
      )
    ),
    requests: () => requests,
    checks: () => checks
  }
}
