/** Readings of the answers to a check: the credential of section 2.3, field by field. */
import * as Option from "effect/Option"
import * as People from "../cases/testPeople.ts"
import type { Answered } from "../run/wire.ts"
import {
  isCredential,
  isErrorBody,
  isHtml,
  isObject,
  isSuccess,
  jsonOf,
  objectOf,
  ofLast,
  otherOutcome,
  type Pair,
  type Read,
  typeOf
} from "./responseReadings.ts"

const answer = (answered: Answered): string =>
  !isSuccess(answered)
    ? otherOutcome(answered)
    : isCredential(answered)
    ? "answered"
    : isErrorBody(answered)
    ? "refused"
    : "no credential"

type Fields = { readonly [name: string]: unknown }

const credentialOf = ({ answer }: Pair): Fields => Option.getOrElse(objectOf(answer), () => ({}))

const attributesOf = (pair: Pair): Fields => {
  const { credentials } = credentialOf(pair)
  const attributes = isObject(credentials) ? credentials["attributes"] : undefined
  return isObject(attributes) ? attributes : {}
}

/** Of a field that is a text, what `read` says of it; of another, what it is. */
const ofText = (value: unknown, read: (text: string) => string): string =>
  value === undefined ? "absent" : value === null ? "null" : typeof value === "string" ? read(value) : "no string"

const field = (name: string, read: (text: string) => string): Read =>
  ofLast((pair) => ofText(credentialOf(pair)[name], read))

const attribute = (name: string, read: (text: string, pair: Pair) => string): Read =>
  ofLast((pair) => ofText(attributesOf(pair)[name], (text) => read(text, pair)))

const exactly = (...words: ReadonlyArray<string>) => (text: string): string =>
  words.find((word) => word === text) ?? "another text"

const form = (pattern: RegExp, name: string) => (text: string): string => pattern.test(text) ? name : "another form"

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const body = ({ answer }: Pair): string =>
  answer.body.length === 0
    ? "empty"
    : isHtml(answer)
    ? "html"
    : Option.match(jsonOf(answer), {
      onNone: () => "not JSON",
      onSome: (json) => isObject(json) ? "object" : "no object"
    })

const attributes = (pair: Pair): string => {
  const { credentials } = credentialOf(pair)
  if (!isObject(credentials)) return "no credentials"
  const { attributes } = credentials
  return attributes === undefined ? "absent" : isObject(attributes) ? "object" : "no object"
}

/** Whom the request was about. */
const subjectOf = ({ send }: Pair): People.Subject =>
  (send.to === "aml" ? People.of(send.body) : undefined) ?? People.clear

const folded = (name: string): string => name.normalize("NFC").toLowerCase().replaceAll(/\s+/g, " ").trim()

const wordsOf = (name: string): string => folded(name).replaceAll(",", "").split(" ").toSorted().join(" ")

const nameEcho = (given: string, pair: Pair): string => {
  const { name } = subjectOf(pair)
  if (given === name) return "exact"
  if (given === name.toUpperCase()) return "upper"
  if (given === name.normalize("NFD")) return "nfd"
  if (given.replaceAll(/\s+/g, " ").trim() === name) return "blanks"
  return folded(given) === folded(name) ? "folded" : wordsOf(given) === wordsOf(name) ? "reordered" : "another name"
}

const birthYear = (given: string, pair: Pair): string =>
  !/^\d{4}$/.test(given) ? "not four digits" : subjectOf(pair).dob.endsWith(given) ? "of the person" : "another year"

/** In milliseconds, as if it were UTC. A time that does not exist is none. */
const timeOf = (text: string): Option.Option<number> => {
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

const quarter = 15 * 60_000
const tolerance = 3 * 60_000

const zones: Readonly<Record<string, string>> = { "UTC+00:00": "utc", "UTC+14:00": "ahead", "UTC-12:00": "behind" }

/** The offset that makes it the time of the answer. */
const timeZone = (text: string, { answer }: Pair): string =>
  Option.match(timeOf(text), {
    onNone: () => "another form",
    onSome: (time) => {
      const offset = Math.round((time - answer.at) / quarter) * quarter
      if (Math.abs(time - answer.at - offset) > tolerance || Math.abs(offset) > 14 * 4 * quarter) return "another time"
      const minutes = Math.abs(offset) / 60_000
      const two = (number: number) => String(number).padStart(2, "0")
      const zone = `UTC${offset < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
      return zones[zone] ?? zone
    }
  })

/** An address of the Web, whole. */
const url = (text: string): string =>
  URL.canParse(text) && /^https?:\/\/[^\s/]+/.test(text) && !/\s/.test(text) ? "URL" : "no URL"

const known = {
  top: ["credential_type", "credential_name", "issued_by", "issuer_id", "cred_version", "credentials"],
  credentials: ["attributes"],
  attributes: ["name", "birth_year", "searched_on", "match_found", "aml_profile"]
}

const extraFields = (pair: Pair): string => {
  const credential = credentialOf(pair)
  const { credentials } = credential
  const others = [
    ...Object.keys(credential).filter((name) => !known.top.includes(name)),
    ...Object.keys(isObject(credentials) ? credentials : {}).filter((name) => !known.credentials.includes(name)),
    ...Object.keys(attributesOf(pair)).filter((name) => !known.attributes.includes(name))
  ]
  return others.length === 0 ? "none" : "some"
}

const matchFound = (pair: Pair): string => ofText(attributesOf(pair)["match_found"], exactly("Potential match", "No"))

const subject = (pair: Pair): string =>
  matchFound(pair) === subjectOf(pair).matchFound ? "as the name says" : "otherwise"

const again: Read = (pairs) => new Set(pairs.map(matchFound)).size === 1 ? "same" : "different"

const requestType: Read = (pairs) => {
  const [withCharset, asText] = pairs.map(({ answer }) => isCredential(answer))
  return asText === true ? "any" : withCharset === true ? "json" : "exact"
}

const errorForm = ({ answer }: Pair): string => {
  if (isCredential(answer)) return "answered"
  if (answer.body.length === 0) return "empty"
  if (isHtml(answer)) return "html"
  if (typeOf(answer) === "application/problem+json") return "problem"
  const body = Option.getOrUndefined(objectOf(answer))
  if (body === undefined) return typeOf(answer) === "text/plain" ? "text" : "another form"
  return Array.isArray(body["errors"]) ? "nested" : typeof body["error"] === "string" ? "oauth" : "another form"
}

export const readings = {
  "answer": ofLast((pair) => answer(pair.answer)),
  "ignored field": ofLast(({ answer: answered }) => isCredential(answered) ? "ignored" : answer(answered)),
  "body": ofLast(body),
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
  "attributes": ofLast(attributes),
  "name": attribute(
    "name",
    (name, pair) => wordsOf(name) === wordsOf(subjectOf(pair).name) ? "of the person" : "another name"
  ),
  "name echo": attribute("name", nameEcho),
  "birth_year": attribute("birth_year", birthYear),
  "searched_on": attribute("searched_on", searchedOn),
  "time zone": attribute("searched_on", timeZone),
  "match_found": ofLast(matchFound),
  "aml_profile": attribute("aml_profile", url),
  "extra fields": ofLast(extraFields),
  "subject": ofLast(subject),
  again,
  "page": ofLast(({ answer }) => isSuccess(answer) && isHtml(answer) ? "page" : "no page"),
  "request type": requestType,
  "error form": ofLast(errorForm)
} as const satisfies Record<string, Read>
