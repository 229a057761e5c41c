/** Servers that give a token for what is not the request of section 4.1, or none for what is. */
import * as Effect from "effect/Effect"
import * as Breaks from "./breaks.ts"
import * as Own from "./own.ts"
import * as Parts from "./parts.ts"
import { type Mutant, of, type Request, type Serve } from "./wire.ts"

const asked = (where: (request: Request) => boolean) => (request: Request): boolean =>
  Parts.isToken(request) && where(request)

const asForm = (request: Request): Request => ({
  ...Parts.withHeader(request, "content-type", Parts.formType),
  method: "POST",
  body: Parts.form
})

const gives = (where: (request: Request) => boolean) => Breaks.acceptingAs(asked(where), asForm)

/** Of a form only: what is wrong with it is another claim. */
const isForm = (request: Request): boolean => request.method === "POST" && Parts.typeOf(request) === Parts.formType

const grantTypes = (request: Request): ReadonlyArray<string> =>
  new URLSearchParams(Parts.textOf(request)).getAll("grant_type")

const givesFor = (where: (types: ReadonlyArray<string>) => boolean) =>
  gives((request) => isForm(request) && where(grantTypes(request)))

const knows = (where: (request: Request, serve: Serve) => Effect.Effect<boolean>) =>
  Effect.succeed((request: Request, serve: Serve) =>
    Effect.gen(function*() {
      const answer = yield* serve(request)
      return answer.status === 401 && Parts.isToken(request) && (yield* where(request, serve))
        ? yield* serve(Own.asCustomer(request))
        : answer
    })
  )

const isEncoded = (request: Request): boolean => /[%+]/.test(Parts.basicOf(request).join(""))

const withoutAuthorization = (request: Request) => Parts.withHeader(request, "authorization", undefined)

export const mutants: ReadonlyArray<Mutant> = [
  of("token.request.path", [
    [
      "moved",
      "has the token endpoint at another path",
      Breaks.rewriting(Parts.isToken, (request) => ({ ...request, target: "/oauth/services" }))
    ]
  ]),
  of("token.request.method", [
    ["get", "gives a token for a GET", gives(({ method }) => method === "GET")],
    ["put", "gives a token for a PUT", gives(({ method }) => method === "PUT")]
  ]),
  of("token.request.content-type", [
    ["json", "gives a token for a body of JSON", gives((request) => Parts.typeOf(request) === "application/json")],
    ["text", "gives a token for a form sent as plain text", gives((request) => Parts.typeOf(request) === "text/plain")],
    [
      "missing",
      "gives a token for a form without a content type",
      gives((request) => request.method === "POST" && Parts.typeOf(request) === "")
    ]
  ]),
  of("token.request.authorization", [
    [
      "wrong-key",
      "accepts any key of a customer",
      knows((request, serve) => {
        const [customerId, customerKey] = Parts.basicOf(request)
        return customerKey === "" ? Effect.succeed(false) : Own.isCustomer(customerId, serve)
      })
    ],
    [
      "empty-key",
      "accepts an empty key",
      knows((request, serve) => {
        const [customerId, customerKey] = Parts.basicOf(request)
        return customerKey === "" ? Own.isCustomer(customerId, serve) : Effect.succeed(false)
      })
    ],
    [
      "unknown-customer",
      "accepts a customer that is not known",
      knows((request, serve) => {
        const [customerId] = Parts.basicOf(request)
        return customerId === "" ? Effect.succeed(false) : Effect.map(Own.isCustomer(customerId, serve), (is) => !is)
      })
    ],
    [
      "missing",
      "gives a token without an Authorization header",
      knows((request) => Effect.succeed(Parts.authorizationOf(request) === "" && !Parts.textOf(request).includes("&")))
    ],
    [
      "scheme",
      "accepts id and key after another scheme than Basic",
      knows((request) => Effect.succeed(/^(?!basic )\S+ \S/i.test(Parts.authorizationOf(request))))
    ],
    [
      "in-the-body",
      "accepts id and key as form parameters",
      knows((request) => Effect.succeed(Parts.authorizationOf(request) === "" && Parts.textOf(request).includes("&")))
    ]
  ]),
  of("token.request.grant-type", [
    ["missing", "gives a token without a grant_type", givesFor((types) => types.length === 0)],
    ["password", "gives a token for the grant_type password", givesFor(([type]) => type === "password")],
    [
      "any-case",
      "compares grant_type without case",
      givesFor(([type = "", ...more]) => more.length === 0 && type.toLowerCase() === "client_credentials")
    ]
  ]),
  of("token.request.grant-type.once", [
    ["granted", "gives a token for a grant_type that comes twice", givesFor((types) => types.length > 1)]
  ]),
  of("token.request.charset", [
    [
      "refused",
      "refuses a content type with a charset",
      Breaks.rewriting(
        asked(({ headers }) => headers["content-type"]?.includes("charset") === true),
        (request) => Parts.withHeader(request, "content-type", "text/plain")
      )
    ]
  ]),
  of("token.request.parameters", [
    [
      "refused",
      "refuses a parameter beside grant_type",
      Breaks.rewriting(
        asked((request) => new Set(new URLSearchParams(Parts.textOf(request)).keys()).size > 1),
        (request) => ({ ...request, body: new Uint8Array() })
      )
    ]
  ]),
  of("token.request.encoded-credentials", [
    [
      "refused",
      "refuses id and key that are form-encoded",
      Breaks.rewriting(asked(isEncoded), withoutAuthorization)
    ]
  ])
].flat()
