import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Stream } from "effect"
import { Population } from "../src/index.ts"

describe("Population", () => {
  it.live.each(["K1\u202E", "K1\u2066", "K1\u0007", "K1\u200F", "K1\u200B", "K\u00AD1", "K1\u{E0001}", "K1\uFFFD"])(
    "refuses an id with a character that controls, is invisible, or replaces invalid UTF-8",
    (id) =>
      Effect.gen(function*() {
        const csv = `id,name,date_of_birth\n${id},Ada Testclear,1990-02-01\n`
        const rows = yield* Stream.runCollect(Population.fromCsv(Stream.make(new TextEncoder().encode(csv))))
        deepStrictEqual(Chunk.toReadonlyArray(rows), [{ line: 2, codes: ["id.control_character"] }])
      })
  )

  for (const flags of ["", "g", "y", "gu"]) {
    it.live(`compares each id with a pattern that has the flags "${flags}"`, () =>
      Effect.gen(function*() {
        const csv = ["id,name,date_of_birth", ...["K1", "K2", "K3", "Canary", "K4"].map((id) => `${id},Ada,1990-02-01`)]
        const rows = yield* Stream.runCollect(
          Population.fromCsv(Stream.make(new TextEncoder().encode(csv.join("\n"))), {
            keyPattern: new RegExp("K\\d", flags)
          })
        )
        const codes = Chunk.toReadonlyArray(rows).map((row) => Population.isWrongRow(row) ? row.codes : row.key)
        deepStrictEqual(codes, ["K1", "K2", "K3", ["id.format"], "K4"])
      }))
  }
})
