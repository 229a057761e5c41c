/** Servers that answer what is no check of section 4.2, or refuse what is one. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Breaks from "./breaks.ts"
import * as Own from "./own.ts"
import * as Parts from "./parts.ts"
import { type Mutant, of, type Request } from "./wire.ts"

const asked = (where: (request: Request) => boolean) => (request: Request): boolean =>
  Parts.isAml(request) && where(request)

/** With a right body, if it has none. */
const asPost = (request: Request): Request => ({
  ...Parts.withHeader(request, "content-type", "application/json"),
  method: "POST",
  body: request.body.length === 0 ? Parts.person : request.body
})

const aboutSomebody = (request: Request): Request => ({ ...request, body: Parts.person })

const answers = (where: (request: Request) => boolean, instead: (request: Request) => Request) =>
  Breaks.acceptingAs(asked(where), instead)

const trusts = (where: (request: Request) => boolean) => Breaks.accepting(asked(where), Own.withToken)

/** Of a body with one wrong field: of each other field it is the same. */
const mends = (name: string, where: (value: unknown) => boolean, right: (value: unknown) => unknown) =>
  answers(
    (request) => isObject(request) && where(Parts.fieldOf(request, name)),
    (request) => Parts.withFields(request, { [name]: right(Parts.fieldOf(request, name)) })
  )

const isObject = (request: Request): boolean => Option.exists(Parts.jsonOf(request), Predicate.isRecord)

const isMissing = (value: unknown): boolean => value === undefined

const matches = (pattern: RegExp) => (value: unknown): boolean => Predicate.isString(value) && pattern.test(value)

const refuses = (where: (request: Request) => boolean, instead: (request: Request) => Request) =>
  Breaks.rewriting(asked(where), instead)

const documented = ["entity_type", "name", "dob"]

const isExtra = (request: Request): boolean =>
  Option.exists(
    Parts.jsonOf(request),
    (json) => Predicate.isRecord(json) && Object.keys(json).some((name) => !documented.includes(name))
  )

const withoutExtra = (request: Request): Request => ({
  ...request,
  body: Parts.utf8(
    JSON.stringify(Object.fromEntries(documented.map((name) => [name, Parts.fieldOf(request, name)])))
  )
})

const schemeOf = (request: Request): string => Parts.authorizationOf(request).split(" ")[0] ?? ""

