/** Servers whose credentials are not those of section 2.3. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Breaks from "./breaks.ts"
import * as Parts from "./parts.ts"
import { type Answer, type Mutant, of } from "./wire.ts"

const answers = (...changes: ReadonlyArray<Breaks.Change>) => Breaks.changing(Breaks.answered, ...changes)

const top = (name: string, change: (value: unknown) => unknown) => answers(Breaks.field(name, change))

const attribute = (name: string, change: (text: string) => unknown) =>
  answers(Breaks.fieldText(`credentials.attributes.${name}`, change))

const missing = () => undefined

const wordsOf = (name: string): ReadonlyArray<string> => name.split(" ")

const matchOf = (answer: Answer): string => /"match_found":"([^"]*)"/.exec(Parts.textOf(answer))?.[1] ?? ""

/** The changes apply to credentials that say this. */
const whereFound = (matchFound: string, ...changes: ReadonlyArray<Breaks.Change>) =>
  Breaks.changing((request, answer) => Breaks.answered(request, answer) && matchOf(answer) === matchFound, ...changes)

/** The changes apply to the credentials of those whose name ends so. */
const whereNamed = (word: string, ...changes: ReadonlyArray<Breaks.Change>) =>
  Breaks.changing(
    (request, answer) => Breaks.answered(request, answer) && String(Parts.fieldOf(request, "name")).endsWith(word),
    ...changes
  )

const profile = (change: (url: string) => unknown) => Breaks.fieldText("credentials.attributes.aml_profile", change)

const year = (change: (year: string) => unknown) => Breaks.fieldText("credentials.attributes.birth_year", change)

const bornOn = (day: string): typeof Breaks.answered => (request, answer) =>
  Breaks.answered(request, answer) && String(Parts.fieldOf(request, "dob")).startsWith(day)

const match = (change: (text: string) => unknown) => Breaks.fieldText("credentials.attributes.match_found", change)

const opposite = (text: string): string => text === "No" ? "Potential match" : "No"

/** `YYYY-MM-DD HH:MM:SS`, written by `change` from its date and its time. */
const searchedOn = (change: (date: string, time: string, text: string) => unknown) =>
  attribute("searched_on", (text) => {
    const [date = "", time = ""] = text.split(" ")
    return change(date, time, text)
  })

const later = (text: string, hours: number): string =>
  new Date(Date.parse(`${text.replace(" ", "T")}Z`) + hours * 3_600_000).toISOString().slice(0, 19).replace("T", " ")

const flattened = (credential: unknown): unknown =>
  Predicate.isRecord(credential) && Predicate.isRecord(credential["credentials"])
    ? { ...credential, credentials: credential["credentials"]["attributes"] }
    : credential

/** The first credential of the server, for whoever comes after. */
const cached = Breaks.remembering(
  (): { first?: Answer } => ({}),
  (kept) => (request, serve) =>
    Effect.map(serve(request), (answer) => {
      if (!Breaks.answered(request, answer)) return answer
      kept.first ??= answer
      return kept.first
    })
)

/** The second of two same requests, one right after the other. */
const otherwise = Breaks.remembering(
  (): { last?: string } => ({}),
  (kept) => (request, serve) =>
    Effect.map(serve(request), (answer) => {
      if (!Breaks.answered(request, answer)) return answer
      const asked = Parts.textOf(request)
      const isAgain = kept.last === asked
      kept.last = isAgain ? "" : asked
      return isAgain ? match(opposite)(answer, request) : answer
    })
)

const pages = (...changes: ReadonlyArray<Breaks.Change>) => Breaks.changing(Parts.isProfile, ...changes)

