/** The fields of the credential and their values. */
import { randomUUID } from "node:crypto"
import * as Change from "../changes.ts"
import { formatTime, HOUR, type Json } from "../service.ts"

const removes = (name: string): Change.Change => Change.sets(name, undefined)
const year = (change: (found: string, dob: string) => Json): Change.Change =>
  Change.field("birth_year", (found, { dob }) => change(found, dob))
/** The time as a date, as text in UTC, and as text of the service. */
const time = (change: (date: Date, iso: string, found: string) => Json): Change.Change =>
  Change.field("searched_on", (found, { request }) => {
    const date = new Date(request.at)
    return change(date, date.toISOString(), found)
  })
const two = (number: number): string => String(number).padStart(2, "0")
const twelve = (date: Date): string => ` ${two(date.getUTCHours() % 12 || 12)}`
const pairs = (found: object) => Object.entries(found).map(([name, value]) => ({ name, value }))

export const response: Change.Changes = {
  "r-type-upper": Change.sets("credential_type", "AML"),
  "r-type-long": Change.sets("credential_type", "aml_check"),
  "r-type-absent": removes("credential_type"),
  "r-name-lower": Change.sets("credential_name", "aml"),
  "r-name-long": Change.sets("credential_name", "AML Screening"),
  "r-name-absent": removes("credential_name"),
  "r-by-null": Change.sets("issued_by", null),
  "r-by-object": Change.field("issued_by", (name) => ({ name })),
  "r-by-absent": removes("issued_by"),
  "r-id-hex": Change.field("issuer_id", (id) => id.replaceAll("-", "")),
  "r-id-braces": Change.field("issuer_id", (id) => `{${id}}`),
  "r-id-urn": Change.field("issuer_id", (id) => `urn:uuid:${id}`),
  "r-id-did": Change.sets("issuer_id", "did:web:idv.example.test"),
  "r-id-short": Change.field("issuer_id", (id) => id.slice(1)),
  "r-id-number": Change.sets("issuer_id", 17),
  "r-id-fresh": Change.field("issuer_id", () => randomUUID()),
  "r-id-absent": removes("issuer_id"),
  "r-version-major": Change.sets("cred_version", "1"),
  "r-version-number": Change.sets("cred_version", 1.5),
  "r-version-three": Change.sets("cred_version", "1.0.0"),
  "r-version-v": Change.sets("cred_version", "v1.0"),
  "r-version-comma": Change.sets("cred_version", "1,0"),
  "r-version-suffix": Change.sets("cred_version", "1.0-SNAPSHOT"),
  "r-version-absent": removes("cred_version"),
  "r-creds-array": Change.credential((found) => ({ ...found, credentials: [found["credentials"]] })),
  "r-creds-string": Change.credential((found) => ({ ...found, credentials: JSON.stringify(found["credentials"]) })),
  "r-creds-absent": Change.credential((found, attributes) => ({ ...found, attributes, credentials: undefined })),
  "r-attrs-string": Change.credential((found, attributes) => ({
    ...found,
    credentials: { attributes: JSON.stringify(attributes) }
  })),
  "r-attrs-flat": Change.credential((found, attributes) => ({ ...found, credentials: attributes })),
  "r-attrs-pairs": Change.credential((found, attributes) => ({
    ...found,
    credentials: { attributes: pairs(attributes) }
  })),
  "r-wrapped": Change.credential((data) => ({ data })),
  "r-list": Change.encoded((text) => `[${text.toString()}]`),
  "r-camel": Change.encoded((text) =>
    text.toString().replace(
      /"([a-z]+)_([a-z])([a-z]+)":/g,
      (_all, first: string, letter: string, rest: string) => `"${first}${letter.toUpperCase()}${rest}":`
    )
  ),
  "r-twice": Change.encoded((text) => JSON.stringify(text.toString())),
  "r-match-title": Change.verdict("Potential Match", "No"),
  "r-match-lower": Change.verdict("Potential match", "no"),
  "r-match-bool": Change.verdict(true, false),
  "r-match-yes": Change.verdict("Yes", "No"),
  "r-match-no-match": Change.verdict("Potential match", "No match"),
  "r-match-code": Change.verdict("POTENTIAL_MATCH", "No"),
  "r-match-space": Change.verdict("Potential match", "No             "),
  "r-match-plural": Change.verdict("Potential matches", "No"),
  "r-match-null": Change.verdict("Potential match", null),
  "r-match-absent": Change.verdict("Potential match", undefined),
  "r-match-count": Change.verdict(1, 0),
  "r-match-full": Change.field(
    "match_found",
    (found, { match, name }) => match && name.length % 2 === 1 ? "Match" : found
  ),
  "r-match-unknown-script": Change.field(
    "match_found",
    (found, { name }) => /[^\u0000-\u024f]/.test(name) ? "Not screened" : found
  ),
  "r-match-absent-old": Change.field(
    "match_found",
    (found, { dob }) => Number(dob.slice(6)) < 1930 ? undefined : found
  ),
  "r-profile-no": Change.ifNotListed("aml_profile", () => undefined),
  "r-profile-null": Change.ifNotListed("aml_profile", () => null),
  "r-profile-empty": Change.ifNotListed("aml_profile", () => ""),
  "r-profile-match": Change.ifListed("aml_profile", () => undefined),
  "r-profile-relative": Change.field("aml_profile", (_found, { dob }) => `/profiles/${dob.slice(6)}`),
  "r-profile-na": Change.ifNotListed("aml_profile", () => "N/A"),
  "r-profile-object": Change.field("aml_profile", (href) => ({ href })),
  "r-profile-undefined": Change.sets("aml_profile", "undefined/profiles/1"),
  "r-profile-schemeless": Change.field("aml_profile", (found) => found.replace("https://", "")),
  "r-profile-raw": Change.field("aml_profile", (_found, { name }) => `https://aml.example.test/p/${name}`),
  "r-profile-list": Change.field("aml_profile", (found) => [found]),
  "r-profile-id": Change.field("aml_profile", (found) => found.split("/").at(-1)),
  "r-attr-name-absent": removes("name"),
  "r-attr-name-split": (_s, was) => ({
    attributes: (check) => {
      const words = check.name.split(" ")
      return { ...was.attributes(check), name: undefined, first_name: words[0], last_name: words.at(-1) }
    }
  }),
  "r-year-absent": removes("birth_year"),
  "r-year-number": year(Number),
  "r-year-two": year((found) => found.slice(2)),
  "r-year-dob": year((_found, dob) => dob),
  "r-year-first": year((_found, dob) => dob.replaceAll("-", "").slice(0, 4)),
  "r-year-east": year((found, dob) => dob.startsWith("01-01") ? String(Number(found) - 1) : found),
  "r-year-west": year((found, dob) => dob.startsWith("31-12") ? String(Number(found) + 1) : found),
  "r-year-week": year((_found, dob) => Change.weekYear(Change.midnight(dob))),
  "r-year-pivot": year((found) => {
    const digits = Number(found.slice(2))
    return String(digits < 30 ? 2000 + digits : 1900 + digits)
  }),
  "r-year-1900": year((found) => Number(found) >= 2000 ? `19${Number(found) - 1900}` : found),
  "r-year-now": Change.field(
    "birth_year",
    (found, { dob }, s) => dob.startsWith("29-02") ? formatTime(s.now()).slice(0, 4) : found
  ),
  "r-time-t": time((_date, iso) => iso.slice(0, 19)),
  "r-time-z": time((_date, _iso, found) => `${found}Z`),
  "r-time-offset": time((_date, _iso, found) => `${found}+00:00`),
  "r-time-utc": time((_date, _iso, found) => `${found} UTC`),
  "r-time-millis": time((_date, iso) => iso.slice(0, 23).replace("T", " ")),
  "r-time-micros": time((date, iso, found) =>
    date.getTime() % 1000 > 0 ? `${iso.slice(0, 23).replace("T", " ")}000` : found
  ),
  "r-time-date": time((_date, iso) => iso.slice(0, 10)),
  "r-time-minutes": time((_date, _iso, found) => found.slice(0, 16)),
  "r-time-dmy": time((_date, iso) => `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`),
  "r-time-slash": time((_date, _iso, found) => found.replaceAll("-", "/")),
  "r-time-epoch": time((date) => Math.floor(date.getTime() / 1000)),
  "r-time-12": time((date, _iso, found) => found.replace(/ \d\d/, twelve(date))),
  "r-time-24": time((_date, _iso, found) => found.replace(" 00:", " 24:")),
  "r-time-month": time((date, iso, found) => `${iso.slice(0, 4)}-${two(date.getUTCMonth())}-${found.slice(8)}`),
  "r-time-mm": time((date, iso, found) => `${iso.slice(0, 4)}-${two(date.getUTCMinutes())}-${found.slice(8)}`),
  "r-time-mm-back": time((date, _iso, found) => found.replace(/:\d\d:/, `:${two(date.getUTCMonth() + 1)}:`)),
  "r-time-day": time((date, iso) => {
    const day = Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 0)) / (24 * HOUR))
    return `${iso.slice(0, 8)}${two(day)} ${iso.slice(11, 19)}`
  }),
  "r-time-week": time((date, _iso, found) => Change.weekYear(date.getTime()) + found.slice(4)),
  "r-time-pad": time((_date, _iso, found) => found.replace(/([- :])0(?=\d)/g, "$1")),
  "r-time-am": time((date, _iso, found) =>
    found.replace(/ \d\d/, twelve(date)) + (date.getUTCHours() < 12 ? " AM" : " PM")
  ),
  "r-time-null": Change.sets("searched_on", null),
  "r-time-token": Change.field("searched_on", (_found, { token }) => formatTime(token.at)),
  "r-time-start": Change.field("searched_on", (_found, _check, s) => formatTime(s.started)),
  "r-time-day-start": (s, was) => {
    const first = Change.cached(() => "", Infinity, ["searched_on"])(s, was)
    return {
      attributes: (check) => {
        const date = String(first.attributes?.(check)["searched_on"]).slice(0, 10)
        const found = was.attributes(check)
        return { ...found, searched_on: date + String(found["searched_on"]).slice(10) }
      }
    }
  },
  "r-time-list": time((_date, iso) => `${iso.slice(0, 10)} 00:00:00`),
  "r-time-absent": removes("searched_on")
}
