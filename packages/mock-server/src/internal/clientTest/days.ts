/**
 * The days of a client test, the most important first. At the end are those after which a careful client may pause,
 * because a backend is the same client on all days.
 */
import * as Arr from "effect/Array"
import type { Day, Driver, Step } from "./day.ts"
import { clearing, failed, success, tippingOff } from "./judges/outcomes.ts"
import { renewal, sharedToken } from "./judges/tokens.ts"
import * as Replies from "./replies.ts"

const step = (label: string, expect: Step["expect"], rest: Omit<Step, "label" | "expect"> = {}): Step => ({
  label,
  expect,
  ...rest
})

const values = "section 2.3: match_found, allowed values: Potential match, No"

const day = (
  word: string,
  title: string,
  steps: ReadonlyArray<Step>,
  rest: Partial<Omit<Day, "word" | "title" | "steps">> = {}
): Day => ({
  word,
  title,
  steps,
  cleared: failed,
  judges: [],
  isLong: false,
  isSimultaneous: false,
  notTested: () => undefined,
  ...rest
})

const codes = [400, 403, 404, 422, 500, 502, 503, 504]

const hang = (on: "aml" | "token", at: "headers" | "body") => () => [{ on, what: { kind: "hang" as const, at } }]

const elsewhere = (on: "aml" | "token", status: number): Step =>
  step(`status ${status} of ${on === "aml" ? "the check" : "the token request"}`, "not clear", {
    // Without a token of its own, a client that keeps one would not request it.
    revokeTokens: on === "token",
    faults: (_, __, elsewhere) => [
      Replies.status(on, { status, location: `${elsewhere}${on === "aml" ? "/api/aml" : "/oauth/service"}` })
    ]
  })

const named = (label: string, name: string): Step => step(label, "clear", { person: { name } })

const born = (dateOfBirth: string, label = dateOfBirth): Step => step(label, "clear", { person: { dateOfBirth } })

const zoned = (dateOfBirth: string, zone: string): Step => ({
  ...born(dateOfBirth, `${dateOfBirth} in ${zone}`),
  variables: { TZ: zone }
})

const ofKeptToken = ({ isProcess }: Driver) =>
  isProcess ? "each command is a new process, which keeps no token" : undefined

const match = Replies.altered({ match_found: "Potential match" })

