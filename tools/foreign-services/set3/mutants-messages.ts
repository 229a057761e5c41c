// Fields and values of the AML credential.
import { randomUUID } from "node:crypto"
import { area, type Mutant } from "./define.ts"
import { S } from "./doc.ts"
import type { Strict } from "./strict.ts"

const r = area("AML credential")
const top = (id: string, sentence: string, what: string, change: (c: any) => any) =>
  r(id, sentence, what, (s) => {
    const was = s.credential.bind(s)
    s.credential = (p, z, q) => {
      const c = was(p, z, q)
      return change(c) ?? c
    }
  })
const inner = (id: string, sentence: string, what: string, change: (a: any, dob: string, s: Strict) => void) =>
  r(id, sentence, what, (s) => {
    const was = s.attributes.bind(s)
    s.attributes = (p, z, q) => {
      const a = was(p, z, q)
      change(a, p.dob, s)
      return a
    }
  })
const verdict = (id: string, what: string, yes: any, no: any) =>
  r(id, S.match, what, (s) => {
    s.verdict = (p) => s.listed(p.name) ? yes : no
  })
const time = (id: string, what: string, f: (d: Date, iso: string) => any) =>
  r(id, S.time, what, (s) => {
    s.stamp = (at) => f(new Date(at), new Date(at).toISOString())
  })
const two = (v: number) => String(v).padStart(2, "0")
const plain = (iso: string) => iso.slice(0, 19).replace("T", " ")
/** The year that an ISO week belongs to: the letter Y of a Java pattern. */
const weekYear = (t: number) => {
  const d = new Date(t)
  d.setUTCDate(d.getUTCDate() + 4 - (d.getUTCDay() || 7))
  return d.getUTCFullYear()
}
const days = (dob: string) => Date.UTC(Number(dob.slice(6)), Number(dob.slice(3, 5)) - 1, Number(dob.slice(0, 2)))

