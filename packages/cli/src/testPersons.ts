/** The test persons of a sandbox: those of `--person` and of the file of `--persons`. */
import type * as Conformance from "@effect-idv/contract/Conformance"
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isMap, isSeq, LineCounter, parseDocument } from "yaml"
import * as FlagValues from "./flagValues.ts"
import * as InputFile from "./inputFile.ts"
import * as ParsedArguments from "./parsedArguments.ts"
import * as Text from "./textField.ts"
import * as UsageError from "./usageError.ts"

const expectedDate = "a date of birth such as 1990-02-01"

const isDate = (text: string): boolean => {
  const [year = "", month = "", day = ""] = /^\d\d-\d\d-\d{4}$/.test(text)
    ? text.split("-").toReversed()
    : text.split("-")
  const time = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return /^(\d{4}-\d\d-\d\d|\d\d-\d\d-\d{4})$/.test(text) && !Number.isNaN(time) &&
    new Date(time).toISOString().startsWith(`${year}-${month}-${day}`)
}

const Row = Schema.Struct({
  name: Text.matching(/^(?!\s)[^\p{Cc}]{1,300}(?<!\s)$/u, "a name"),
  dob: Schema.String.annotations({ description: expectedDate }).pipe(
    Schema.filter(isDate, Violation.expecting(expectedDate))
  ),
  match_found: FlagValues.oneOf("Potential match", "No")
}).annotations({
  ...Violation.expecting("an object with name, dob and match_found"),
  parseOptions: { onExcessProperty: "error" }
})

/** A row of a file or a flag, and where it stands. */
interface Place {
  readonly where: string
  readonly row: unknown
}

const decode = ({ row, where }: Place) =>
  Effect.mapBoth(Violation.decodeUnknown(Row)(row), {
    onFailure: UsageError.fromViolations((field) => `${where} ${field}`.trim()),
    onSuccess: ({ dob, match_found, name }): Conformance.TestPerson => ({
      name,
      dob: /^\d{4}/.test(dob) ? dob.split("-").toReversed().join("-") : dob,
      matchFound: match_found
    })
  })

const ofFlag = (text: string, i: number, all: ReadonlyArray<string>): Place => {
  const [name, dob, match_found, ...more] = text.split("|")
  return {
    where: all.length === 1 ? "--person" : `--person ${i + 1}`,
    row: match_found === undefined || more.length > 0 ? undefined : { name, dob, match_found }
  }
}

const refuse = (text: string) => new UsageError.UsageError({ text })

const expectedRow = "should be \"Name|1990-02-01|Potential match\" or \"Name|1990-02-01|No\""

const ofFile = (path: string) =>
  Effect.gen(function*() {
    const file = `--persons ${Text.printable(path)}`
    const text = yield* InputFile.readText("persons", path)
    const lineCounter = new LineCounter()
    const document = parseDocument(text, { lineCounter, logLevel: "error" })
    const [error] = document.errors
    const { contents } = document
    if (error !== undefined || !isSeq(contents)) {
      const at = error?.linePos?.[0].line ?? 1
      return yield* refuse(`${file} line ${at}: should be a YAML list of persons, each with name, dob and match_found`)
    }
    return contents.items.map((item): Place => {
      const [offset = 0] = isMap(item) ? item.range ?? [] : []
      return {
        where: `${file} line ${lineCounter.linePos(offset).line}:`,
        row: isMap(item) ? item.toJSON() : item
      }
    })
  })

/** The persons of both flags, or `undefined` if there is no such flag. */
export const read = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = ParsedArguments.values(args, "person").map(ofFlag)
    const wrong = flags.find(({ row }) => row === undefined)
    if (wrong !== undefined) return yield* refuse(`${wrong.where} ${expectedRow}`)
    const path = ParsedArguments.value(args, "persons")
    const places = [...flags, ...(path === undefined ? [] : yield* ofFile(path))]
    if (places.length === 0 && path === undefined) return undefined
    const persons = yield* Effect.forEach(places, decode)
    const contradiction = persons.findIndex(({ dob, matchFound, name }, i) =>
      persons.slice(0, i).some((other) => other.name === name && other.dob === dob && other.matchFound !== matchFound)
    )
    if (contradiction !== -1) {
      return yield* refuse(`${places[contradiction]?.where} match_found differs from that of the same person before`)
    }
    return persons.some(({ matchFound }) => matchFound === "Potential match")
      ? persons
      : yield* refuse(
        `${path === undefined ? "--person" : `--persons ${Text.printable(path)}`}: ` +
          "no match_found is Potential match, and without a listed person nothing about it can be tested"
      )
  })