export const all: ReadonlyArray<Day> = [
  day("match", "A potential match", [
    step("a potential match", "review", { faults: match }),
    step("a potential match with middle names", "review", {
      person: { name: "Anna Maria Josefine Quvaloriel" },
      faults: match
    })
  ], { cleared: clearing("The client clears a person with a potential match", values) }),
  day(
    "errors",
    "The service fails or refuses",
    codes.map((code) => step(`status ${code}`, "not clear", { faults: () => [Replies.failure(code)] }))
  ),
  day(
    "error-with-result",
    "An error whose body looks like a \"No\"",
    [403, 500].map((code) => step(`status ${code}`, "not clear", { faults: Replies.altered({}, {}, code) })),
    {
      cleared: clearing(
        "The client clears a person by the body of an error, and ignores the status",
        `${success}; RFC 9110, section 15: a status of 400 or more is not a success`
      )
    }
  ),
  day("no-result", "A success without a result", [
    step("an empty body", "not clear", { faults: Replies.body("") }),
    step("an HTML page", "not clear", {
      faults: Replies.body("<!doctype html>\n<title>Sign in</title>\n<p>No session: sign in</p>\n", "text/html")
    }),
    step("JSON without a credential", "not clear", { faults: Replies.body("{}") }),
    step("null", "not clear", { faults: Replies.body("null") }),
    step("the text No", "not clear", { faults: Replies.body("\"No\"") }),
    ...[undefined, null, ""].map((match_found) =>
      step(`match_found ${JSON.stringify(match_found) ?? "missing"}`, "not clear", {
        faults: Replies.altered({ match_found })
      })
    ),
    ...[undefined, {}, { attributes: {} }].map((credentials) =>
      step(`credentials ${JSON.stringify(credentials) ?? "missing"}`, "not clear", {
        faults: Replies.altered({}, { credentials })
      })
    )
  ], {
    cleared: clearing("The client clears a person by a response without a result", success)
  }),
  day("cut-response", "A response that breaks off", [
    step("a body that is not complete JSON", "not clear", { faults: Replies.cutCredential }),
    step("fewer bytes than Content-Length", "not clear", {
      faults: () => [{ on: "aml", what: { kind: "truncation" } }]
    }),
    step("a connection that is closed in the body", "not clear", {
      faults: () => [{ on: "aml", what: { kind: "fin", at: "body" } }]
    }),
    step("a connection that is reset before the response", "not clear", {
      faults: () => [{ on: "aml", what: { kind: "reset", at: "headers" } }]
    })
  ], {
    cleared: clearing(
      "The client clears a person by an incomplete response",
      "RFC 9112, section 8: an incomplete message; section 4.2, rule 2: aml_profile is always present"
    )
  }),
  day("other-person", "A result about another person", [
    step("another name and year of birth", "not clear", {
      faults: Replies.altered({ name: "Other Person", birth_year: "1931" })
    }),
    step("another name", "not clear", { faults: Replies.altered({ name: "Other Person" }) }),
    step("another first name", "not clear", {
      faults: (person, now, elsewhere) =>
        Replies.altered({ name: person.name.replace(/^\S+/, "Agatha") })(person, now, elsewhere)
    })
  ], {
    cleared: clearing(
      "The client clears a person by a result about somebody else",
      "section 2.3: name, full name of the person that was searched, and birth_year"
    )
  }),
  day("other-year", "A result about a person of the same name", [
    step("another year of birth", "not clear", { faults: Replies.altered({ birth_year: "1931" }) })
  ], {
    cleared: clearing(
      "The client clears a person by a result with another year of birth",
      "section 2.3: birth_year, four-digit year of birth",
      "risky"
    )
  }),
  day(
    "unknown-result",
    "A result that the document does not list",
    [
      ["Under review", "Under review"],
      ["no in lower case", "no"],
      ["Not checked", "Not checked"],
      ["false", false]
    ].map(([label, match_found]) => step(String(label), "not clear", { faults: Replies.altered({ match_found }) })),
    {
      cleared: clearing("The client clears a person by an unlisted match_found", values)
    }
  ),
  day("other-credential", "A credential of another kind", [
    step("credential_type identity", "not clear", { faults: Replies.altered({}, { credential_type: "identity" }) }),
    step("no aml_profile", "not clear", { faults: Replies.altered({ aml_profile: undefined }) })
  ], {
    cleared: clearing(
      "The client clears a person by another kind of credential",
      "section 2.3: credential_type is aml; section 4.2, rule 2: aml_profile is present in both cases",
      "risky"
    )
  }),
  day("same-name", "Two persons with the same name", [
    step("no match", "clear", { person: { name: "Lena Quvolaria" } }),
    step("the same name and another date of birth, with a potential match", "review", {
      person: { name: "Lena Quvolaria" },
      faults: match
    })
  ], { cleared: clearing("The client clears a person by the result of a person of the same name", values) }),
  day("names", "Names as people have them", [
    named("letters beyond ASCII", "Zoë Müller-Łukasiewicz"),
    named("Cyrillic letters", "Иван Сергеевич Петров"),
    named("two Chinese characters", "李娜"),
    named("an apostrophe", "Sinéad O'Connor-D’Arcy"),
    named("one word", "Suhartono"),
    named("quotation marks", "Ana \"Nita\" Quvanola"),
    named("middle names", "Anna Maria Josefine Helene Quvaloria"),
    named("marks as separate characters", "Zoe\u0308 Gime\u0301nez"),
    named("a long name", `${"Maximiliane Theodora ".repeat(8)}von Quvaloke und Quvalodo`)
  ]),
  day("dates", "Dates of birth", [
    born("2000-02-29"),
    born("1990-02-01"),
    // These days are in a week of another year, which `YYYY` means in a date pattern.
    ...["1997-12-29", "1996-12-30", "1995-12-31", "2003-12-31", "1999-01-01"].map((date) => born(date))
  ]),
  day("time-zones", "Dates of birth, in time zones of the client", [
    zoned("1957-03-14", "America/Los_Angeles"),
    zoned("1990-02-01", "Asia/Tokyo"),
    zoned("2000-02-29", "America/New_York"),
    // Midnight was skipped for daylight saving time.
    zoned("1985-11-02", "America/Sao_Paulo")
  ], {
    notTested: ({ isCommand }) => isCommand ? undefined : "the test sets the time zone of commands only"
  }),
  day("impossible-date", "A date of birth that does not exist", [
    step("30 February 2001", "not clear", { person: { dateOfBirth: "2001-02-30" } })
  ], {
    cleared: clearing(
      "The client clears a person whose date of birth does not exist",
      "section 4.2: dob, date of birth in the format dd-mm-yyyy"
    )
  }),
  day("key", "A key with special characters", [step("a key with + / = % : & and a space", "clear")], {
    customerKey: "Kq+7/=%2B:& zX'9",
    notTested: ({ isShared }) => isShared ? "the client has one customer for all days" : undefined
  }),
  day("tipping-off", "What an applicant sees", [
    step("a potential match", "review", { faults: match }),
    step("another potential match", "review", { faults: match }),
    step("status 500", "not clear", { faults: () => [Replies.failure(500)] })
  ], {
    judges: [tippingOff],
    notTested: ({ isEndpoint }) => isEndpoint ? undefined : "only the response of a backend reaches an applicant"
  }),
  day("token-reuse", "Three checks in a row", [
    step("the first check", "clear"),
    step("the second check", "clear"),
    step("the third check", "clear")
  ], { notTested: ofKeptToken }),
  day("token-type", "The token response states another token_type, or none", [
    step("token_type bearer", "clear", { revokeTokens: true, profile: { tokenType: "bearer" } }),
    step("no token_type", "clear", { revokeTokens: true, profile: { tokenType: "absent" } })
  ]),
  day("simultaneous", "Ten checks at once, without a token", [
    step("a check after all tokens were revoked", "clear", { revokeTokens: true }),
    ...Arr.makeBy(9, (index) => step(`check ${index + 1} of ten`, "clear", { faults: Replies.lateToken })),
    step("a potential match among them", "review", { person: { name: "Ines Testpep" }, faults: Replies.lateToken })
  ], {
    judges: [sharedToken],
    isSimultaneous: true,
    cleared: clearing("The client clears a person by the result of a simultaneous check", values),
    notTested: (driver) =>
      ofKeptToken(driver) ?? (driver.isOperated ? "a person checks one after the other" : undefined) ??
        (driver.isSubstituted ? "correct the findings of first-run, and test again" : undefined)
  }),
  day("expired-token", "The token is older than an hour", [
    step("a check before the hour is over", "clear"),
    step("a check after an hour", "clear", { advance: "61 minutes" }),
    step("the check after that", "clear")
  ], { judges: [renewal], notTested: ofKeptToken }),
  day("refused-token", "The service refuses the token once", [
    step("a check whose first token is revoked", "clear", {
      faults: () => [{ on: "aml", what: { kind: "tokenRevocation" }, when: { kind: "first", n: 1 } }]
    }),
    step("the next check", "clear"),
    step("the check after that", "clear")
  ], { judges: [renewal] }),
  day("redirect", "The service redirects to another host", [
    elsewhere("aml", 302),
    elsewhere("aml", 307),
    elsewhere("token", 302),
    elsewhere("token", 307)
  ]),
  day("retry-after", "The service asks to wait", [
    step("status 429 with Retry-After: 3", "clear", {
      faults: () => [Replies.status("aml", { status: 429, retryAfter: { kind: "seconds", seconds: 3 } }, 1)]
    }),
    step("status 503 with Retry-After: 3", "clear", {
      faults: () => [Replies.status("aml", { status: 503, retryAfter: { kind: "seconds", seconds: 3 } }, 1)]
    }),
    step("status 429 with a date in Retry-After", "clear", {
      faults: () => [Replies.status("aml", { status: 429, retryAfter: { kind: "date", in: "3 seconds" } }, 1)]
    }),
    step("status 429 each time", "not clear", {
      faults: () => [Replies.status("aml", { status: 429, retryAfter: { kind: "seconds", seconds: 1 } })]
    })
  ]),
  day("token-errors", "The token endpoint fails", [
    step("a token request with status 500", "not clear", {
      revokeTokens: true,
      faults: () => [Replies.status("token", { status: 500 })]
    }),
    step("a token request with status 401", "not clear", {
      revokeTokens: true,
      faults: () => [
        Replies.status("token", {
          status: 401,
          body: "{\"error\":\"invalid_client\"}",
          contentType: "application/json"
        })
      ]
    }),
    step("a token response that is an HTML page", "not clear", {
      revokeTokens: true,
      faults: () => [{ on: "token", what: { kind: "html" } }]
    }),
    step("a token response without a token", "not clear", {
      revokeTokens: true,
      faults: () => [Replies.status("token", { status: 200, body: "{}", contentType: "application/json" })]
    })
  ]),
  day("refused-tokens", "The service refuses every token", [
    step("status 401 each time", "not clear", {
      faults: () => [{ on: "aml", what: { kind: "tokenRevocation" } }]
    })
  ]),
  day("hang", "The service accepts a check and never responds", [
    step("no response", "not clear", { faults: hang("aml", "headers") })
  ], { isLong: true }),
  day("hang-body", "The response stops in the body", [
    step("half of a response", "not clear", { faults: hang("aml", "body") })
  ], { isLong: true }),
  day("hang-token", "The token endpoint never responds", [
    step("no token response", "not clear", { revokeTokens: true, faults: hang("token", "headers") })
  ], { isLong: true }),
  day("retry-after-hour", "The service asks to wait for an hour", [
    step("status 429 with Retry-After: 3600", "not clear", {
      faults: () => [Replies.status("aml", { status: 429, retryAfter: { kind: "seconds", seconds: 3600 } })]
    })
  ], { isLong: true })
]
