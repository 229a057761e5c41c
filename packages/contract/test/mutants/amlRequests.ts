/** Servers that accept a wrong check, or refuse the check of section 4.2. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Request } from "./model.ts"
import * as OwnCustomer from "./ownCustomer.ts"

const ofChecks = (where: (request: Request) => boolean) => (request: Request): boolean =>
  Messages.isAml(request) && where(request)

/** The same request as a POST of JSON, with the documented body if it has none. */
const asPost = (request: Request): Request => ({
  ...Messages.withHeader(request, "content-type", "application/json"),
  method: "POST",
  body: request.body.length === 0 ? Messages.person : request.body
})

const withDocumentedBody = (request: Request): Request => ({ ...request, body: Messages.person })

const accept = (where: (request: Request) => boolean, instead: (request: Request) => Request) =>
  Changes.acceptAs(ofChecks(where), instead)

const acceptToken = (where: (request: Request) => boolean) =>
  Changes.acceptRefused(ofChecks(where), OwnCustomer.withToken)

/** Accepts a wrong field as if it had a documented value. */
const acceptField = (name: string, where: (value: unknown) => boolean, documented: (value: unknown) => unknown) =>
  accept(
    (request) => isObject(request) && where(Messages.fieldOf(request, name)),
    (request) => Messages.withFields(request, { [name]: documented(Messages.fieldOf(request, name)) })
  )

const isObject = (request: Request): boolean => Option.exists(Messages.jsonOf(request), Predicate.isRecord)

const isMissing = (value: unknown): boolean => value === undefined

const matches = (pattern: RegExp) => (value: unknown): boolean => Predicate.isString(value) && pattern.test(value)

const refuse = (where: (request: Request) => boolean, instead: (request: Request) => Request) =>
  Changes.rewriteRequest(ofChecks(where), instead)

const documentedFields = ["entity_type", "name", "dob"]

const isExtra = (request: Request): boolean =>
  Option.exists(
    Messages.jsonOf(request),
    (json) => Predicate.isRecord(json) && Object.keys(json).some((name) => !documentedFields.includes(name))
  )

const withoutExtra = (request: Request): Request => ({
  ...request,
  body: Messages.utf8(
    JSON.stringify(Object.fromEntries(documentedFields.map((name) => [name, Messages.fieldOf(request, name)])))
  )
})

const schemeOf = (request: Request): string => Messages.authorizationOf(request).split(" ")[0] ?? ""

