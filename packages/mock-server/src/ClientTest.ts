/**
 * Tests a client of the service: a mock server plays good and bad days, such as a truncated response, and the report says
 * what the client does wrong on them. `idv-mock test-client` does the same with a client in any language.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Day from "./internal/clientTest/day.ts"
import * as Days from "./internal/clientTest/days.ts"
import * as Function from "./internal/clientTest/function.ts"
import * as ReportText from "./internal/clientTest/report.ts"
import * as Run from "./internal/clientTest/run.ts"

/**
 * Makes the client for a customer of the mock server. `service` has `authUrl`, `baseUrl`, `customerId` and `customerKey`.
 * The client checks a person with a `name` and a `dateOfBirth` in the form `yyyy-mm-dd`, and resolves with `clear`,
 * `review` or `error`. A rejection counts as `error`. It may keep its token.
 *
 * @category models
 * @since 0.1.0
 */
export type MakeClient = Function.MakeClient

/**
 * Something that the client does wrong. `risky` is what neither the service document nor a named practice forbids.
 *
 * @category models
 * @since 0.1.0
 */
export interface Finding extends Pick<Day.Finding, "verdict" | "text" | "steps" | "line" | "change" | "basis"> {
  /** The words of the days that show it. */
  readonly days: ReadonlyArray<string>
  /** The masked exchange that shows it, and why the mock server sent that response. */
  readonly exchange?: Readonly<Record<"request" | "response" | "why", string>>
}

/**
 * What a test found.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  /** How many findings and days there are, as one line. */
  readonly summary: string
  readonly findings: ReadonlyArray<Finding>
  /** The days, with `reason` if one was not tested, and the duration in milliseconds. */
  readonly days: ReadonlyArray<Omit<Run.DayResult, "findings">>
}

/**
 * Options of a test.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The words of the days to test.
   *
   * @default all days
   */
  readonly only?: ReadonlyArray<string> | undefined
  /**
   * How long the test waits for one check. A client that still waits then has no deadline.
   *
   * @default "65 seconds"
   */
  readonly deadline?: Duration.DurationInput | undefined
  /**
   * How many checks run at once.
   *
   * @default 4
   */
  readonly parallel?: number | undefined
}

/**
 * All days that can test a function, for `only` and for a test of each.
 *
 * @category getters
 * @since 0.1.0
 */
export const days: ReadonlyArray<Pick<Day.Day, "word" | "title">> = Days.all.filter(({ notTested }) =>
  notTested({ ...Function.driver, isShared: false, isSubstituted: false, patience: "", history: [] }) === undefined
).map(({ title, word }) => ({ word, title }))

/**
 * Lets the client work through the days. Rejects if `only` has an unknown word, and if the client cannot be tested, such
 * as one that sends no request.
 *
 * @category testing
 * @since 0.1.0
 */
export const run = (
  makeClient: MakeClient,
  { deadline = "65 seconds", only, parallel = 4 }: Options = {}
): Promise<Report> =>
  Effect.runPromise(
    Effect.scoped(Effect.map(
      only?.every((word) => Days.all.some((day) => day.word === word)) === false
        ? Effect.dieMessage("only is invalid: expected words of ClientTest.days")
        : Run.run(Function.door(makeClient), {
          days: Days.all.filter(({ word }) => only === undefined || only.includes(word)),
          patience: Duration.decode(deadline),
          concurrency: parallel,
          onDay: () => Effect.void
        }),
      ReportText.values
    ))
  )

/**
 * Tests the client on one day. Rejects with what it does wrong, or with why the day could not be tested.
 *
 * @example
 * import { ClientTest } from "@effect-idv/mock-server"
 *
 * const makeClient: ClientTest.MakeClient = () => () => Promise.resolve("error")
 *
 * // In vitest: it.each(ClientTest.days)("$title", ({ word }) => ClientTest.expectGood(makeClient, word), 60_000)
 * const test = () => ClientTest.expectGood(makeClient, "match")
 *
 * @category testing
 * @since 0.1.0
 */
export const expectGood = (
  makeClient: MakeClient,
  word: string,
  options: Pick<Options, "deadline"> = {}
): Promise<void> =>
  run(makeClient, { ...options, only: [word] }).then(({ days, findings }) => {
    const wrong = findings.filter(({ verdict }) => verdict === "wrong")
    const notTested = days.find(({ verdict }) => verdict === "not tested")
    if (wrong.length === 0 && notTested === undefined) return
    if (wrong.length === 0) throw new Error(`not tested: ${notTested?.reason}`)
    throw new Error(
      wrong.map(({ basis, change, exchange, steps, text }) =>
        [
          `${text} ${steps.join(", ")}`.trim(),
          ...(exchange === undefined ? [] : [exchange.request, exchange.response]),
          change,
          basis
        ]
          .join("\n  ")
      ).join("\n")
    )
  })
