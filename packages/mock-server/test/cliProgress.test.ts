import * as Progress from "@effect-idv/cli/progress"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, TestClock } from "effect"

const terminal = (isTTY: boolean) => {
  const written: Array<string> = []
  return { isTTY, write: (text: string) => written.push(text), written }
}

describe("The progress of idv-mock verify", () => {
  it.effect("is one line that is rewritten at most ten times a second, and cleared at the end", () =>
    Effect.gen(function*() {
      const stderr = terminal(true)
      const { advance, clear } = yield* Progress.make(stderr, 3, "cases")
      yield* advance
      yield* advance
      yield* TestClock.adjust("100 millis")
      yield* advance
      yield* clear
      deepStrictEqual(stderr.written, ["\r\u001b[2K1 of 3 cases", "\r\u001b[2K3 of 3 cases", "\r\u001b[2K"])
    }))

  it.effect("is not written into a file or a pipe", () =>
    Effect.gen(function*() {
      const stderr = terminal(false)
      const { advance, clear } = yield* Progress.make(stderr, 3, "cases")
      yield* Effect.zipRight(advance, clear)
      deepStrictEqual(stderr.written, [])
    }))
})