export const mutants: ReadonlyArray<Mutant> = [
  of("aml.request.path", [
    [
      "moved",
      "has the check at another path",
      Changes.rewriteRequest(Messages.isAml, (request) => ({ ...request, target: "/api/amls" }))
    ],
    ["error", "responds to a check with 200 and an error", Changes.changeResponse(Changes.isCredential, Changes.error)],
    [
      "refused",
      "refuses every token",
      Changes.rewriteRequest(Messages.isAml, (request) => Messages.withAuthorization(request, "Bearer over"))
    ]
  ]),
  of("aml.request.method", [
    ["get", "accepts a check with GET", accept(({ method }) => method === "GET", asPost)],
    ["put", "accepts a check with PUT", accept(({ method }) => method === "PUT", asPost)]
  ]),
  of("aml.request.authorization", [
    ["missing", "accepts a check without a token", acceptToken((request) => Messages.authorizationOf(request) === "")],
    [
      "forged",
      "accepts a forged token",
      Changes.acceptRefused(
        (request, response) => Messages.isAml(request) && Messages.textOf(response).includes("unknown"),
        OwnCustomer.withToken
      )
    ],
    [
      "customer",
      "accepts the customer's id and key instead of a token",
      acceptToken((request) => Messages.basicOf(request)[0] !== "")
    ]
  ]),
  of("aml.request.token-place", [
    [
      "scheme",
      "accepts a token after any scheme",
      accept(
        (request) => !["", "bearer"].includes(schemeOf(request).toLowerCase()),
        (request) => Messages.withAuthorization(request, `Bearer ${Messages.credentialOf(request)}`)
      )
    ]
  ]),
  of("aml.request.scheme-case", [
    [
      "refused",
      "refuses a token after the lower-case scheme bearer",
      refuse(
        (request) => schemeOf(request) === "bearer",
        (request) => Messages.withAuthorization(request, "bearer over")
      )
    ]
  ]),
  of("aml.request.body", [
    [
      "array",
      "accepts an array that holds the object",
      accept((request) => Option.exists(Messages.jsonOf(request), Array.isArray), withDocumentedBody)
    ],
    [
      "not-json",
      "accepts a body that is not JSON",
      accept((request) => request.body.length > 0 && Option.isNone(Messages.jsonOf(request)), withDocumentedBody)
    ],
    [
      "empty",
      "accepts an empty body",
      accept(({ body, method }) => method === "POST" && body.length === 0, withDocumentedBody)
    ]
  ]),
  of("aml.request.entity-type", [
    ["missing", "accepts a check without entity_type", acceptField("entity_type", isMissing, () => "person")],
    ["company", "accepts a check of a company", acceptField("entity_type", matches(/^company$/), () => "person")],
    ["any-case", "compares entity_type without case", acceptField("entity_type", matches(/^person$/i), () => "person")]
  ]),
  of("aml.request.name", [
    ["missing", "accepts a check without a name", acceptField("name", isMissing, () => "Ada Testclear")],
    [
      "no-text",
      "accepts a name that is not a string",
      acceptField("name", (name) => !isMissing(name) && !Predicate.isString(name), () => "Ada Testclear")
    ],
    ["number", "accepts a number as a name", acceptField("name", Predicate.isNumber, () => "Ada Testclear")],
    [
      "list",
      "joins the parts of a name",
      acceptField("name", Array.isArray, (parts) => Array.isArray(parts) ? parts.join(" ") : parts)
    ]
  ]),
  of("aml.request.name.empty", [
    ["answered", "accepts a blank name", acceptField("name", matches(/^\s*$/), () => "Ada Testclear")]
  ]),
  of("aml.request.name.damaged", [
    [
      "answered",
      "accepts a name with a control character",
      acceptField("name", matches(/\p{L}.*\p{Cc}/su), () => "Ada Testclear")
    ]
  ]),
  of("aml.request.people", [
    [
      "apostrophe",
      "refuses a name with an apostrophe",
      refuse(
        (request) => matches(/'/)(Messages.fieldOf(request, "name")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ],
    [
      "middle-names",
      "refuses a name of more than four words",
      refuse(
        (request) => matches(/( .*){4}/)(Messages.fieldOf(request, "name")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.listed", [
    [
      "refused",
      "refuses a person on a list",
      refuse(
        (request) => matches(/Testpep$/)(Messages.fieldOf(request, "name")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.name.word", [
    [
      "refused",
      "refuses a name of one word",
      refuse(
        (request) => matches(/^\S+$/)(Messages.fieldOf(request, "name")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.age", [
    [
      "old",
      "refuses a person born before 1920",
      refuse(
        (request) => matches(/^\d\d-\d\d-(18|190|191)/)(Messages.fieldOf(request, "dob")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.name.script", [
    [
      "refused",
      "refuses a name in a non-Latin script",
      refuse(
        (request) => matches(/[^\P{L}\p{Script=Latin}]/u)(Messages.fieldOf(request, "name")),
        (request) => Messages.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.dob", [
    ["missing", "accepts a check without a date of birth", acceptField("dob", isMissing, () => "01-02-1990")],
    ["number", "accepts a number as a date of birth", acceptField("dob", Predicate.isNumber, () => "01-02-1990")],
    [
      "iso",
      "accepts a date of birth in the form yyyy-mm-dd",
      acceptField("dob", matches(/^\d{4}-\d\d-\d\d$/), (dob) => String(dob).split("-").reverse().join("-"))
    ],
    [
      "slashes",
      "accepts a date of birth in the form dd/mm/yyyy",
      acceptField("dob", matches(/^\d\d\/\d\d\/\d{4}$/), (dob) => String(dob).replaceAll("/", "-"))
    ],
    [
      "short",
      "accepts a date of birth without its zeros",
      acceptField(
        "dob",
        matches(/^(\d-\d\d?|\d\d-\d)-\d{4}$/),
        (dob) => String(dob).split("-").map((part) => part.padStart(2, "0")).join("-")
      )
    ]
  ]),
  of("aml.request.dob.day", [
    [
      "answered",
      "accepts a day that does not exist",
      acceptField("dob", matches(/^\d\d-\d\d-\d{4}$/), (dob) => String(dob).replace(/^\d\d-\d\d/, "01-01"))
    ]
  ]),
  of("aml.request.extra-fields", [
    ["ignored", "ignores a field that the document does not show", accept(isExtra, withoutExtra)]
  ]),
  of("limits.body", [
    [
      "answered",
      "accepts a body over 64 KiB",
      Changes.acceptRefused(
        (request, { status }) => Messages.isAml(request) && status === 413,
        (request) => Effect.succeed(withDocumentedBody(request))
      )
    ],
    [
      "broken",
      "fails with 500 for a body over 64 KiB",
      Changes.changeResponse(Changes.isAmlRefusal(413), Changes.status(500))
    ]
  ])
].flat()
