/** Readings of the responses to a check: the credential of section 2.3, field by field. */
import * as Option from "effect/Option"
import type { Response } from "../exchange.ts"
import {
  attributesOf,
  isCredential,
  isHtml,
  isLatin1Object,
  isObject,
  isSuccess,
  jsonOf,
  mediaTypeOf,
  objectOf,
  ofLast,
  outcomeOf,
  type Read,
  type StepResponse,
  textOf
} from "./responseReadings.ts"

const checkOutcome = (response: Response): string => outcomeOf(response, "answered", isCredential, "no credential")

type Fields = { readonly [name: string]: unknown }

export const fieldsOf = (response: Response): Fields => Option.getOrElse(objectOf(response), () => ({}))

/** Reads a field that should be a string. For any other value, the word says what it is. */
const ofText = (value: unknown, read: (text: string) => string): string =>
  value === undefined ? "absent" : value === null ? "null" : typeof value === "string" ? read(value) : "no string"

const field = (name: string, read: (text: string) => string): Read =>
  ofLast(({ response }) => ofText(fieldsOf(response)[name], read))

const attribute = (name: string, read: (text: string, response: StepResponse) => string): Read =>
  ofLast((last) => ofText(attributesOf(last.response)?.[name], (text) => read(text, last)))

const exactly = (...words: ReadonlyArray<string>) => (text: string): string =>
  words.find((word) => word === text) ?? "another text"

const form = (pattern: RegExp, name: string) => (text: string): string => pattern.test(text) ? name : "another form"

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** Whether the text of a JSON object ends early, as if its length counted characters and not bytes. */
const endsEarly = (response: Response): boolean =>
  Option.exists(textOf(response), (text) => /^\s*\{/.test(text) && text.split("{").length > text.split("}").length)

const body = (response: Response): string =>
  response.body.length === 0
    ? "empty"
    : isHtml(response)
    ? "html"
    : Option.match(jsonOf(response), {
      onNone: () => isLatin1Object(response) ? "ISO-8859-1" : endsEarly(response) ? "JSON that ends early" : "not JSON",
      onSome: (json) => isObject(json) ? "object" : "no object"
    })

const byteOrderMark = [0xef, 0xbb, 0xbf]

/** The encoding of the bytes, and whether the content type states another one. */
const encoding = (response: Response): string => {
  if (isLatin1Object(response)) return "ISO-8859-1"
  if (Option.isNone(textOf(response))) return "not UTF-8"
  if (byteOrderMark.every((byte, i) => response.body[i] === byte)) return "UTF-8 with a byte order mark"
  const [, charset = "utf-8"] = /;\s*charset="?([^";\s]+)/i.exec(response.headers["content-type"] ?? "") ?? []
  return /^utf-?8$/i.test(charset) ? "UTF-8" : "another charset stated"
}

export const attributes = (response: Response): string => {
  const { credentials } = fieldsOf(response)
  if (!isObject(credentials)) return "no credentials"
  const { attributes } = credentials
  return attributes === undefined ? "absent" : isObject(attributes) ? "object" : "no object"
}

/** The person whom the request was about. */
export const personOf = ({ person }: StepResponse): NonNullable<StepResponse["person"]> =>
  person ?? { name: "", dob: "" }

/** Full case folding, by way of the upper case: `ß` is `ss`, and `ı` and `İ` are `i`. */
const folded = (name: string): string =>
  name.normalize("NFC").toUpperCase().toLowerCase().replaceAll("i\u0307", "i").replaceAll(/\s+/g, " ").trim()

const wordsOf = (name: string): string => folded(name).replaceAll(",", "").split(" ").toSorted().join(" ")

export const nameEcho = (echoed: string, response: StepResponse): string => {
  const { name } = personOf(response)
  if (echoed === name) return "exact"
  if (echoed === name.toUpperCase()) return "upper"
  if (echoed === name.normalize("NFD")) return "nfd"
  if (echoed.replaceAll(/\s+/g, " ").trim() === name) return "blanks"
  return folded(echoed) === folded(name)
    ? "folded"
    : wordsOf(echoed) === wordsOf(name)
    ? "reordered"
    : "another name"
}

