import { assert, describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import * as Program from "./support/program.ts"

const Result = Schema.parseJson(Schema.Struct({
  total: Schema.Int,
  noMatch: Schema.Int,
  potentialMatch: Schema.Int,
  notScreened: Schema.Int,
  unknown: Schema.Int,
  once: Schema.Int,
  heap: Schema.Tuple(Schema.Number, Schema.Number)
}))

const script = Program.bundled(new URL("support/screenMany.ts", import.meta.url))

const screenMany = (people: number, concurrency: number) =>
  Effect.flatMap(script, (script) =>
    Effect.async<string, Error>((resume) => {
      execFile(
        process.execPath,
        [script, String(people), String(concurrency)],
        (error, stdout) => resume(error === null ? Effect.succeed(stdout) : Effect.fail(error))
      )
    })).pipe(Effect.flatMap(Schema.decode(Result)))

/** A smaller run of `pnpm screen-many`, which takes minutes with 100,000 people. */
const people = 3000

describe("Screening thousands of people, 64 at once, with a fault at every fiftieth request", () => {
  it.live("returns one outcome for each person, and memory stays constant", () =>
    Effect.gen(function*() {
      const { heap: [early, late], noMatch, notScreened, once, potentialMatch, total, unknown } = yield* screenMany(
        people,
        64
      )
      strictEqual(total, people)
      strictEqual(once, people)
      strictEqual(noMatch + potentialMatch + notScreened + unknown, people)
      assert(late - early < 20, `from ${early} MiB to ${late} MiB`)
      // Of about 60 faults, 429 and 503 are retried, and the others become outcomes.
      assert(unknown > 9 && unknown < 15, `${unknown}`)
      assert(notScreened > 20 && notScreened < 28, `${notScreened}`)
      assert(potentialMatch > 715 && potentialMatch < 755, `${potentialMatch}`)
    }))
})
