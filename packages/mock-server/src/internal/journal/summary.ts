/** An exchange as one sentence: what happened, and why. The outcome comes first, even if a fault changed it. */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestPerson from "../../TestPerson.ts"
import * as Kinds from "../faults/kinds.ts"
import * as NameText from "../schema/nameText.ts"
import type { Entry } from "./entry.ts"

/** What a fault did, as the predicate of a sentence. */
const effectOf = (kind: string, entry: Entry): string => Kinds.find(kind)?.did(entry) ?? `applied ${kind}`

type FiredFault = Entry["faults"][number]

const textOf = ({ id, kind }: FiredFault): string => `${id} (${kind}): `

/** The reason of the decision, without the faults that follow it. */
export const decisionOf = ({ faults, why }: Entry): string => {
  const at = faults[0] === undefined ? -1 : why.indexOf(`. ${textOf(faults[0])}`)
  return at === -1 ? why : why.slice(0, at)
}

/** At which request a fault fired, as the end of a sentence. */
const requestOf = (fault: FiredFault, { why }: Entry): string => {
  const after = why.split(textOf(fault))[1] ?? ""
  const number = /^fired at request (\d+) of those it watches/.exec(after)?.[1]
  return number === undefined ? "" : `, at request ${number} of those it watches`
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

const decodeBody = Schema.decodeUnknownEither(Schema.parseJson(Schema.Struct({ name: Schema.String })))

const reservedWords = new Map(TestPerson.reserved.map(({ lastWord }) => [NameText.lastWord(lastWord), lastWord]))

/** The reserved word at the end of the name, which the journal does not mask. */
const reservedWord = ({ request: { body } }: Entry): Option.Option<string> =>
  Either.getRight(decodeBody(body)).pipe(
    Option.flatMapNullable(({ name }) => reservedWords.get(NameText.lastWord(name)))
  )

const answered = "The token and the body are valid: the mock server "

/** What a test person of your own with a fault does, and which one it is. */
const customWithFault = /^returns "Potential match" with the fault (\w+), (as .*)$/

const hasReason = /, (because|as configured in testPersons\[)/

/** A check that the service answered. */
const ofCheck = (entry: Entry): string => {
  const predicate = decisionOf(entry).slice(answered.length)
  const [, kind, reason] = customWithFault.exec(predicate) ?? []
  if (kind !== undefined) return `The mock server ${effectOf(kind, entry)}, ${reason}`
  const word = hasReason.test(predicate) ? Option.none() : reservedWord(entry)
  return `The mock server ${predicate}${
    Option.match(word, { onNone: () => "", onSome: (word) => `, because the name ends with ${word}` })
  }`
}

/** A token that the service issued, with its lifetime, and a remark about the credentials. */
const granted = /^The credentials are valid: the token is valid for ([\d.]+) s(.*)$/

const isRejected = ({ rule, unexpected }: Entry): boolean => unexpected || /^aml\.token-(expired|revoked)$/.test(rule)

/** What the service decided, without the faults of the session. */
const ofDecision = (entry: Entry): string => {
  const why = decisionOf(entry)
  return entry.rule === "path.unknown"
    ? `Rejected, because no operation has this path: ${lowerFirst(why)}`
    : isRejected(entry)
    ? `Rejected, because ${lowerFirst(why)}`
    : why.startsWith(answered)
    ? ofCheck(entry)
    : why.replace(
      granted,
      (_, lifetime: string, encoded: string) =>
        `The mock server issued a token for ${lifetime} s, because the credentials are valid${
          encoded === "" ? "" : `; ${lowerFirst(encoded.slice(". ".length))}`
        }`
    )
}

/** A fault of the session, or of the test person, which has no number. */
const ofFault = (fault: FiredFault, entry: Entry): string =>
  fault.kind === "quota"
    ? `The fault ${fault.id} ${effectOf(fault.kind, entry)}: ${lowerFirst(decisionOf(entry))}`
    : `The fault ${fault.id} ${effectOf(fault.kind, entry)}${requestOf(fault, entry)}`

export const summaryOf = (entry: Entry): string => {
  const ofSession = entry.faults.filter(({ id }) => id !== "test-person")
  const fault = ofSession.find(({ kind }) => kind !== "latency")
  const delays = ofSession.filter(({ kind }) => kind === "latency")
  const main = fault === undefined
    ? ofDecision(entry)
    : isRejected(entry)
    ? `${ofDecision(entry)}; ${lowerFirst(ofFault(fault, entry))}`
    : ofFault(fault, entry)
  return [main, ...delays.map((delay) => lowerFirst(ofFault(delay, entry)))].join("; ")
}
