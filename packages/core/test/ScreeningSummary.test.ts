import { AmlClient, Screening } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Schema, Stream } from "effect"
import * as Ada from "./support/ada.ts"

const counts = { total: 26, noMatch: 1, doubtfulNo: 6, potentialMatch: 2, notScreened: 3, unknown: 4, notBegun: 5 }

describe("The counts of a screening", () => {
  it("leave the people without an outcome under way", () => {
    strictEqual(new Screening.Summary(counts).underWay, 5)
  })

  it("have a schema that refuses a count below zero", () => {
    const isCounts = (encoded: typeof counts) => Schema.decodeUnknownOption(Screening.Summary)(encoded)._tag === "Some"
    strictEqual(isCounts(counts), true)
    for (const field of Object.keys(counts)) strictEqual(isCounts({ ...counts, [field]: -1 }), false, field)
    strictEqual(Screening.Summary.identifier, "@effect-idv/core/Screening/Summary")
  })

  it.effect("are emitted once for each person if the input ends with an error", () =>
    Effect.gen(function*() {
      const entry = { key: 1, person: Ada.person }
      const emitted: Array<number> = []
      const error = yield* Screening.progress(Stream.concat(Stream.make(entry, entry), Stream.fail("gone"))).pipe(
        Stream.runForEach(({ noMatch }) => Effect.sync(() => void emitted.push(noMatch))),
        Effect.flip
      )
      deepStrictEqual([error, emitted], ["gone", [1, 2]])
    }).pipe(Effect.provide(AmlClient.layerTest("No"))))
})
