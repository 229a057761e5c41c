/** Servers whose credentials differ from section 2.3. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { randomUUID } from "node:crypto"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Response } from "./model.ts"

const changeCredential = (...changes: ReadonlyArray<Changes.Change>) =>
  Changes.changeResponse(Changes.isCredential, ...changes)

const top = (name: string, change: (value: unknown) => unknown) => changeCredential(Changes.field(name, change))

const attribute = (name: string, change: (text: string) => unknown) =>
  changeCredential(Changes.fieldText(`credentials.attributes.${name}`, change))

const missing = () => undefined

const wordsOf = (name: string): ReadonlyArray<string> => name.split(" ")

const matchOf = (response: Response): string => /"match_found":"([^"]*)"/.exec(Messages.textOf(response))?.[1] ?? ""

/** Changes credentials with this result. */
const withResult = (matchFound: string, ...changes: ReadonlyArray<Changes.Change>) =>
  Changes.changeResponse(
    (request, response) => Changes.isCredential(request, response) && matchOf(response) === matchFound,
    ...changes
  )

/** Changes the credentials of people whose name ends with this word. */
const ofPeopleNamed = (word: string, ...changes: ReadonlyArray<Changes.Change>) =>
  Changes.changeResponse(
    (request, response) =>
      Changes.isCredential(request, response) && String(Messages.fieldOf(request, "name")).endsWith(word),
    ...changes
  )

const profile = (change: (url: string) => unknown) => Changes.fieldText("credentials.attributes.aml_profile", change)

const year = (change: (year: string) => unknown) => Changes.fieldText("credentials.attributes.birth_year", change)

const bornOn = (day: string): Changes.Where => (request, response) =>
  Changes.isCredential(request, response) && String(Messages.fieldOf(request, "dob")).startsWith(day)

const match = (change: (text: string) => unknown) => Changes.fieldText("credentials.attributes.match_found", change)

const opposite = (text: string): string => text === "No" ? "Potential match" : "No"

/** Rewrites `YYYY-MM-DD HH:MM:SS` from its date and its time. */
const searchedOn = (change: (date: string, time: string, text: string) => unknown) =>
  attribute("searched_on", (text) => {
    const [date = "", time = ""] = text.split(" ")
    return change(date, time, text)
  })

const latin1 = (bytes: Uint8Array): Uint8Array => Buffer.from(Buffer.from(bytes).toString("utf8"), "latin1")

const withMark = (bytes: Uint8Array): Uint8Array => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])

const flattened = (credential: unknown): unknown =>
  Predicate.isRecord(credential) && Predicate.isRecord(credential["credentials"])
    ? { ...credential, credentials: credential["credentials"]["attributes"] }
    : credential

/** Sends the first credential of the server to everybody. */
const sendFirst = Changes.withState(
  (): { first?: Response } => ({}),
  (state) => (request, serve) =>
    Effect.map(serve(request), (response) => {
      if (!Changes.isCredential(request, response)) return response
      state.first ??= response
      return state.first
    })
)

/** Sends the opposite result if a request repeats the one before. */
const changeRepeated = Changes.withState(
  (): { last?: string } => ({}),
  (state) => (request, serve) =>
    Effect.map(serve(request), (response) => {
      if (!Changes.isCredential(request, response)) return response
      const body = Messages.textOf(request)
      const isRepeated = state.last === body
      state.last = isRepeated ? "" : body
      return isRepeated ? match(opposite)(response, request) : response
    })
)

/** Sends the opposite result if the search is not in the month of the first one. */
const changeInAnotherMonth = Changes.withState(
  (): { month?: string } => ({}),
  (state) => (request, serve) =>
    Effect.map(serve(request), (response) => {
      if (!Changes.isCredential(request, response)) return response
      const month = /"searched_on":"(\d{4}-\d{2})/.exec(Messages.textOf(response))?.[1] ?? ""
      state.month ??= month
      return state.month === month ? response : match(opposite)(response, request)
    })
)

const pages = (...changes: ReadonlyArray<Changes.Change>) => Changes.changeResponse(Messages.isProfile, ...changes)