export const mutants: ReadonlyArray<Mutant> = [
  of("aml.success.status", [
    ["201", "answers a check with 201", answers(Breaks.status(201))],
    ["202", "answers a check with 202", answers(Breaks.status(202))]
  ]),
  of("aml.answer.content-type", [
    ["text", "sends the credential as plain text", answers(Breaks.header("content-type", "text/plain"))],
    [
      "other-json",
      "sends the credential as another JSON type",
      answers(Breaks.header("content-type", "application/ld+json"))
    ]
  ]),
  of("aml.answer.credential", [
    [
      "truncated",
      "sends half of the credential",
      answers(Breaks.bytes((bytes) => bytes.subarray(0, bytes.length / 2)))
    ],
    ["html", "answers a check with a page", answers(Breaks.page)],
    ["empty", "answers a check with nothing", answers(Breaks.empty)],
    ["array", "puts the credential into an array", answers(Breaks.json((credential) => [credential]))],
    [
      "text",
      "sends the credential as JSON in a JSON text",
      answers(Breaks.json((credential) => JSON.stringify(credential)))
    ]
  ]),
  of("aml.answer.credential-type", [
    ["upper-case", "says the credential_type in upper case", top("credential_type", () => "AML")],
    ["missing", "leaves out credential_type", top("credential_type", missing)]
  ]),
  of("aml.answer.credential-name", [
    ["lower-case", "says the credential_name in lower case", top("credential_name", () => "aml")],
    ["missing", "leaves out credential_name", top("credential_name", missing)]
  ]),
  of("aml.answer.issued-by", [
    ["number", "says issued_by as a number", top("issued_by", () => 7)],
    ["missing", "leaves out issued_by", top("issued_by", missing)],
    ["null", "says null for issued_by", top("issued_by", () => null)]
  ]),
  of("aml.answer.issuer-id", [
    ["no-uuid", "has an issuer_id that is no UUID", top("issuer_id", () => "issuer-1")],
    ["missing", "leaves out issuer_id", top("issuer_id", missing)],
    ["bare", "leaves the hyphens out of issuer_id", top("issuer_id", (id) => String(id).replaceAll("-", ""))]
  ]),
  of("aml.answer.cred-version", [
    ["major-only", "says cred_version as 1", top("cred_version", () => "1")],
    ["number", "says cred_version as a number", top("cred_version", () => 1)],
    ["three-parts", "says cred_version as 1.0.0", top("cred_version", () => "1.0.0")],
    ["missing", "leaves out cred_version", top("cred_version", missing)]
  ]),
  of("aml.cred-version", [
    ["1-7", "says that the credential has version 1.7", top("cred_version", () => "1.7")],
    ["2-0", "says that the credential has version 2.0", top("cred_version", () => "2.0")]
  ]),
  of("aml.answer.attributes", [
    ["in-data", "puts the whole credential into data", answers(Breaks.json((data) => ({ data })))],
    ["missing", "leaves out the attributes", answers(Breaks.field("credentials.attributes", missing))],
    ["array", "puts the attributes into an array", answers(Breaks.field("credentials.attributes", (all) => [all]))],
    ["flat", "puts the attributes into credentials itself", answers(Breaks.json(flattened))],
    [
      "text",
      "sends the attributes as JSON in a JSON text",
      answers(Breaks.field("credentials.attributes", (all) => JSON.stringify(all)))
    ]
  ]),
  of("aml.answer.name", [
    ["somebody-else", "answers with the name of somebody else", attribute("name", () => "Grace Hopper")],
    ["first-person", "answers everybody with the credential of the first person", cached],
    [
      "no-middle-names",
      "leaves out middle names",
      attribute("name", (name) => `${wordsOf(name)[0]} ${wordsOf(name).at(-1)}`)
    ],
    ["missing", "leaves out the name", attribute("name", missing)],
    ["null", "says null for the name", attribute("name", () => null)]
  ]),
  of("aml.name.echo", [
    ["upper-case", "repeats the name in upper case", attribute("name", (name) => name.toUpperCase())],
    ["nfd", "repeats the name with its accents apart", attribute("name", (name) => name.normalize("NFD"))],
    ["blanks", "repeats the name with more blanks", attribute("name", (name) => ` ${wordsOf(name).join("  ")} `)],
    [
      "reordered",
      "repeats the name with the last word first",
      attribute("name", (name) => `${wordsOf(name).at(-1)?.toUpperCase()}, ${wordsOf(name).slice(0, -1).join(" ")}`)
    ]
  ]),
  of("aml.answer.birth-year", [
    [
      "somebody-else",
      "answers with another year of birth",
      attribute("birth_year", (year) => String(Number(year) - 1))
    ],
    [
      "first-person",
      "answers with another year of birth for those of the first of February",
      Breaks.changing(bornOn("01-02"), year((year) => String(Number(year) - 1)))
    ],
    [
      "leap-day",
      "answers with the next year for those of the 29th of February",
      Breaks.changing(bornOn("29-02"), year((year) => String(Number(year) + 1)))
    ],
    ["two-digits", "says the year of birth in two digits", attribute("birth_year", (year) => year.slice(2))],
    ["number", "says the year of birth as a number", attribute("birth_year", Number)],
    ["date", "says a date of birth for the year", attribute("birth_year", (year) => `${year}-01-01`)],
    ["missing", "leaves out the year of birth", attribute("birth_year", missing)]
  ]),
  of("aml.answer.searched-on", [
    ["t", "writes searched_on with a T", searchedOn((date, time) => `${date}T${time}`)],
    ["zone", "writes searched_on with a zone", searchedOn((date, time) => `${date} ${time}Z`)],
    ["date-only", "writes searched_on without its time", searchedOn((date) => date)],
    [
      "day-first",
      "writes searched_on with the day first",
      searchedOn((date, time) => `${date.split("-").reverse().join("-")} ${time}`)
    ],
    [
      "no-day",
      "writes searched_on on a day that does not exist",
      searchedOn((date, time) => `${date.slice(0, 4)}-02-31 ${time}`)
    ],
    ["fraction", "writes searched_on with milliseconds", searchedOn((_date, _time, text) => `${text}.000`)],
    ["number", "writes searched_on as a number", searchedOn((date) => Date.parse(date))],
    ["missing", "leaves out searched_on", searchedOn(missing)]
  ]),
  of("aml.searched-on.zone", [
    ["ahead", "writes searched_on two hours ahead of UTC", searchedOn((_date, _time, text) => later(text, 2))],
    ["behind", "writes searched_on five hours behind UTC", searchedOn((_date, _time, text) => later(text, -5))]
  ]),
  of("aml.answer.match-found", [
    ["lower-case", "writes match_found in lower case", answers(match((text) => text.toLowerCase()))],
    ["upper-case", "writes match_found in upper case", answers(match((text) => text.toUpperCase()))],
    ["capitals", "writes Potential Match", answers(match((text) => text.replace("match", "Match")))],
    ["blank", "writes match_found with a blank before it", answers(match((text) => ` ${text}`))],
    ["none", "writes None for No", answers(match((text) => text === "No" ? "None" : text))],
    ["match", "writes Match for Potential match", answers(match((text) => text === "No" ? text : "Match"))],
    ["boolean", "says match_found as true or false", answers(match((text) => text !== "No"))],
    ["null", "says null for No", answers(match((text) => text === "No" ? null : text))],
    ["missing", "leaves out match_found where it is No", answers(match((text) => text === "No" ? undefined : text))],
    [
      "missing-match",
      "leaves out match_found where it is not No",
      answers(match((text) => text === "No" ? text : undefined))
    ],
    ["array", "puts match_found into an array", answers(match((text) => [text]))],
    ["exposed", "writes PEP for a person of the list of PEPs", whereNamed("Testpep", match(() => "PEP"))],
    ["sanctioned", "writes Sanction for a person under sanctions", whereNamed("Testsanc", match(() => "Sanction"))]
  ]),
  of("aml.match.subjects", [
    ["never", "says No for a person on a list", answers(match(() => "No"))],
    ["always", "says Potential match for everybody", answers(match(() => "Potential match"))],
    ["exposed", "says No for a person of the list of PEPs", whereNamed("Testpep", match(() => "No"))],
    ["sanctioned", "says No for a person under sanctions", whereNamed("Testsanc", match(() => "No"))],
    ["opposite", "says No for Potential match, and the other way round", answers(match(opposite))]
  ]),
  of("aml.match.again", [
    ["different", "finds the opposite when it is asked again", otherwise]
  ]),
  of("aml.answer.aml-profile", [
    ["missing-no", "leaves out aml_profile for No", whereFound("No", profile(missing))],
    ["missing-match", "leaves out aml_profile for Potential match", whereFound("Potential match", profile(missing))],
    [
      "missing-exposed",
      "leaves out aml_profile for a person of the list of PEPs",
      whereNamed("Testpep", profile(missing))
    ],
    [
      "missing-sanctioned",
      "leaves out aml_profile for a person under sanctions",
      whereNamed("Testsanc", profile(missing))
    ],
    ["relative", "has an aml_profile without its host", answers(profile((url) => new URL(url).pathname))],
    ["no-scheme", "has an aml_profile without its scheme", answers(profile((url) => url.replace("http://", "")))],
    ["no-url", "has an aml_profile that is no URL", answers(profile(() => "not available"))],
    ["empty", "has an empty aml_profile for No", whereFound("No", profile(() => ""))],
    ["null", "says null for aml_profile", answers(profile(() => null))],
    ["object", "puts the URL of aml_profile into an object", answers(profile((href) => ({ href })))]
  ]),
  of("aml.profile.page", [
    ["not-found", "has no page at aml_profile", pages(Breaks.status(404))],
    ["json", "has JSON at aml_profile", pages(Breaks.text("application/json", () => "{}"))]
  ]),
  of("aml.credential.extra-fields", [
    ["top", "adds a field to the credential", answers(Breaks.field("valid_until", () => null))],
    ["credentials", "adds a field beside the attributes", answers(Breaks.field("credentials.format", () => "json"))],
    [
      "attributes",
      "adds a field to the attributes",
      answers(Breaks.field("credentials.attributes.is_final", () => true))
    ]
  ])
].flat()
