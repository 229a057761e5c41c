import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Control, Fault, MockServer, Profile, Session, TestPerson } from "@effect-idv/mock-server"
import { assert, describe, expect, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Layer, Schema, Struct, TestClock } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { withTable } from "./support/pageTable.ts"

const path = fileURLToPath(new URL("../../../docs/mock-server.md", import.meta.url))
const code = (text: string) => `\`${text}\``

const people = TestPerson.reserved.map(({ description, lastWord }) => [code(lastWord), description])

/** The fields of a fault that have a default, as JSON. */
const defaultsOf = (kind: Fault.What["kind"]) => {
  const fault = Schema.encodeSync(Fault.What)(Schema.decodeUnknownSync(Fault.What)({ kind }))
  const json = JSON.stringify(Struct.omit(fault, "kind"))
  return json === "{}" ? "" : code(json)
}

const faults = Fault.kinds.map(({ description, example, kind }) => [
  code(kind),
  description,
  defaultsOf(kind),
  code(example)
])

const variantsOf = (variants: ReadonlyArray<Profile.Variant>) =>
  variants.map(({ client, value }) => client === "accepts" ? code(value) : `*${code(value)}*`).join(", ")

const profile = Profile.points.map(({ name, question, variants }) => [code(name), question, variantsOf(variants)])

describe("docs/mock-server.md", () => {
  it("has each reserved name, each kind of fault with its defaults, and each option of a profile with its variants", () => {
    const tables = [
      ["people", "last word | response", people],
      ["faults", "kind | effect | fields with a default | short form", faults],
      ["profile", "option | question | variants", profile]
    ] as const
    const page = tables.reduce(
      (page, [name, header, rows]) => withTable(page, name, header, rows),
      readFileSync(path, "utf8")
    )
    return expect(page).toMatchFileSnapshot(path)
  })

  it("has an example of each kind of fault that is a fault", () => {
    for (const { example, kind } of Fault.kinds) {
      strictEqual(Either.getOrThrow(Fault.make(example)).what.kind, kind)
    }
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
