import { assert, describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const Result = Schema.parseJson(Schema.Struct({
  total: Schema.Int,
  noMatch: Schema.Int,
  potentialMatch: Schema.Int,
  notScreened: Schema.Int,
  unknown: Schema.Int,
  once: Schema.Int,
  heap: Schema.Tuple(Schema.Number, Schema.Number)
}))

const script = fileURLToPath(new URL("support/screenMany.ts", import.meta.url))

const screenMany = (people: number, concurrency: number) =>
  Effect.async<string, Error>((resume) => {
    execFile(
      process.execPath,
      ["--import", "tsx/esm", script, String(people), String(concurrency)],
      (error, stdout) => resume(error === null ? Effect.succeed(stdout) : Effect.fail(error))
    )
  }).pipe(Effect.flatMap(Schema.decode(Result)))

describe("Screening 100,000 people, 64 at once, with a fault at every fiftieth request", () => {
  it.live("accounts for everyone, once, and memory is flat", () =>
    Effect.gen(function*() {
      const { heap: [early, late], noMatch, notScreened, once, potentialMatch, total, unknown } = yield* screenMany(
        100_000,
        64
      )
      strictEqual(total, 100_000)
      strictEqual(once, 100_000)
      strictEqual(noMatch + potentialMatch + notScreened + unknown, 100_000)
      assert(late - early < 20, `from ${early} MiB to ${late} MiB`)
      // Of 2,000 faults or so 429 and 503 are tried again, and the others come out.
      assert(unknown > 350 && unknown < 450, `${unknown}`)
      assert(notScreened > 700 && notScreened < 900, `${notScreened}`)
      assert(potentialMatch > 24_000 && potentialMatch < 25_000, `${potentialMatch}`)
    }), 400_000)
})
