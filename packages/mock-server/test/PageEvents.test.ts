/** The live updates of the page, without a browser. */
import { FetchHttpClient, HttpClient } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Stream } from "effect"
import { start } from "./support/inspected.ts"

const firstEvent = (url: string) =>
  HttpClient.get(url).pipe(
    Effect.map(({ stream }) => stream),
    Stream.unwrap,
    Stream.decodeText(),
    Stream.take(1),
    Stream.mkString,
    Stream.runCollect,
    Effect.provide(FetchHttpClient.layer),
    Effect.map(([text = ""]) => text)
  )

/** Whether the event replaces the whole list, instead of adding rows to it. */
const isWhole = (event: string) => event.includes("hx-target=\"#exchanges\" hx-swap=\"outerMorph\"")

describe("The events of the page", () => {
  it.scopedLive("send all exchanges to a page of an earlier run of the server, whatever its cursor", () =>
    Effect.gen(function*() {
      const { page, token } = yield* start
      const eventsAfter = (cursor: string) => firstEvent(`${page}/demo-customer/events?after=${cursor}`)
      for (let count = 0; count < 3; count++) yield* token()
      const [, run = ""] = /^id: ([a-z0-9]+)\.3\.3$/m.exec(yield* eventsAfter("0.0.0")) ?? []

      for (const cursor of ["earlierrun.0.0", "earlierrun.1.1", "earlierrun.3.3", `x${run}.3.3`, ".3.3", ""]) {
        const event = yield* eventsAfter(cursor)
        strictEqual(isWhole(event), true, cursor)
        for (const id of [1, 2, 3]) assertInclude(event, `id="exchange-${id}"`)
      }

      const later = yield* eventsAfter(`${run}.1.1`)
      strictEqual(isWhole(later), false)
      deepStrictEqual([...new Set(later.match(/(?<=id="exchange-)\d+/g))], ["3", "2"])
    }))
})
