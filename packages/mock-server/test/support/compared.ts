/** `idv-mock diff` against a service, in this process. */
import type { Conformance } from "@effect-idv/contract"
import { deepStrictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Effect, Exit, Redacted } from "effect"
import { PassThrough } from "node:stream"
import * as Servers from "../../../../tools/foreign-services/servers.ts"
import { main } from "../../src/internal/command/main.ts"
import { captured } from "./captured.ts"
import * as Recording from "./recording.ts"

export interface Customer {
  readonly customerId?: string | undefined
  readonly customerKey?: Redacted.Redacted<string> | undefined
}

/** The lines of `idv-mock diff`, and whether it succeeded. */
export const compared = (
  url: string,
  { customerId = "", customerKey = Redacted.make("") }: Customer,
  ...words: ReadonlyArray<string>
) =>
  captured(Effect.exit(main(
    ["diff", "--upstream-auth", url, "--spacing", "0", ...words],
    { stdout: new PassThrough(), version: "0" }
  ))).pipe(
    Effect.map(({ stdout, value }) => ({
      lines: stdout.join("\n").split("\n"),
      error: Exit.match(value, { onFailure: (cause) => JSON.stringify(cause), onSuccess: () => "" })
    })),
    Effect.withConfigProvider(ConfigProvider.fromMap(
      new Map([["IDV_CUSTOMER_ID", customerId], ["IDV_CUSTOMER_KEY", Redacted.value(customerKey)]])
    ))
  )

/** The correct services of other authors, by set and style. */
export const styles = Object.entries(Servers.sets).flatMap(([set, { styles }]) =>
  Object.entries(styles).map(([name, style]) => [`${set} ${name}`, style] as const)
)

/** Asserts that `diff` finds no contradiction in a correct service, and nothing that a recording of it does not state. */
export const assertLearnt = Effect.fn(function*(style: (typeof styles)[number][1]) {
  const target: Conformance.Target = yield* Servers.serving(style, "sandbox")
  const first = yield* compared(target.authUrl, target)
  deepStrictEqual(first.lines.filter((line) => line.includes("document says")), [])

  const recording = yield* Recording.start(target.authUrl)
  yield* compared(recording.url, target)
  const { profile } = yield* recording.stop
  const again = yield* compared(target.authUrl, target, "--profile", recording.output)
  deepStrictEqual(
    [again.error, again.lines.at(-1)?.split(" ")[0]],
    ["", "0"],
    [...again.lines, ...first.lines, profile].join("\n")
  )
})