export const mutants: ReadonlyArray<Mutant> = [
  of("aml.request.path", [
    [
      "moved",
      "has the check at another path",
      Breaks.rewriting(Parts.isAml, (request) => ({ ...request, target: "/api/amls" }))
    ],
    ["error", "answers a check with 200 and an error", Breaks.changing(Breaks.answered, Breaks.error)],
    [
      "refused",
      "accepts no token",
      Breaks.rewriting(Parts.isAml, (request) => Parts.withAuthorization(request, "Bearer over"))
    ]
  ]),
  of("aml.request.method", [
    ["get", "answers a GET", answers(({ method }) => method === "GET", asPost)],
    ["put", "answers a PUT", answers(({ method }) => method === "PUT", asPost)]
  ]),
  of("aml.request.authorization", [
    ["missing", "answers without a token", trusts((request) => Parts.authorizationOf(request) === "")],
    [
      "forged",
      "answers with a token that was never given",
      Breaks.accepting(
        (request, answer) => Parts.isAml(request) && Parts.textOf(answer).includes("unknown"),
        Own.withToken
      )
    ],
    [
      "scheme",
      "accepts a token after any scheme",
      answers(
        (request) => !["", "bearer"].includes(schemeOf(request).toLowerCase()),
        (request) => Parts.withAuthorization(request, `Bearer ${Parts.credentialOf(request)}`)
      )
    ],
    ["customer", "answers a customer that sends its id and key", trusts((request) => Parts.basicOf(request)[0] !== "")]
  ]),
  of("aml.request.scheme-case", [
    [
      "refused",
      "refuses a token after bearer in lower case",
      refuses((request) => schemeOf(request) === "bearer", (request) => Parts.withAuthorization(request, "bearer over"))
    ]
  ]),
  of("aml.request.content-type", [
    [
      "any",
      "answers whatever the content type",
      answers((request) => request.method === "POST" && Parts.typeOf(request) !== "application/json", asPost)
    ],
    [
      "exact",
      "refuses a content type with a charset",
      refuses(
        ({ headers }) => headers["content-type"]?.includes("charset") === true,
        (request) => Parts.withHeader(request, "content-type", "text/plain")
      )
    ]
  ]),
  of("aml.request.body", [
    [
      "array",
      "answers an array that holds a person",
      answers((request) => Option.exists(Parts.jsonOf(request), Array.isArray), aboutSomebody)
    ],
    [
      "not-json",
      "answers a body that is not JSON",
      answers((request) => request.body.length > 0 && Option.isNone(Parts.jsonOf(request)), aboutSomebody)
    ],
    [
      "empty",
      "answers an empty body",
      answers(({ body, method }) => method === "POST" && body.length === 0, aboutSomebody)
    ]
  ]),
  of("aml.request.entity-type", [
    ["missing", "answers without entity_type", mends("entity_type", isMissing, () => "person")],
    ["company", "answers about a company", mends("entity_type", matches(/^company$/), () => "person")],
    ["any-case", "compares entity_type without case", mends("entity_type", matches(/^person$/i), () => "person")]
  ]),
  of("aml.request.name", [
    ["missing", "answers without a name", mends("name", isMissing, () => "Ada Testclear")],
    [
      "no-text",
      "answers a name that is no text",
      mends("name", (name) => !isMissing(name) && !Predicate.isString(name), () => "Ada Testclear")
    ],
    ["number", "takes a number for a name", mends("name", Predicate.isNumber, String)],
    [
      "list",
      "joins the parts of a name",
      mends("name", Array.isArray, (parts) => Array.isArray(parts) ? parts.join(" ") : parts)
    ]
  ]),
  of("aml.request.name.empty", [
    ["answered", "answers a blank name", mends("name", matches(/^\s*$/), () => "Ada Testclear")]
  ]),
  of("aml.request.name.script", [
    [
      "refused",
      "refuses a name in another script than Latin",
      refuses(
        (request) => matches(/[^\P{L}\p{Script=Latin}]/u)(Parts.fieldOf(request, "name")),
        (request) => Parts.withFields(request, { name: "" })
      )
    ]
  ]),
  of("aml.request.dob", [
    ["missing", "answers without a date of birth", mends("dob", isMissing, () => "01-02-1990")],
    ["number", "takes a number for a date of birth", mends("dob", Predicate.isNumber, () => "01-02-1990")],
    [
      "iso",
      "answers a date of birth in the form yyyy-mm-dd",
      mends("dob", matches(/^\d{4}-\d\d-\d\d$/), (dob) => String(dob).split("-").reverse().join("-"))
    ],
    [
      "slashes",
      "answers a date of birth in the form dd/mm/yyyy",
      mends("dob", matches(/^\d\d\/\d\d\/\d{4}$/), (dob) => String(dob).replaceAll("/", "-"))
    ],
    [
      "short",
      "answers a date of birth without its zeros",
      mends(
        "dob",
        matches(/^(\d-\d\d?|\d\d-\d)-\d{4}$/),
        (dob) => String(dob).split("-").map((part) => part.padStart(2, "0")).join("-")
      )
    ]
  ]),
  of("aml.request.dob.day", [
    [
      "answered",
      "answers a day that does not exist",
      mends("dob", matches(/^\d\d-\d\d-\d{4}$/), (dob) => String(dob).replace(/^\d\d-\d\d/, "01-01"))
    ]
  ]),
  of("aml.request.extra-fields", [
    ["ignored", "ignores a field that the document does not show", answers(isExtra, withoutExtra)]
  ]),
  of("limits.body", [
    [
      "answered",
      "answers a body over 64 KiB",
      Breaks.accepting(
        (request, { status }) => Parts.isAml(request) && status === 413,
        (request) => Effect.succeed(aboutSomebody(request))
      )
    ],
    ["broken", "breaks at a body over 64 KiB", Breaks.changing(Breaks.amlRefused(413), Breaks.status(500))]
  ])
].flat()
