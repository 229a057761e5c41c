/** Servers that issue a token for a wrong token request, or none for the request of section 4.1. */
import * as Effect from "effect/Effect"
import * as Changes from "./changes.ts"
import * as Messages from "./messages.ts"
import { type Mutant, of, type Request, type Serve } from "./model.ts"
import * as OwnCustomer from "./ownCustomer.ts"

const ofTokens = (where: (request: Request) => boolean) => (request: Request): boolean =>
  Messages.isToken(request) && where(request)

const asForm = (request: Request): Request => ({
  ...Messages.withHeader(request, "content-type", Messages.formType),
  method: "POST",
  body: Messages.form
})

const issueFor = (where: (request: Request) => boolean) => Changes.acceptAs(ofTokens(where), asForm)

/** Requests of another method or content type belong to other claims. */
const isForm = (request: Request): boolean =>
  request.method === "POST" && Messages.typeOf(request) === Messages.formType

const grantTypes = (request: Request): ReadonlyArray<string> =>
  new URLSearchParams(Messages.textOf(request)).getAll("grant_type")

const issueForGrantTypes = (where: (types: ReadonlyArray<string>) => boolean) =>
  issueFor((request) => isForm(request) && where(grantTypes(request)))

const acceptCustomer = (
  where: (request: Request, serve: Serve) => Effect.Effect<boolean>,
  instead: (request: Request) => Request = OwnCustomer.asCustomer
) =>
  Effect.succeed((request: Request, serve: Serve) =>
    Effect.gen(function*() {
      const response = yield* serve(request)
      return response.status === 401 && Messages.isToken(request) && (yield* where(request, serve))
        ? yield* serve(instead(request))
        : response
    })
  )

const isEncoded = (request: Request): boolean => Messages.basicOf(request)[0].includes("%")

const withoutAuthorization = (request: Request) => Messages.withHeader(request, "authorization", undefined)

export const mutants: ReadonlyArray<Mutant> = [
  of("token.request.path", [
    [
      "moved",
      "has the token endpoint at another path",
      Changes.rewriteRequest(Messages.isToken, (request) => ({ ...request, target: "/oauth/services" }))
    ]
  ]),
  of("token.request.method", [
    ["get", "issues a token for GET", issueFor(({ method }) => method === "GET")],
    ["put", "issues a token for PUT", issueFor(({ method }) => method === "PUT")]
  ]),
  of("token.request.content-type", [
    ["json", "issues a token for a JSON body", issueFor((request) => Messages.typeOf(request) === "application/json")],
    [
      "text",
      "issues a token for a form sent as plain text",
      issueFor((request) => Messages.typeOf(request) === "text/plain")
    ],
    [
      "missing",
      "issues a token for a form without a content type",
      issueFor((request) => request.method === "POST" && Messages.typeOf(request) === "")
    ]
  ]),
  of("token.request.authorization", [
    [
      "wrong-key",
      "accepts any key of a customer",
      acceptCustomer((request, serve) => {
        const [customerId, customerKey] = Messages.basicOf(request)
        return customerKey === "" ? Effect.succeed(false) : OwnCustomer.isCustomer(customerId, serve)
      })
    ],
    [
      "empty-key",
      "accepts an empty key",
      acceptCustomer((request, serve) => {
        const [customerId, customerKey] = Messages.basicOf(request)
        return customerKey === "" ? OwnCustomer.isCustomer(customerId, serve) : Effect.succeed(false)
      })
    ],
    [
      "unknown-customer",
      "accepts an unknown customer",
      acceptCustomer((request, serve) => {
        const [customerId] = Messages.basicOf(request)
        return customerId === ""
          ? Effect.succeed(false)
          : Effect.map(OwnCustomer.isCustomer(customerId, serve), (isKnown) => !isKnown)
      })
    ],
    [
      "missing",
      "issues a token without an Authorization header",
      acceptCustomer((request) =>
        Effect.succeed(Messages.authorizationOf(request) === "" && !Messages.textOf(request).includes("&"))
      )
    ]
  ]),
  of("token.request.credentials", [
    [
      "scheme",
      "accepts id and key after a scheme other than Basic",
      acceptCustomer((request) => Effect.succeed(/^(?!basic )\S+ \S/i.test(Messages.authorizationOf(request))))
    ],
    [
      "in-the-body",
      "accepts id and key as form parameters",
      acceptCustomer(
        (request) => Effect.succeed(Messages.authorizationOf(request) === "" && Messages.textOf(request).includes("&")),
        // Without the key in the body, because the mock server refuses two ways to authenticate at once.
        (request) => ({ ...OwnCustomer.asCustomer(request), body: Messages.form })
      )
    ]
  ]),
  of("token.request.grant-type", [
    ["missing", "issues a token without a grant_type", issueForGrantTypes((types) => types.length === 0)],
    ["password", "issues a token for the grant_type password", issueForGrantTypes(([type]) => type === "password")],
    [
      "any-case",
      "compares grant_type without case",
      issueForGrantTypes(([type = "", ...more]) => more.length === 0 && type.toLowerCase() === "client_credentials")
    ]
  ]),
  of("token.request.grant-type.once", [
    ["granted", "issues a token for a grant_type that is sent twice", issueForGrantTypes((types) => types.length > 1)]
  ]),
  of("token.request.charset", [
    [
      "refused",
      "refuses a content type with a charset",
      Changes.rewriteRequest(
        ofTokens(({ headers }) => headers["content-type"]?.includes("charset") === true),
        (request) => Messages.withHeader(request, "content-type", "text/plain")
      )
    ]
  ]),
  of("token.request.encoded-credentials", [
    [
      "refused",
      "refuses form-encoded id and key",
      Changes.rewriteRequest(ofTokens(isEncoded), withoutAuthorization)
    ]
  ])
].flat()