export const mutants: ReadonlyArray<Mutant> = [
  of("aml.success.status", [
    ["202", "responds to a check with 202", changeCredential(Changes.status(202))]
  ]),
  of("aml.answer.content-type", [
    ["text", "sends the credential as plain text", changeCredential(Changes.header("content-type", "text/plain"))],
    [
      "other-json",
      "sends the credential as another JSON type",
      changeCredential(Changes.header("content-type", "application/ld+json"))
    ]
  ]),
  of("aml.answer.encoding", [
    ["latin1", "sends the credential in ISO-8859-1", changeCredential(Changes.bytes(latin1))],
    ["mark", "puts a byte order mark before the credential", changeCredential(Changes.bytes(withMark))],
    [
      "charset",
      "states a charset other than UTF-8",
      changeCredential(Changes.header("content-type", "application/json; charset=ISO-8859-1"))
    ]
  ]),
  of("aml.answer.credential", [
    [
      "truncated",
      "sends half of the credential",
      changeCredential(Changes.bytes((bytes) => bytes.subarray(0, bytes.length / 2)))
    ],
    ["html", "responds to a check with an HTML page", changeCredential(Changes.page)],
    ["empty", "responds to a check with an empty body", changeCredential(Changes.empty)],
    ["array", "puts the credential into an array", changeCredential(Changes.json((credential) => [credential]))],
    [
      "text",
      "sends the credential as JSON in a JSON string",
      changeCredential(Changes.json((credential) => JSON.stringify(credential)))
    ]
  ]),
  of("aml.answer.credential-type", [
    ["upper-case", "sends credential_type in upper case", top("credential_type", () => "AML")],
    ["missing", "omits credential_type", top("credential_type", missing)]
  ]),
  of("aml.answer.credential-name", [
    ["lower-case", "sends credential_name in lower case", top("credential_name", () => "aml")],
    ["missing", "omits credential_name", top("credential_name", missing)]
  ]),
  of("aml.answer.issued-by", [
    ["number", "sends issued_by as a number", top("issued_by", () => 7)],
    ["missing", "omits issued_by", top("issued_by", missing)],
    ["null", "sends null for issued_by", top("issued_by", () => null)]
  ]),
  of("aml.issued-by.text", [["blank", "sends an empty issued_by", top("issued_by", () => "")]]),
  of("aml.answer.issuer-id", [
    ["no-uuid", "has an issuer_id that is not a UUID", top("issuer_id", () => "issuer-1")],
    ["missing", "omits issuer_id", top("issuer_id", missing)],
    ["bare", "leaves the hyphens out of issuer_id", top("issuer_id", (id) => String(id).replaceAll("-", ""))]
  ]),
  of("aml.answer.cred-version", [
    ["major-only", "sends cred_version as 1", top("cred_version", () => "1")],
    ["number", "sends cred_version as a number", top("cred_version", () => 1)],
    ["three-parts", "sends cred_version as 1.0.0", top("cred_version", () => "1.0.0")],
    ["missing", "omits cred_version", top("cred_version", missing)]
  ]),
  of("aml.answer.attributes", [
    ["in-data", "puts the whole credential into data", changeCredential(Changes.json((data) => ({ data })))],
    ["missing", "omits the attributes", changeCredential(Changes.field("credentials.attributes", missing))],
    [
      "array",
      "puts the attributes into an array",
      changeCredential(Changes.field("credentials.attributes", (all) => [all]))
    ],
    ["flat", "puts the attributes into credentials itself", changeCredential(Changes.json(flattened))],
    [
      "text",
      "sends the attributes as JSON in a JSON string",
      changeCredential(Changes.field("credentials.attributes", (all) => JSON.stringify(all)))
    ]
  ]),
  of("aml.answer.name", [
    ["somebody-else", "sends the name of another person", attribute("name", () => "Grace Hopper")],
    ["first-person", "sends the credential of the first person for everybody", sendFirst],
    [
      "no-middle-names",
      "omits middle names",
      attribute("name", (name) => `${wordsOf(name)[0]} ${wordsOf(name).at(-1)}`)
    ],
    ["missing", "omits the name", attribute("name", missing)],
    ["null", "sends null for the name", attribute("name", () => null)]
  ]),
  of("aml.answer.birth-year", [
    [
      "somebody-else",
      "sends another year of birth",
      attribute("birth_year", (year) => String(Number(year) - 1))
    ],
    [
      "first-person",
      "sends another year of birth for people born on the first of February",
      Changes.changeResponse(bornOn("01-02"), year((year) => String(Number(year) - 1)))
    ],
    [
      "leap-day",
      "sends the next year for people born on the 29th of February",
      Changes.changeResponse(bornOn("29-02"), year((year) => String(Number(year) + 1)))
    ],
    ["two-digits", "sends the year of birth in two digits", attribute("birth_year", (year) => year.slice(2))],
    ["number", "sends the year of birth as a number", attribute("birth_year", Number)],
    ["date", "sends a date instead of the year of birth", attribute("birth_year", (year) => `${year}-01-01`)],
    ["missing", "omits the year of birth", attribute("birth_year", missing)]
  ]),
  of("aml.answer.every", [
    [
      "marks",
      "writes a name without its marks",
      attribute("name", (name) => name.normalize("NFD").replaceAll(/\p{M}/gu, ""))
    ],
    ["listed", "omits aml_profile for Potential match", withResult("Potential match", profile(missing))]
  ]),
  of("aml.answer.issuer", [
    ["random", "has another issuer_id in every credential", top("issuer_id", () => randomUUID())]
  ]),
  of("aml.answer.searched-on.time", [
    ["constant", "sends the same searched_on for every search", searchedOn(() => "2020-02-02 02:02:02")],
    ["noon", "sends noon as the time of every search", searchedOn((date) => `${date} 12:00:00`)]
  ]),
  of("aml.profile.own", [
    ["one", "has one aml_profile for everybody", attribute("aml_profile", (url) => `${new URL(url).origin}/profile`)]
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
      "writes searched_on with a day that does not exist",
      searchedOn((date, time) => `${date.slice(0, 4)}-02-31 ${time}`)
    ],
    ["fraction", "writes searched_on with milliseconds", searchedOn((_date, _time, text) => `${text}.000`)],
    ["number", "writes searched_on as a number", searchedOn((date) => Date.parse(date))],
    ["missing", "omits searched_on", searchedOn(missing)]
  ]),
  of("aml.answer.match-found", [
    ["lower-case", "writes match_found in lower case", changeCredential(match((text) => text.toLowerCase()))],
    ["upper-case", "writes match_found in upper case", changeCredential(match((text) => text.toUpperCase()))],
    ["capitals", "writes Potential Match", changeCredential(match((text) => text.replace("match", "Match")))],
    ["blank", "writes match_found with a blank before it", changeCredential(match((text) => ` ${text}`))],
    ["none", "writes None for No", changeCredential(match((text) => text === "No" ? "None" : text))],
    ["match", "writes Match for Potential match", changeCredential(match((text) => text === "No" ? text : "Match"))],
    ["boolean", "sends match_found as a boolean", changeCredential(match((text) => text !== "No"))],
    ["null", "sends null for No", changeCredential(match((text) => text === "No" ? null : text))],
    ["missing", "omits match_found for No", changeCredential(match((text) => text === "No" ? undefined : text))],
    [
      "missing-match",
      "omits match_found for Potential match",
      changeCredential(match((text) => text === "No" ? text : undefined))
    ],
    ["array", "puts match_found into an array", changeCredential(match((text) => [text]))],
    ["exposed", "writes PEP for a politically exposed person", ofPeopleNamed("Testpep", match(() => "PEP"))],
    ["sanctioned", "writes Sanction for a sanctioned person", ofPeopleNamed("Testsanc", match(() => "Sanction"))]
  ]),
  of("aml.match.subjects", [
    ["never", "sends No for a person on a list", changeCredential(match(() => "No"))],
    ["always", "sends Potential match for everybody", changeCredential(match(() => "Potential match"))],
    ["exposed", "sends No for a politically exposed person", ofPeopleNamed("Testpep", match(() => "No"))],
    ["sanctioned", "sends No for a sanctioned person", ofPeopleNamed("Testsanc", match(() => "No"))],
    ["opposite", "swaps No and Potential match", changeCredential(match(opposite))]
  ]),
  of("aml.match.persons", [
    ["never", "sends No for a test person on a list", changeCredential(match(() => "No"))],
    ["always", "sends Potential match for a test person on no list", changeCredential(match(() => "Potential match"))]
  ]),
  of("aml.match.everybody", [
    ["always", "sends Potential match for everybody", changeCredential(match(() => "Potential match"))]
  ]),
  of("aml.match.again", [
    ["different", "sends the opposite result for a repeated check", changeRepeated]
  ]),
  of("aml.match.later", [
    ["different", "sends the opposite result in another month", changeInAnotherMonth]
  ]),
  of("aml.profile.stable", [
    [
      "each",
      "sends another aml_profile in each check",
      changeCredential(
        Changes.fieldText("credentials.attributes.aml_profile", () => `http://localhost/${randomUUID()}`)
      )
    ]
  ]),
  of("aml.answer.aml-profile", [
    ["missing-no", "omits aml_profile for No", withResult("No", profile(missing))],
    ["missing-match", "omits aml_profile for Potential match", withResult("Potential match", profile(missing))],
    [
      "missing-exposed",
      "omits aml_profile for a politically exposed person",
      ofPeopleNamed("Testpep", profile(missing))
    ],
    [
      "missing-sanctioned",
      "omits aml_profile for a sanctioned person",
      ofPeopleNamed("Testsanc", profile(missing))
    ],
    ["relative", "has an aml_profile without its host", changeCredential(profile((url) => new URL(url).pathname))],
    [
      "no-scheme",
      "has an aml_profile without its scheme",
      changeCredential(profile((url) => url.replace("http://", "")))
    ],
    ["no-url", "has an aml_profile that is not a URL", changeCredential(profile(() => "not available"))],
    ["empty", "has an empty aml_profile for No", withResult("No", profile(() => ""))],
    ["null", "sends null for aml_profile", changeCredential(profile(() => null))],
    ["object", "puts the URL of aml_profile into an object", changeCredential(profile((href) => ({ href })))]
  ]),
  of("aml.profile.page", [
    ["not-found", "has no page at aml_profile", pages(Changes.status(404))],
    ["json", "has JSON at aml_profile", pages(Changes.text("application/json", () => "{}"))]
  ]),
  of("aml.credential.extra-fields", [
    ["top", "adds a field to the credential", changeCredential(Changes.field("valid_until", () => null))],
    [
      "credentials",
      "adds a field beside the attributes",
      changeCredential(Changes.field("credentials.format", () => "json"))
    ],
    [
      "attributes",
      "adds a field to the attributes",
      changeCredential(Changes.field("credentials.attributes.is_final", () => true))
    ]
  ])
].flat()
