/** A Chromium whose pages fail a test when they report a problem. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { inspect } from "node:util"
import type { Browser as Playwright, BrowserContextOptions, Page } from "playwright-core"
import * as Chromium from "./chromium.ts"

export class Browser extends Context.Tag("@effect-idv/mock-server/test/Browser")<Browser, Playwright>() {}

/** Playwright creates a profile directory for each browser, and removes it. */
export const layer: Layer.Layer<Browser> = Layer.scoped(
  Browser,
  Effect.acquireRelease(Effect.orDie(Chromium.launch), (browser) => Effect.promise(() => browser.close()))
)

export interface Tab {
  /** Runs an action on the page. */
  readonly act: <A>(use: (page: Page) => Promise<A>) => Effect.Effect<A>
  /** Waits until an element of the selector shows the text. */
  readonly sees: (selector: string, text?: string | RegExp) => Effect.Effect<void>
  /** Waits until the page receives live updates. */
  readonly lives: Effect.Effect<void>
  /** Warnings and errors of the console, uncaught errors and failed requests so far. */
  readonly problems: ReadonlyArray<string>
}

/** Longer than any wait on a busy machine, and shorter than the limit of vitest. */
const timeout = 120_000

/** A stream of events ends with the page, which is not a problem. */
const isEventStream = (url: string): boolean => /\/events(\?|$)/.test(url)

/**
 * Opens a page in its own browser context. A problem of the page is a defect when it closes, unless `mayComplain`.
 */
export const open = (
  url: string,
  { mayComplain = false, ...options }: BrowserContextOptions & { readonly mayComplain?: boolean } = {}
): Effect.Effect<Tab, never, Browser | Scope.Scope> =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    page.setDefaultTimeout(timeout)
    const problems: Array<string> = []
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`)
    })
    page.on("pageerror", (error) => problems.push(`uncaught: ${error.message}`))
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText
      // The page itself ends a request whose response it no longer shows.
      if (!isEventStream(request.url()) && reason !== "net::ERR_ABORTED") {
        problems.push(`failed: ${request.url()} ${reason}`)
      }
    })
    yield* Effect.addFinalizer(() =>
      problems.length === 0 || mayComplain
        ? Effect.void
        : Effect.dieMessage(`The page complains: ${problems.join("; ")}`)
    )
    yield* Effect.promise(() => page.goto(url))
    const sees: Tab["sees"] = (selector, text) =>
      Effect.tryPromise(() =>
        page.locator(selector, text === undefined ? {} : { hasText: text }).first().waitFor({ state: "attached" })
      ).pipe(
        Effect.catchAll(() => Effect.promise(() => page.locator(selector).allInnerTexts())),
        Effect.flatMap((seen) =>
          seen === undefined
            ? Effect.void
            : Effect.dieMessage(`waited for ${text ?? "an element"} in ${selector}, and saw ${inspect(seen)}`)
        )
      )
    return {
      act: (use) => Effect.promise(() => use(page)),
      sees,
      lives: sees("#live-state.on", "live"),
      problems
    }
  })
