/** The credential, the result of a search, and documented requests that are refused. */
import { deflateSync } from "node:zlib"
import * as Change from "../changes.ts"
import { type Check, formatTime, HOUR, isObject, type Json, type JsonObject } from "../service.ts"

const removes = (name: string): Change.Change => Change.sets(name, undefined)
const ascii = /[^\x00-\x7f]/
const yearOf = ({ dob }: Check): number => Number(dob.slice(-4))
const year = (change: (found: string, check: Check) => Json): Change.Change => Change.field("birth_year", change)
const time = (change: (found: string, check: Check) => Json): Change.Change => Change.field("searched_on", change)
/** The milliseconds of a time of the service, in its time zone. */
const local = (found: string): number => Date.parse(`${found.replace(" ", "T")}Z`)
/** Another name of the latest check, or the result for it. */
const latest = (change: (found: JsonObject, latest: string) => JsonObject): Change.Change =>
  Change.stateful(() => ({ name: "" }), (state) => (_s, was) => ({
    matches: (check) => {
      state.name = check.name
      return was.matches(check)
    },
    attributes: (check) => change(was.attributes(check), state.name)
  }))
const camelCase = (found: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(found).map(([key, value]) => [
      key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      value
    ])
  )
/** Does not read bodies with such a field. */
const unreadable = (field: string, test: (value: string) => boolean): Change.Change =>
  Change.reads((found) => isObject(found) && test(String(found[field])) ? undefined : found)

