import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Stream } from "effect"
import { Population } from "../src/index.ts"

describe("Population", () => {
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