export const messages: ReadonlyArray<Mutant> = [
  top("r-type-upper", S.type, "credential_type is AML", (c) => void (c.credential_type = "AML")),
  top("r-type-long", S.type, "credential_type is aml_check", (c) => void (c.credential_type = "aml_check")),
  top("r-type-absent", S.type, "credential_type is missing", (c) => void delete c.credential_type),
  top("r-name-lower", S.cname, "credential_name is aml", (c) => void (c.credential_name = "aml")),
  top("r-name-long", S.cname, "credential_name is AML Screening", (c) => void (c.credential_name = "AML Screening")),
  top("r-name-absent", S.cname, "credential_name is missing", (c) => void delete c.credential_name),
  top("r-by-null", S.issuedBy, "issued_by is null", (c) => void (c.issued_by = null)),
  top("r-by-object", S.issuedBy, "issued_by is an object with a name", (c) => void (c.issued_by = { name: c.issued_by })),
  top("r-by-absent", S.issuedBy, "issued_by is missing", (c) => void delete c.issued_by),
  top("r-id-hex", S.issuerId, "issuer_id has no hyphens", (c) => void (c.issuer_id = c.issuer_id.replace(/-/g, ""))),
  top("r-id-braces", S.issuerId, "issuer_id is in braces (.NET's format B)", (c) => void (c.issuer_id = `{${c.issuer_id}}`)),
  top("r-id-urn", S.issuerId, "issuer_id is urn:uuid:...", (c) => void (c.issuer_id = "urn:uuid:" + c.issuer_id)),
  top("r-id-did", S.issuerId, "issuer_id is a DID", (c) => void (c.issuer_id = "did:web:idv.example.test")),
  top("r-id-short", S.issuerId, "issuer_id lost a leading zero", (c) => void (c.issuer_id = c.issuer_id.slice(1))),
  top("r-id-number", S.issuerId, "issuer_id is the number of the row", (c) => void (c.issuer_id = 17)),
  top("r-id-fresh", S.issuerId, "issuer_id is a new UUID for every credential", (c) => void (c.issuer_id = randomUUID())),
  top("r-id-absent", S.issuerId, "issuer_id is missing", (c) => void delete c.issuer_id),
  top("r-version-major", S.version, "cred_version is 1", (c) => void (c.cred_version = "1")),
  top("r-version-number", S.version, "cred_version is a number", (c) => void (c.cred_version = 1.5)),
  top("r-version-three", S.version, "cred_version is 1.0.0", (c) => void (c.cred_version = "1.0.0")),
  top("r-version-v", S.version, "cred_version is v1.0", (c) => void (c.cred_version = "v1.0")),
  top("r-version-comma", S.version, "cred_version is 1,0 (formatted in the server's locale)", (c) => void (c.cred_version = "1,0")),
  top("r-version-suffix", S.version, "cred_version is 1.0-SNAPSHOT", (c) => void (c.cred_version = "1.0-SNAPSHOT")),
  top("r-version-absent", S.version, "cred_version is missing", (c) => void delete c.cred_version),
  top("r-creds-array", S.creds, "credentials is an array of one", (c) => void (c.credentials = [c.credentials])),
  top("r-creds-string", S.creds, "credentials is a string of JSON", (c) => void (c.credentials = JSON.stringify(c.credentials))),
  top("r-creds-absent", S.creds, "attributes is at the top", (c) => ({ ...c, ...c.credentials, credentials: undefined })),
  top("r-attrs-string", S.attrs, "attributes is a string of JSON", (c) => void (c.credentials.attributes = JSON.stringify(c.credentials.attributes))),
  top("r-attrs-flat", S.attrs, "the attributes are in credentials itself", (c) => void (c.credentials = c.credentials.attributes)),
  top("r-attrs-pairs", S.attrs, "attributes is a list of names and values", (c) =>
    void (c.credentials.attributes = Object.entries(c.credentials.attributes).map(([name, value]) => ({ name, value })))),
  top("r-wrapped", S.answer, "the credential is inside data", (c) => ({ data: c })),
  top("r-list", S.answer, "the answer is a list of one credential", (c) => [c]),
  top("r-camel", S.answer, "fields are in camel case", (c) =>
    JSON.parse(JSON.stringify(c).replace(/"([a-z]+)_([a-z]+)":/g, (_, a, b) => `"${a}${b[0].toUpperCase()}${b.slice(1)}":`))),
  r("r-twice", S.answer, "the answer is encoded twice: a string of JSON", (s) => {
    s.text = (v) => JSON.stringify(JSON.stringify(v))
  }),

  verdict("r-match-title", "Potential Match, with a capital", "Potential Match", "No"),
  verdict("r-match-lower", "no, without a capital", "Potential match", "no"),
  verdict("r-match-bool", "true and false", true, false),
  verdict("r-match-yes", "Yes for a potential match", "Yes", "No"),
  verdict("r-match-no-match", "No match for no match", "Potential match", "No match"),
  verdict("r-match-code", "the name of the constant: POTENTIAL_MATCH", "POTENTIAL_MATCH", "No"),
  verdict("r-match-space", "a CHAR column pads No with spaces", "Potential match", "No             "),
  verdict("r-match-plural", "Potential matches", "Potential matches", "No"),
  verdict("r-match-null", "null for no match", "Potential match", null),
  verdict("r-match-absent", "no field for no match", "Potential match", undefined),
  verdict("r-match-count", "the number of matches", 1, 0),
  r("r-match-full", S.rule1, "a certain match is Match", (s) => {
    const was = s.verdict.bind(s)
    s.verdict = (p) => s.listed(p.name) && p.name.length % 2 ? "Match" : was(p)
  }),
  r("r-match-unknown-script", S.rule1, "names in other letters than Latin are Not screened", (s) => {
    const was = s.verdict.bind(s)
    s.verdict = (p) => /[^\u0000-\u024f]/.test(p.name) ? "Not screened" : was(p)
  }),
  r("r-match-absent-old", S.states, "for a person born before 1930 the verdict is left out", (s) => {
    const was = s.verdict.bind(s)
    s.verdict = (p) => Number(p.dob.slice(6)) < 1930 ? undefined : was(p)
  }),

  inner("r-profile-no", S.rule2, "no aml_profile if nothing was found", (a) => a.match_found === "No" && delete a.aml_profile),
  inner("r-profile-null", S.rule2, "aml_profile is null if nothing was found", (a) => a.match_found === "No" && (a.aml_profile = null)),
  inner("r-profile-empty", S.rule2, "aml_profile is empty if nothing was found", (a) => a.match_found === "No" && (a.aml_profile = "")),
  inner("r-profile-match", S.rule2, "aml_profile of a potential match is left out for data protection", (a) => a.match_found !== "No" && delete a.aml_profile),
  inner("r-profile-relative", S.profile, "aml_profile is a path", (a) => (a.aml_profile = "/profiles/" + a.birth_year)),
  inner("r-profile-na", S.profile, "aml_profile is N/A if nothing was found", (a) => a.match_found === "No" && (a.aml_profile = "N/A")),
  inner("r-profile-object", S.profile, "aml_profile is an object with href", (a) => (a.aml_profile = { href: a.aml_profile })),
  inner("r-profile-undefined", S.profile, "aml_profile is undefined/profiles/..., the address was not configured", (a) => (a.aml_profile = "undefined/profiles/1")),
  inner("r-profile-schemeless", S.profile, "aml_profile is without https:", (a) => (a.aml_profile = a.aml_profile.replace("https://", ""))),
  inner("r-profile-raw", S.profile, "the name is put into aml_profile as it is, spaces and all", (a) => (a.aml_profile = "https://aml.example.test/p/" + a.name)),
  inner("r-profile-list", S.profile, "aml_profile is a list of addresses", (a) => (a.aml_profile = [a.aml_profile])),
  inner("r-profile-id", S.profile, "aml_profile is the bare identifier", (a) => (a.aml_profile = a.aml_profile.split("/").pop())),

  inner("r-attr-name-absent", S.rName, "name is missing", (a) => delete a.name),
  inner("r-attr-name-split", S.rName, "first_name and last_name instead of name", (a) => {
    a.first_name = a.name.split(" ")[0]
    a.last_name = a.name.split(" ").at(-1)
    delete a.name
  }),
  inner("r-year-absent", S.year, "birth_year is missing", (a) => delete a.birth_year),
  inner("r-year-number", S.year, "birth_year is a number", (a) => (a.birth_year = Number(a.birth_year))),
  inner("r-year-two", S.year, "birth_year has two digits", (a) => (a.birth_year = a.birth_year.slice(2))),
  inner("r-year-dob", S.year, "birth_year is the whole date", (a, dob) => (a.birth_year = dob)),
  inner("r-year-first", S.year, "birth_year is the first four digits of the date", (a, dob) => (a.birth_year = dob.replace(/-/g, "").slice(0, 4))),
  inner("r-year-east", S.year, "local midnight in UTC: who was born on 1 January was born the year before", (a, dob) =>
    dob.startsWith("01-01") && (a.birth_year = String(Number(a.birth_year) - 1))),
  inner("r-year-west", S.year, "rounded to the next day: who was born on 31 December was born the year after", (a, dob) =>
    dob.startsWith("31-12") && (a.birth_year = String(Number(a.birth_year) + 1))),
  inner("r-year-week", S.year, "YYYY for yyyy: the year of the week, wrong around New Year", (a, dob) => (a.birth_year = String(weekYear(days(dob))))),
  inner("r-year-pivot", S.year, "the year passes through two digits: 1929 becomes 2029", (a) => {
    const y = Number(a.birth_year.slice(2))
    a.birth_year = String(y < 30 ? 2000 + y : 1900 + y)
  }),
  inner("r-year-1900", S.year, "getYear() + 1900 applied to years of this century: 19100", (a) => Number(a.birth_year) >= 2000 && (a.birth_year = "19" + (Number(a.birth_year) - 1900))),
  inner("r-year-now", S.year, "for 29 February the date does not parse and the year is this one", (a, dob, s) =>
    dob.startsWith("29-02") && (a.birth_year = new Date(s.now()).toISOString().slice(0, 4))),

  time("r-time-t", "a T between date and time", (_, iso) => iso.slice(0, 19)),
  time("r-time-z", "a Z at the end", (_, iso) => plain(iso) + "Z"),
  time("r-time-offset", "+00:00 at the end", (_, iso) => plain(iso) + "+00:00"),
  time("r-time-utc", "UTC at the end", (_, iso) => plain(iso) + " UTC"),
  time("r-time-millis", "milliseconds at the end", (_, iso) => iso.slice(0, 23).replace("T", " ")),
  time("r-time-micros", "microseconds unless they are zero (Python's str(datetime))", (d, iso) => d.getTime() % 1000 ? iso.slice(0, 23).replace("T", " ") + "000" : plain(iso)),
  time("r-time-date", "only the date", (_, iso) => iso.slice(0, 10)),
  time("r-time-minutes", "no seconds", (_, iso) => plain(iso).slice(0, 16)),
  time("r-time-dmy", "dd-mm-yyyy, as dob", (_, iso) => `${iso.slice(8, 10)}-${iso.slice(5, 7)}-${iso.slice(0, 4)} ${iso.slice(11, 19)}`),
  time("r-time-slash", "slashes in the date", (_, iso) => plain(iso).replace(/-/g, "/")),
  time("r-time-epoch", "a number of seconds", (d) => Math.floor(d.getTime() / 1000)),
  time("r-time-12", "hh for HH: the hours after noon start again at 01", (d, iso) => plain(iso).replace(/ \d\d/, " " + two(d.getUTCHours() % 12 || 12))),
  time("r-time-24", "midnight is 24 (hour12: false in a browser's locale)", (_, iso) => plain(iso).replace(" 00:", " 24:")),
  time("r-time-month", "getMonth(): the month is one too low, January is 00", (d, iso) => `${iso.slice(0, 4)}-${two(d.getUTCMonth())}-${plain(iso).slice(8)}`),
  time("r-time-mm", "mm for MM: the minutes stand in the place of the month", (d, iso) => `${iso.slice(0, 4)}-${two(d.getUTCMinutes())}-${plain(iso).slice(8)}`),
  time("r-time-mm-back", "MM for mm: the month stands in the place of the minutes", (d, iso) => plain(iso).replace(/:\d\d:/, `:${two(d.getUTCMonth() + 1)}:`)),
  time("r-time-day", "DD for dd: the day of the year", (d, iso) =>
    `${iso.slice(0, 8)}${two(Math.floor((d.getTime() - Date.UTC(d.getUTCFullYear(), 0, 0)) / 86_400_000))} ${iso.slice(11, 19)}`),
  time("r-time-week", "YYYY for yyyy: the year of the week, wrong around New Year", (d, iso) => weekYear(d.getTime()) + plain(iso).slice(4)),
  time("r-time-pad", "parts are not padded with zeros", (_, iso) => plain(iso).replace(/([- :])0(?=\d)/g, "$1")),
  time("r-time-am", "12 hours and AM or PM", (d, iso) => plain(iso).replace(/ \d\d/, " " + two(d.getUTCHours() % 12 || 12)) + (d.getUTCHours() < 12 ? " AM" : " PM")),
  time("r-time-null", "searched_on is null", () => null),
  r("r-time-token", S.time, "searched_on is when the token was requested", (s) => {
    const was = s.stamp.bind(s)
    s.stamp = (_, z) => was(z.born, z)
  }),
  r("r-time-start", S.time, "searched_on is when the process started", (s) => {
    const was = s.stamp.bind(s)
    s.stamp = (_, z) => was(s.started, z)
  }),
  r("r-time-day-start", S.time, "the date is kept from the first check of the process, only the time of day moves", (s) => {
    const was = s.stamp.bind(s)
    s.stamp = (at, z) => (s.memo.date ??= was(at, z).slice(0, 10)) + was(at, z).slice(10)
  }),
  r("r-time-list", S.time, "searched_on is when the lists were last loaded, at most a day ago", (s) => {
    s.stamp = (at) => new Date(at).toISOString().slice(0, 10) + " 00:00:00"
  }),
  r("r-time-absent", S.time, "searched_on is missing", (s) => {
    s.stamp = () => undefined
  })
]
