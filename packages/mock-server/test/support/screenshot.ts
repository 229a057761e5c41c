/** Makes the picture of the page: `node --import tsx/esm packages/mock-server/test/support/screenshot.ts`. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Browser from "./browser.ts"
import { accessToken, start } from "./inspected.ts"

const path = fileURLToPath(new URL("../../../../docs/mock-server.png", import.meta.url))

Effect.gen(function*() {
  const { check, page, token } = yield* start
  const { act, lives, sees } = yield* Browser.open(page, {
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce"
  })
  yield* lives
  const own = accessToken(yield* token())
  yield* check(own, "Ada Testclear")
  yield* check(own, "Zoë Testpep")
  yield* act((page) => page.click("#tab-faults"))
  yield* act((page) => page.fill("#fault-text", "aml:status=503:nth=2"))
  yield* act((page) => page.press("#fault-text", "Enter"))
  yield* sees("#fault-list", "nth")
  yield* check(own, "Ada Testclear")
  yield* check(own, "Ada Testclear")
  yield* check(own, "Ada Testcut")
  yield* act((page) => page.click("text=+61 min"))
  yield* sees("#clock", "ahead")
  yield* check(own, "Zoë Testpep")
  yield* sees("#exchange-7")
  yield* act((page) => page.click("#tab-exchanges"))
  yield* act((page) => page.click("#exchange-5 .why"))
  yield* sees("#detail .facts")
  yield* act((page) => page.evaluate("document.activeElement.blur(); scrollTo(0, 0)"))
  yield* act((page) => page.screenshot({ path }))
}).pipe(Effect.scoped, Effect.provide(Browser.layer), NodeRuntime.runMain)