const ofPerson = (name: string, response: StepResponse): string =>
  wordsOf(name) === wordsOf(personOf(response).name) ? "of the person" : "another name"

const birthYear = (year: string, response: StepResponse): string =>
  !/^\d{4}$/.test(year) ? "not four digits" : personOf(response).dob.endsWith(year) ? "of the person" : "another year"

/** The time in milliseconds since 1970, read as UTC; none if no such time exists. */
export const timeOf = (text: string): Option.Option<number> => {
  const [, day = "", time = ""] = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/.exec(text) ?? []
  const date = new Date(`${day}T${time}Z`)
  return Number.isNaN(date.getTime()) || !date.toISOString().startsWith(`${day}T${time}`)
    ? Option.none()
    : Option.some(date.getTime())
}

const searchedOn = (text: string): string =>
  !/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(text)
    ? "another form"
    : Option.isSome(timeOf(text))
    ? "YYYY-MM-DD HH:MM:SS"
    : "no such time"

const quarterHour = 15 * 60_000
const tolerance = 5 * 60_000
const largestOffset = 14 * 4 * quarterHour

const quarterHours = (difference: number): number => Math.round(difference / quarterHour) * quarterHour

/** Whether a time zone explains the difference from UTC, in milliseconds. */
export const isZoneOffset = (difference: number): boolean =>
  Math.abs(difference - quarterHours(difference)) <= tolerance && Math.abs(quarterHours(difference)) <= largestOffset

/** The words of the contract for three offsets. */
const zoneWords: Readonly<Record<string, string>> = { "UTC+00:00": "utc", "UTC+14:00": "ahead", "UTC-12:00": "behind" }

