import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Control, Fault, MockServer, Profile, Session, TestPerson } from "@effect-idv/mock-server"
import { assert, describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Layer, TestClock } from "effect"
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("../../../docs/mock-server.md", import.meta.url), "utf8")

/** The rows of the table below a heading, in their order. */
const rowsUnder = (heading: string): ReadonlyArray<string> => {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`)).split("\n## ")[1] ?? ""
  return section.split("\n").filter((line) => line.startsWith("| `"))
}

describe("docs/mock-server.md", () => {
  it("has every reserved name", () => {
    assert.deepStrictEqual(
      rowsUnder("People"),
      TestPerson.reserved.map(({ description, lastWord }) => `| \`${lastWord}\` | ${description} |`)
    )
  })

  it("has every kind of fault, with an example that is a fault", () => {
    assert.deepStrictEqual(
      rowsUnder("Faults"),
      Fault.kinds.map(({ description, example, kind, on }) =>
        `| \`${kind}\` | ${on.join(", ")} | ${description} | \`${example}\` |`
      )
    )
    for (const { example, kind } of Fault.kinds) {
      strictEqual(Either.getOrThrow(Fault.make(example)).what.kind, kind)
    }
  })

  it("has the value of every kind of fault and trigger whose short form has one", () => {
    const first = rowsUnder("Short form of faults").flatMap((row) =>
      Array.from(row.split("|")[1]?.matchAll(/`(\w+)`/g) ?? [], ([, name]) => name)
    )
    const withValue = Fault.kinds.filter(({ example }) => example.includes("=")).map(({ kind }) => kind)
    assert.sameMembers(first, [...withValue, "nth", "first", "every", "probability", "window"])
  })

  it("has every option of a profile, with its level and its variants", () => {
    const written = ({ client, value }: Profile.Variant) => client === "accepts" ? `\`${value}\`` : `*\`${value}\`*`
    assert.deepStrictEqual(
      rowsUnder("Profiles"),
      Profile.points.map(({ level, name, question, variants }) =>
        `| \`${name}\` | ${level} | ${question} | ${variants.map(written).join(", ")} |`
      )
    )
  })
})

describe("docs/testing.md", () => {
  const mine = Session.testCustomer("test-third-request")
  const layer = MockServer.MockServer.pipe(
    Effect.map(({ options }) => Idv.layer({ ...options, ...mine })),
    Layer.unwrapEffect,
    Layer.provideMerge(MockServer.layerHttpClientWith({ unexpected: "fail" }))
  )

  it.effect("has an example of a fault that works", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const { create, session } = yield* Control.Control
      yield* create({ customerId: mine.customerId })
      yield* session(mine.customerId).fault({ on: "aml", what: { kind: "reset", at: "headers" } })

      const aml = yield* AmlClient.AmlClient
      const person = yield* Person.make({ name: "Zoë Testpep", dateOfBirth: "1990-03-14" })
      const error = yield* Effect.flip(aml.check(person))
      assert.deepInclude(error, { _tag: "AmlUnavailable", sent: "unknown" })
      strictEqual(error.message.includes("Testpep"), false)

      yield* session(mine.customerId).verify({ kind: "exactly", n: 1, pattern: { fault: "reset" } })
    }).pipe(Effect.provide(layer)))
})
