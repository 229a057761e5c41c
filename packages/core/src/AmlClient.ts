/**
 * The AML check of a person (API document, section 4.2).
 *
 * It fails closed: a credential is returned only for a 2xx answer that is a whole AML credential
 * about the person that was sent. Everything else is a typed failure, and none of them says
 * anything about the person.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { AmlCredential, type Attributes } from "./AmlCredential.ts"
import * as AmlError from "./AmlError.ts"
import * as IdvApi from "./IdvApi.ts"
import * as Address from "./internal/address.ts"
import * as Bearer from "./internal/bearer.ts"
import * as Deadline from "./internal/deadline.ts"
import * as Exchange from "./internal/exchange.ts"
import * as Person from "./Person.ts"
import * as PersonName from "./PersonName.ts"
import type { TokenError } from "./TokenError.ts"
import * as TokenProvider from "./TokenProvider.ts"
import * as Violation from "./Violation.ts"

/**
 * - `check`: screens one person, once. Results are never cached: what was clear yesterday may be
 *   listed today. With a 401 the token is renewed and the request sent once more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  readonly check: (person: Person.Person) => Effect.Effect<AmlCredential, AmlError.AmlError | TokenError>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class AmlClient extends Context.Tag("@effect-idv/core/AmlClient")<AmlClient, Service>() {}

/**
 * - `baseUrl`: the address of the API, without `/api/aml`. `https:`, or `http:` to a loopback
 *   address.
 * - `allowInsecure`: allows `http:` to other hosts too. Names and tokens then travel in the clear.
 * - `deadline`: for a whole check: token, requests, and the answer to its last byte. 30 seconds
 *   by default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly baseUrl: string
  readonly allowInsecure?: boolean | undefined
  readonly deadline?: Duration.DurationInput | undefined
}

/**
 * `ConfigError` names an option that cannot be used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const url = yield* Address.make("baseUrl", options.baseUrl, IdvApi.aml.path, options)
  const exchange = yield* Exchange.make
  const authorize = yield* Bearer.make({ tokens: yield* TokenProvider.TokenProvider, origin: new URL(url).origin })
  const deadline = Duration.decode(options.deadline ?? "30 seconds")

  const check = Effect.fn("AmlClient.check")(function*(person: Person.Person) {
    const sent = yield* Ref.make<AmlError.Sent>("no")
    const body = yield* Effect.orDieWith(encodeBody(Person.toRequestBody(person)), () => notAPerson)
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.acceptJson,
      HttpClientRequest.bodyText(body, "application/json")
    )
    const send = (request: HttpClientRequest.HttpClientRequest) =>
      Effect.zipRight(Ref.set(sent, "unknown"), exchange(request, { onHead: Ref.set(sent, "answered") }))
    return yield* authorize(request, send).pipe(
      Effect.catchTags({
        ConnectionFailed: ({ reason, status }) =>
          new AmlError.AmlUnavailable({
            reason,
            sent: status !== undefined ? "answered" : reason === "broken" ? "unknown" : "no",
            ...(status === undefined ? {} : { status })
          }),
        BodyTooLong: ({ description, violations }) => invalid(description, violations)
      }),
      Effect.flatMap((authorized) => interpret(authorized, person)),
      Deadline.within(deadline, Effect.flatMap(Ref.get(sent), (sent) => new AmlError.AmlTimeout({ sent, deadline })))
    )
  })

  return AmlClient.of({ check })
})

/**
 * Needs an `HttpClient` and the `TokenProvider`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, make(options))

/**
 * {@link layer} with options from `Config`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<AmlClient, ConfigError, HttpClient.HttpClient | TokenProvider.TokenProvider> =>
  Layer.effect(AmlClient, Effect.flatMap(Config.unwrap(config), make))

const encodeBody = Schema.encode(Schema.parseJson(Person.RequestBody))
const notAPerson = new TypeError("check takes a Person from Person.make")
const decodeCredential = Violation.decodeJson(AmlCredential)

const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new AmlError.AmlAnswerInvalid({ ...description, violations })

/** The one place where an answer becomes a result. */
const interpret = (
  { answer, renewal }: Bearer.Authorized,
  person: Person.Person
): Either.Either<AmlCredential, AmlError.AmlError> => {
  const { body, description, retryAfter, status } = answer
  if (status === 401) return Either.left(new AmlError.AmlUnauthorized({ status, renewal }))
  if (status === 403) return Either.left(new AmlError.AmlForbidden({ status }))
  if (status === 429) return Either.left(new AmlError.AmlRateLimited({ ...(retryAfter && { retryAfter }) }))
  if (status >= 500) {
    return Either.left(
      new AmlError.AmlUnavailable({ reason: "status", status, sent: "answered", ...(retryAfter && { retryAfter }) })
    )
  }
  if (status >= 400) return Either.left(new AmlError.AmlRequestRejected({ status }))
  if (!Exchange.isSuccess(answer)) return Either.left(invalid(description, Violation.whole("a credential")))
  return decodeCredential(body).pipe(
    Either.mapLeft((violations) => invalid(description, violations)),
    Either.flatMap((credential) => {
      const fields = mismatches(credential.credentials.attributes, person)
      return Arr.isNonEmptyArray(fields)
        ? Either.left(new AmlError.AmlAnswerMismatch({ fields }))
        : Either.right(credential)
    })
  )
}

const mismatches = ({ birthYear, name }: Attributes, person: Person.Person) => {
  const isSame = {
    name: PersonName.isEquivalent(person.name, Redacted.value(name)),
    birth_year: Number(Redacted.value(birthYear)) === person.dateOfBirth.year
  }
  return Struct.keys(isSame).filter((field) => !isSame[field])
}