export const response: Change.Changes = {
  "type-missing": removes("credential_type"),
  "type-upper-case": Change.sets("credential_type", "AML"),
  "type-capitalized": Change.sets("credential_type", "Aml"),
  "type-identity": Change.sets("credential_type", "identity"),
  "type-array": Change.sets("credential_type", ["aml"]),
  "type-listed": Change.ifListed("credential_type", () => "pep"),
  "display-name-missing": removes("credential_name"),
  "display-name-lower-case": Change.sets("credential_name", "aml"),
  "display-name-longer": Change.sets("credential_name", "AML Check"),
  "issuer-name-missing": removes("issued_by"),
  "issuer-name-null": Change.sets("issued_by", null),
  "issuer-name-object": Change.sets("issued_by", { name: "Example Verify Ltd" }),
  "issuer-id-missing": removes("issuer_id"),
  "issuer-id-number": Change.sets("issuer_id", 417),
  "issuer-id-no-hyphens": Change.sets("issuer_id", "3f0c9d526f0e4f5e9a440d3c1f6b7a21"),
  "issuer-id-short": Change.sets("issuer_id", "3f0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a2"),
  "issuer-id-not-hexadecimal": Change.sets("issuer_id", "3g0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a2z"),
  "issuer-id-second": Change.stateful(
    () => ({ count: 0 }),
    (state) => Change.field("issuer_id", (found) => (state.count += 1) === 1 ? found : `issuer-${state.count}`)
  ),
  "version-missing": removes("cred_version"),
  "version-number": Change.sets("cred_version", 1.5),
  "version-major-only": Change.sets("cred_version", "1"),
  "version-three-parts": Change.sets("cred_version", "1.0.0"),
  "version-prefix": Change.sets("cred_version", "v1.0"),
  "version-comma": Change.sets("cred_version", "1,0"),
  "holder-missing": removes("credentials"),
  "holder-array": Change.credential((found) => ({ ...found, credentials: [found["credentials"]] })),
  "holder-text": Change.credential((found) => ({ ...found, credentials: JSON.stringify(found["credentials"]) })),
  "holder-renamed": Change.credential(({ credentials, ...found }) => ({ ...found, credential: credentials })),
  "holder-flat": Change.credential((found, attributes) => ({ ...found, credentials: attributes })),
  "holder-top-level": Change.credential((found, attributes) => ({ ...found, credentials: {}, attributes })),
  "attributes-array": Change.credential((found, attributes) => ({
    ...found,
    credentials: { attributes: [attributes] }
  })),
  "attributes-pairs": Change.credential((found, attributes) => {
    const pairs = Object.entries(attributes).map(([key, value]) => ({ key, value }))
    return { ...found, credentials: { attributes: pairs } }
  }),
  "attributes-empty-no": Change.credential((
    found,
    _attributes,
    { match }
  ) => match ? found : { ...found, credentials: { attributes: {} } }),
  "envelope-data": Change.credential((found) => ({ data: found })),
  "envelope-camel-case": Change.credential(camelCase),
  "encoding-array": Change.encoded((text) => `[${text.toString()}]`),
  "encoding-text": Change.encoded((text) => JSON.stringify(text.toString())),
  "encoding-truncated": Change.encoded((text) => text.subarray(0, -10)),
  "encoding-truncated-match": Change.encoded((text, { match }) => match ? text.subarray(0, -10) : text),
  "encoding-duplicated": Change.encoded((text) => Buffer.concat([text, text])),
  "encoding-compressed": Change.encoded((text) => deflateSync(text)),
  "encoding-quotes": Change.encoded((text) => text.toString().replaceAll("\\\"", "\"")),
  "encoding-empty-repeat": Change.stateful(
    () => new Set<string>(),
    (seen) =>
      Change.encoded((text, { request }) => {
        const isRepeated = seen.has(request.body)
        seen.add(request.body)
        return isRepeated ? "" : text
      })
  ),
  "encoding-latin": Change.field("name", (_found, check) => Buffer.from(check.name, "latin1").toString("utf8")),
  "encoding-html": Change.field("name", (found) => found.replaceAll("&", "&amp;").replaceAll("'", "&#39;")),
  "name-missing": removes("name"),
  "name-null-result": Change.sets("name", null),
  "name-empty-result": Change.ifNotListed("name", () => ""),
  "name-split": Change.field(
    "name",
    (found) => ({ first: found.split(" ")[0] ?? "", last: found.split(" ").at(-1) ?? "" })
  ),
  "name-no-middle": Change.field("name", (found) => {
    const words = found.split(" ")
    return words.length < 3 ? found : `${words[0]} ${words.at(-1)}`
  }),
  "name-last-only": Change.field("name", (found) => found.split(" ").at(-1)),
  "name-truncated": Change.field("name", (found) => found.slice(0, 20)),
  "name-question-marks": Change.field("name", (found) => found.replace(/[^\x00-\x7f]/g, "?")),
  "name-other-scripts-empty": Change.field("name", (found) => /[A-Za-z]/.test(found) ? found : ""),
  "name-apostrophe-removed": Change.field("name", (found) => found.replaceAll("'", "")),
  "name-list-entry": Change.ifListed("name", () => "JOHN DOE (ALIAS)"),
  "name-previous": Change.stateful(
    () => ({ previous: "None" }),
    (state) =>
      Change.field("name", (found) => {
        const name = state.previous
        state.previous = found
        return name
      })
  ),
  "name-of-latest-request": latest((found, name) => ({ ...found, name })),
  "birth-missing": removes("birth_year"),
  "birth-number": year(Number),
  "birth-two-digits": year((found) => found.slice(2)),
  "birth-full-date": year((_found, { dob }) => dob),
  "birth-day-month": year((_found, { dob }) => dob.slice(0, 2) + dob.slice(3, 5)),
  "birth-null-match": Change.ifListed("birth_year", () => null),
  "birth-current-year": year((_found, { request }) => formatTime(request.at).slice(0, 4)),
  "birth-constant": Change.sets("birth_year", "1970"),
  "birth-new-year": year((found, check) => check.dob.startsWith("01-01") ? String(yearOf(check) - 1) : found),
  "birth-last-day": year((found, check) => check.dob.startsWith("31-12") ? String(yearOf(check) + 1) : found),
  "birth-before-1970": year((found, check) => yearOf(check) < 1970 ? "1970" : found),
  "birth-century": year((found, check) => yearOf(check) < 1950 ? String(yearOf(check) + 100) : found),
  "birth-after-1999": year((found, check) => yearOf(check) > 1999 ? `19${found.slice(2)}` : found),
  "birth-by-name": Change.cached(({ name }) => name, Infinity, ["birth_year"]),
  "searched-missing": removes("searched_on"),
  "searched-iso": time((found) => found.replace(" ", "T")),
  "searched-zone": time((found) => `${found}Z`),
  "searched-milliseconds": time((found) => `${found}.000`),
  "searched-date-only": time((found) => found.slice(0, 10)),
  "searched-no-seconds": time((found) => found.slice(0, 16)),
  "searched-day-first": time((found) =>
    `${found.slice(8, 10)}-${found.slice(5, 7)}-${found.slice(0, 4)}${found.slice(10)}`
  ),
  "searched-month-last": time((found) =>
    `${found.slice(0, 5)}${found.slice(8, 10)}-${found.slice(5, 7)}${found.slice(10)}`
  ),
  "searched-slashes": time((found) => found.replaceAll("-", "/")),
  "searched-not-padded": time((found) => found.replace(/\b0([0-9])/g, "$1")),
  "searched-epoch": time((_found, { request }) => Math.floor(request.at / 1000)),
  "searched-twelve-hours": time((found) =>
    found.slice(0, 11) + String(Number(found.slice(11, 13)) % 12 || 12).padStart(2, "0") + found.slice(13)
  ),
  "searched-month-from-zero": time((found) =>
    found.slice(0, 5) + String(Number(found.slice(5, 7)) - 1).padStart(2, "0") + found.slice(7)
  ),
  "searched-no-second-value": time((found) => `${found.slice(0, 17)}00`),
  "searched-future": time((found) => formatTime(local(found) + 24 * HOUR)),
  "searched-birth": time((found, { dob }) => `${dob.slice(6)}-${dob.slice(3, 5)}-${dob.slice(0, 2)}${found.slice(10)}`),
  "searched-at-start": Change.field(
    "searched_on",
    (found, { request }, s) => formatTime(local(found) - request.at + s.started)
  ),
  "searched-at-token": time((found, { request, token }) => formatTime(local(found) - request.at + token.at)),
  "searched-null-no": Change.ifNotListed("searched_on", () => null),
  "profile-missing": removes("aml_profile"),
  "profile-missing-no": Change.ifNotListed("aml_profile", () => undefined),
  "profile-missing-match": Change.ifListed("aml_profile", () => undefined),
  "profile-null-no": Change.ifNotListed("aml_profile", () => null),
  "profile-empty-no": Change.ifNotListed("aml_profile", () => ""),
  "profile-identifier": Change.field("aml_profile", (found) => found.replace(/[^0-9a-f]/g, "")),
  "profile-text": Change.ifNotListed("aml_profile", () => "not available"),
  "profile-object": Change.field("aml_profile", (found) => ({ url: found })),
  "profile-array": Change.ifListed("aml_profile", (found) => [found]),
  "profile-spaces": Change.field("aml_profile", (found) => found.replace("://", "://not a host ")),
  "profile-missing-repeat": Change.stateful(
    () => new Set<string>(),
    (seen) =>
      Change.field("aml_profile", (found, { request }) => {
        const isRepeated = seen.has(request.body)
        seen.add(request.body)
        return isRepeated ? undefined : found
      })
  ),
  "match-missing": removes("match_found"),
  "match-missing-no": Change.verdict("Potential match", undefined),
  "match-boolean": Change.verdict(true, false),
  "match-null-no": Change.verdict("Potential match", null),
  "match-yes": Change.verdict("Yes", "No"),
  "match-title-case": Change.verdict("Potential Match", "No"),
  "match-lower-case": Change.verdict("potential match", "no"),
  "match-underscore": Change.verdict("potential_match", "No"),
  "match-no-upper-case": Change.verdict("Potential match", "NO"),
  "match-no-match": Change.verdict("Potential match", "No match"),
  "match-trailing-space": Change.verdict("Potential match ", "No "),
  "match-array": Change.verdict(["Potential match"], ["No"]),
  "result-never": Change.decides(() => false),
  "result-always": Change.decides(() => true),
  "result-inverted": Change.decides((found) => !found),
  "result-pep-only": Change.decides((found, { name }) => found && !/testsanction/i.test(name)),
  "result-sanctions-only": Change.decides((found, { name }) => found && !/testpep/i.test(name)),
  "result-middle-name": Change.decides((found, { name }) => found && name.split(" ").length < 3),
  "result-accent": Change.decides((found, { name }) => found && !ascii.test(name)),
  "result-first-only": Change.decides((found, { token }) => found && token.uses <= 1),
  "result-sticky": Change.stateful(
    () => ({ seen: false }),
    (state) => Change.decides((found) => (state.seen = found || state.seen))
  ),
  "result-previous": Change.stateful(
    () => ({ previous: false }),
    (state) =>
      Change.decides((found) => {
        const { previous } = state
        state.previous = found
        return previous
      })
  ),
  "result-repeat-cleared": Change.stateful(
    () => new Set<string>(),
    (seen) =>
      Change.decides((found, { name }) => {
        const isRepeated = seen.has(name)
        seen.add(name)
        return found && !isRepeated
      })
  ),
  "result-by-date": Change.stateful(
    () => Change.memory<string, boolean>(),
    (first) => Change.decides((found, { dob }) => first(dob, () => found))
  ),
  "result-latest-request": (
    s,
    was
  ) => {
    let name = ""
    return {
      matches: (check) => was.matches({ ...check, name: name = check.name }),
      attributes: (check) => was.attributes({ ...check, match: s.listed(name) })
    }
  },
  "result-overload": Change.decides((found, _check, s) => found && s.searches <= 3),
  "result-cached-by-first-name": Change.cached(({ name }) => name.split(" ")[0] ?? "", Infinity),
  "result-cached-by-date": Change.cached(({ dob }) => dob, Infinity),
  "result-cached-by-token": Change.cached(({ token }) => token.value, Infinity),
  "result-cached-by-length": Change.cached(({ request }) => String(request.body.length), Infinity),
  "refuses-leap-day": unreadable("dob", (dob) => dob.startsWith("29-02")),
  "refuses-leap-2000": unreadable("dob", (dob) => dob === "29-02-2000"),
  "refuses-day-31": unreadable("dob", (dob) => dob.startsWith("31-")),
  "refuses-december": unreadable("dob", (dob) => dob.slice(3, 5) === "12"),
  "refuses-day-above-12": unreadable("dob", (dob) => Number(dob.slice(0, 2)) > 12),
  "refuses-before-1970": unreadable("dob", (dob) => Number(dob.slice(6)) < 1970),
  "refuses-apostrophe": unreadable("name", (name) => name.includes("'")),
  "refuses-hyphen": unreadable("name", (name) => name.includes("-")),
  "refuses-accents": unreadable("name", (name) => ascii.test(name)),
  "refuses-middle-names": unreadable("name", (name) => name.split(" ").length > 3),
  "refuses-key-order": Change.reads((found, { body }) => /^\s*\{\s*"entity_type"/.test(body) ? found : undefined)
}
