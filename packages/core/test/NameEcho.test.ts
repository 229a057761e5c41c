import { AmlCheck, AmlClient, Person, PersonName, Violation } from "@effect-idv/core"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Schema } from "effect"
import { atStart, input, provide } from "./support/ada.ts"
import * as Service from "./support/service.ts"

const hasSameWords = (name: string, text: string) =>
  PersonName.hasSameWords(Either.getOrThrow(PersonName.make(name)), text)

/** The result of a check, with the codes of its warnings, if the response repeats the name as `echo`. */
const checked = (name: string, echo: string, nameEcho?: AmlClient.NameEcho, birth_year = "1957") => {
  const service = Service.make({
    aml: () => Effect.sync(() => Service.json(Service.credential({}, { name: echo, birth_year })))
  })
  return Effect.gen(function*() {
    yield* atStart
    const person = yield* Person.make({ ...input, name })
    const aml = yield* AmlClient.AmlClient
    return yield* Effect.match(aml.check(person), {
      onFailure: (error) => "fields" in error ? `${error._tag} ${error.fields.join()}` : error._tag,
      onSuccess: ({ result, warnings }) => [result, ...warnings.map(({ code }) => code)].join()
    })
  }).pipe(provide(service, { nameEcho }))
}

describe("The name in the response", () => {
  const name = "AmlResponseMismatch name"

  it.effect.each<[string, string, exact: string, loose: string, ignore: string]>([
    ["Zoë Testpep", "Zoë Testpep", "No", "No", "No"],
    ["Zoë Testpep", " ZOE\u0308  TESTPEP ", "No", "No", "No"],
    ["Zoë Testpep", "Testpep, Zoë", name, "Doubtful No,other_form", "Doubtful No,other_form"],
    ["Zoë Testpep", "ZOE TESTPEP", name, "No,other_marks", "No,other_marks"],
    ["Zoë Testpep", "Zoë A. Testpep", name, name, "Doubtful No,other_name"],
    ["Zoë Testpep", "Zoë", name, name, "Doubtful No,other_name"],
    ["Zoë Testpep", "Ada Other", name, name, "Doubtful No,other_name"],
    ["Zoë Testpep", "王", name, name, "Doubtful No,other_name"],
    ["Dr. Zoë Testpep", "Testpep, Dr Zoe", name, "Doubtful No,title,other_form", "Doubtful No,title,other_form"]
  ])("%o, repeated as %o", ([name, echo, exact, loose, ignore]) =>
    Effect.gen(function*() {
      deepStrictEqual(
        yield* Effect.all([undefined, "exact" as const, "loose" as const, "ignore" as const].map((nameEcho) =>
          checked(name, echo, nameEcho)
        )),
        [exact, exact, loose, ignore]
      )
    }))

  it.effect("is ignored only for people born in the same year", () =>
    Effect.gen(function*() {
      strictEqual(yield* checked("Ada Testclear", "Ada Other", "ignore", "1991"), "AmlResponseMismatch birth_year")
      strictEqual(yield* checked("Ada Testclear", "Ada Other", "loose", "1991"), "AmlResponseMismatch name,birth_year")
    }))

  it.effect("was another one: the stored evidence still reports it", () => {
    const service = Service.make()
    return Effect.gen(function*() {
      yield* atStart
      const person = yield* Person.make({ ...input, name: "Ada Other" })
      const aml = yield* AmlClient.AmlClient
      const evidence = yield* AmlClient.withPolicy(aml.check(person), { nameEcho: "ignore" })
      const stored = yield* Schema.encode(Schema.parseJson(AmlCheck.AmlCheck))(evidence)
      const read = yield* Violation.decodeUnknown(Schema.parseJson(AmlCheck.AmlCheck))(stored)
      deepStrictEqual(read.warnings.map(String), [
        "name: the response has another name, which nameEcho \"ignore\" accepts (other_name)"
      ])
      deepStrictEqual(person.warnings, [])
    }).pipe(provide(service))
  })

  it.each<[string, string, boolean]>([
    ["Ada Testclear", "TESTCLEAR, Ada", true],
    ["Mary-Kate O’Connor", "O'CONNOR MARY KATE", true],
    ["Nguyễn Thị Hóa", "Nguyen Thi Hoa", true],
    ["Işıl Yıldız", "ISIL YILDIZ", true],
    ["Groß", "GROSS", true],
    ["أحمد مُحمد", "احمد محمد", true],
    ["דָּוִד", "דוד", true],
    ["علی\u200cرضا", "علیرضا", true],
    ["山田 太郎", "太郎 山田", true],
    ["Ada Ada Test", "Ada Test Test", false],
    ["Ada Test", "Ada Test Test", false],
    ["Ada Testclear", "AdaTestclear", false],
    ["Søren", "Soren", false],
    ["かが", "かか", false],
    ["はる", "ぱる", false],
    ["राम", "रम", false],
    ["ராமு", "ராமி", false],
    ["Ada 2", "Ada 3", false],
    ["山田太郎", "太郎山田", false],
    ["Ada", "", false],
    ["Ada", "-", false]
  ])("%o and %o have the same words: %s", (name, text, expected) => {
    strictEqual(hasSameWords(name, text), expected)
  })
})