/** The offset from UTC, in quarter hours, that makes the text the time of the response. */
const timeZone = (text: string, { response }: StepResponse): string =>
  Option.match(timeOf(text), {
    onNone: () => "another form",
    onSome: (time) => {
      const difference = time - response.receivedAt
      if (!isZoneOffset(difference)) return "another time"
      const offset = quarterHours(difference)
      const minutes = Math.abs(offset) / 60_000
      const twoDigits = (number: number) => String(number).padStart(2, "0")
      const zone = `UTC${offset < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
      return zoneWords[zone] ?? zone
    }
  })

/** Whether the text is a complete http or https URL. */
const url = (text: string): string =>
  URL.canParse(text) && /^https?:\/\/[^\s/]+/i.test(text) && !/\s/.test(text) ? "URL" : "no URL"

/** The fields that section 2.3 shows. */
const documentedFields = {
  credential: ["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version", "credentials"],
  credentials: ["attributes"],
  attributes: ["name", "birth_year", "searched_on", "match_found", "aml_profile"]
}

/** The names of all documented fields. */
export const documentedNames: ReadonlyArray<string> = Object.values(documentedFields).flat()

const extraFields = (response: Response): string => {
  const credential = fieldsOf(response)
  const { credentials } = credential
  const isExtra = (documented: ReadonlyArray<string>) => (name: string) => !documented.includes(name)
  const extra = [
    ...Object.keys(credential).filter(isExtra(documentedFields.credential)),
    ...Object.keys(isObject(credentials) ? credentials : {}).filter(isExtra(documentedFields.credentials)),
    ...Object.keys(attributesOf(response) ?? {}).filter(isExtra(documentedFields.attributes))
  ]
  return extra.length === 0 ? "none" : "some"
}

export const matchFound = ({ response }: StepResponse): string =>
  ofText(attributesOf(response)?.["match_found"], exactly("Potential match", "No"))

/** Compares every credential about a person whose result is promised. */
const promisedResult: Read = (responses) => {
  const promised = responses.filter((each) => personOf(each).promised !== undefined && isCredential(each.response))
  if (promised.length === 0) return "no result"
  return promised.every((each) => matchFound(each) === personOf(each).promised) ? "as promised" : "another result"
}

/** Compares the results of each person. A field that is absent twice is not the same. */
const repeatedCheck: Read = (responses) => {
  const results = new Map<string, string>()
  for (const each of responses.filter(({ step }) => step.to === "aml")) {
    const { dob, name } = personOf(each)
    const word = matchFound(each)
    if (!["Potential match", "No"].includes(word)) return "no result"
    if ((results.get(`${dob} ${name}`) ?? word) !== word) return "different"
    results.set(`${dob} ${name}`, word)
  }
  return results.size === 0 ? "no result" : "same"
}

const errorForm = (response: Response): string => {
  if (isCredential(response)) return "answered"
  if (response.body.length === 0) return "empty"
  if (isHtml(response)) return "html"
  if (mediaTypeOf(response) === "application/problem+json") return "problem"
  const body = Option.getOrUndefined(objectOf(response))
  if (body === undefined) return mediaTypeOf(response) === "text/plain" ? "text" : "another form"
  const { error, errors } = body
  if (typeof error === "string") return "oauth"
  return [error, errors].some((value) => typeof value === "object" && value !== null) ? "nested" : "another form"
}

/** The readings that `Readings` publishes for the response to a check. */
export const readings = {
  "check outcome": ofLast(({ response }) => checkOutcome(response)),
  "body": ofLast(({ response }) => body(response)),
  "encoding": ofLast(({ response }) => encoding(response)),
  "credential_type": field("credential_type", exactly("aml")),
  "credential_name": field("credential_name", exactly("AML")),
  "issued_by": field("issued_by", () => "string"),
  "issuer_id": field("issuer_id", form(uuid, "UUID")),
  "cred_version form": field("cred_version", form(/^\d+\.\d+$/, "major.minor")),
  "cred_version": field("cred_version", (text) =>
    /^(1\.\d{1,4}|2\.0)$/.test(text)
      ? text
      : /^\d+\.\d+$/.test(text) && !text.startsWith("1.")
      ? "another major"
      : "another form"),
  "attributes": ofLast(({ response }) => attributes(response)),
  "name": attribute("name", ofPerson),
  "name echo": attribute("name", nameEcho),
  "birth_year": attribute("birth_year", birthYear),
  "searched_on": attribute("searched_on", searchedOn),
  "time zone": attribute("searched_on", timeZone),
  "match_found": ofLast(matchFound),
  "aml_profile": attribute("aml_profile", url),
  "extra fields": ofLast(({ response }) => extraFields(response)),
  "error form": ofLast(({ response }) => errorForm(response))
} as const satisfies Record<string, Read>

/** The fields of section 2.3, each with its reading and the words of a correct one. */
export const correctFields: Readonly<
  Record<string, readonly [reading: keyof typeof readings, ...words: ReadonlyArray<string>]>
> = {
  credential_type: ["credential_type", "aml"],
  credential_name: ["credential_name", "AML"],
  issued_by: ["issued_by", "string"],
  issuer_id: ["issuer_id", "UUID"],
  cred_version: ["cred_version form", "major.minor"],
  name: ["name", "of the person"],
  birth_year: ["birth_year", "of the person"],
  searched_on: ["searched_on", "YYYY-MM-DD HH:MM:SS"],
  match_found: ["match_found", "Potential match", "No"],
  aml_profile: ["aml_profile", "URL"]
}

/** Readings for cases only. */
export const ofCases = {
  "ignored field": ofLast(({ response }) => isCredential(response) ? "ignored" : checkOutcome(response)),
  "issued_by text": field("issued_by", (text) => text.trim() === "" ? "blank" : "a name"),
  "promised result": promisedResult,
  "repeated check": repeatedCheck,
  "page": ofLast(({ response }) => isSuccess(response) && isHtml(response) ? "page" : "no page")
} as const satisfies Record<string, Read>
