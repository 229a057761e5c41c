/** What one exchange shows, in the words of the contract: of each behaviour of a profile, and of the whole response. */
import * as ContractReadings from "@effect-idv/contract/Readings"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type * as Profile from "../../Profile.ts"
import { damageOf } from "../service/amlEndpoint.ts"
import { choices } from "../session/choices.ts"
import * as Request from "../wire/request.ts"
import { type Exchange, personOf, toContract } from "./exchange.ts"

/** The word that an exchange shows for a behaviour. */
export interface Shown {
  readonly name: Profile.Name
  readonly word: string
  /**
   * Whether a service with another variant can show this word too: it writes a name exactly, for example, if the name
   * has nothing to change. Any other word replaces it in the profile.
   */
  readonly isWeak: boolean
}

export interface Readings {
  readonly shown: ReadonlyArray<Shown>
  /** A word for each reading of the contract that says something about this response. */
  readonly words: Readonly<Record<string, string>>
}

const strong = (name: Profile.Name, word: string): Shown => ({ name, word, isWeak: false })

const weak = (name: Profile.Name, word: string): Shown => ({ name, word, isWeak: true })

const weakIf = (name: Profile.Name, word: string, isWeak: boolean): Shown => ({ name, word, isWeak })

/**
 * The reading whose word is the variant of a behaviour, in a response with a token or a credential. If the default
 * `isWeak`, a service with another variant can show it too. `rules`: other responses show the variant, by the rules below.
 */
type ShownBy =
  | { readonly of: "token"; readonly reading: keyof ContractReadings.TokenWords }
  | { readonly of: "credential"; readonly reading: keyof ContractReadings.CheckWords; readonly isWeak?: true }
  | "rules"

const shownBy: Readonly<Record<Profile.Name, ShownBy>> = {
  tokenField: { of: "token", reading: "token field" },
  tokenType: { of: "token", reading: "token type" },
  tokenFormat: { of: "token", reading: "token format" },
  tokenStatus: { of: "token", reading: "status" },
  tokenLifetime: { of: "token", reading: "stated lifetime" },
  tokenError: "rules",
  tokenParameters: "rules",
  amlRequestType: "rules",
  damagedName: "rules",
  amlStatus: { of: "credential", reading: "status" },
  amlError: "rules",
  expiredToken: "rules",
  rateLimit: "rules",
  searchedOn: { of: "credential", reading: "time zone" },
  nameEcho: { of: "credential", reading: "name echo", isWeak: true },
  extraFields: { of: "credential", reading: "extra fields", isWeak: true },
  credVersion: { of: "credential", reading: "cred_version" },
  redirects: "rules"
}

/** The behaviours whose variant is a word of this response. */
const inWords = (of: "token" | "credential", words: Readonly<Record<string, string>>): ReadonlyArray<Shown> =>
  Struct.entries(shownBy).flatMap(([name, by]) => {
    if (by === "rules" || by.of !== of) return []
    const word = words[by.reading] ?? ""
    return [
      weakIf(name, word, by.of === "credential" && by.isWeak === true && word === choices[name].variants[0].value)
    ]
  })

/**
 * A response to the documented path shows that the service redirects none. A service that redirects to a login page to
 * refuse a request, with a status that turns it into a GET, shows nothing about the other requests.
 */
const ofNoRedirect = ({ request }: Exchange): ReadonlyArray<Shown> =>
  request.target.includes("?") ? [] : [strong("redirects", "none")]

const isRefusal = ({ response: { status } }: Exchange): boolean => status < 304 || status > 399

/** Whether a token request is the documented one, apart from its credentials and from further parameters. */
const isDocumented = (request: Request.Request): boolean =>
  request.method === "POST" && Request.mediaType(request).type === "application/x-www-form-urlencoded" &&
  parametersOf(request).get("grant_type") === "client_credentials"

const parametersOf = ({ body }: Request.Request) => Request.parametersOf(Buffer.from(body).toString())

/**
 * A refusal of credentials that were accepted before is about the further parameters. A refusal of another request is
 * about the credentials only if it says so.
 */
const ofTokenRefusal = (
  request: Request.Request,
  wasAccepted: boolean,
  { isAboutCredentials, isFailure, word }: {
    readonly word: string
    readonly isAboutCredentials: boolean
    /** Whether the service may have failed instead of refusing. */
    readonly isFailure: boolean
  }
): ReadonlyArray<Shown> => {
  const hasMore = parametersOf(request).size > 1
  if (!isDocumented(request)) return isAboutCredentials ? [weak("tokenError", word)] : []
  return hasMore && (wasAccepted || !isAboutCredentials && !isFailure)
    ? [weakIf("tokenParameters", "refused", isFailure)]
    : [weakIf("tokenError", word, isFailure)]
}

const ofToken = (exchange: Exchange, wasAccepted: boolean): Readings => {
  const words = ContractReadings.ofTokenResponse(toContract(exchange))
  const { redirect, status, "token field": field, "token outcome": outcome } = words
  switch (outcome) {
    case "granted":
      return {
        words: Struct.omit(words, "token error", "error code", "challenge", "retry after"),
        shown: [
          // A plain text has no type and no lifetime, whatever the profile says.
          ...inWords("token", words).filter(({ name }) =>
            field !== "text" || name !== "tokenType" && name !== "tokenLifetime"
          ),
          ...(parametersOf(exchange.request).size > 1 ? [strong("tokenParameters", "ignored")] : []),
          ...ofNoRedirect(exchange)
        ]
      }
    default:
      return {
        words: Struct.pick(words, "status", "token outcome", "error code", "media type", "redirect"),
        shown: [
          ...(outcome === "no token" ? [strong("tokenField", field)] : []),
          ...(redirect === "none" ? [] : [weak("redirects", redirect)]),
          ...(outcome !== "rate limited" && isRefusal(exchange)
            ? ofTokenRefusal(exchange.request, wasAccepted, {
              word: words["token error"],
              isAboutCredentials: status === "401" || words["error code"] === "invalid_client",
              isFailure: outcome === "failed"
            })
            : [])
        ]
      }
  }
}

/** A service with the variant `any` accepts a charset too. */
const ofContentType = (request: Request.Request, isAnswered: boolean, status: number): ReadonlyArray<Shown> => {
  const { parameters, type } = Request.mediaType(request)
  if (type !== "application/json") return isAnswered ? [strong("amlRequestType", "any")] : []
  if (parameters.length === 0) return []
  return isAnswered
    ? [weak("amlRequestType", "json")]
    // With another status, the refusal may be about the body.
    : [weakIf("amlRequestType", "exact", status !== 415)]
}

/** The statuses that a profile plays. With one of them, a response without a credential may be a refusal. */
const successes = [200, 201, 203]

/** The statuses with which a service refuses the fields of a check. Others may come from a gateway before it. */
const fieldStatuses = [400, 422]

/** A service answers or refuses a name that is damaged. Whether it refuses a blank name is another question. */
const ofDamagedName = (name: string, isAnswered: boolean, status: number): ReadonlyArray<Shown> =>
  name.trim() === "" || damageOf(name) === undefined || !isAnswered && !fieldStatuses.includes(status)
    ? []
    : [strong("damagedName", isAnswered ? "answered" : "refused")]

const ofCheck = (exchange: Exchange, wasAccepted: boolean): Readings => {
  const { status } = exchange.response
  const person = personOf(exchange)
  const words = ContractReadings.ofCheckResponse(
    toContract(exchange),
    Option.getOrElse(person, () => ({ name: "", dob: "" }))
  )
  const { "check outcome": outcome, "error form": errorForm, redirect } = words
  switch (outcome) {
    case "answered": {
      const { "extra fields": extraFields, "name echo": echo, ...ofCredential } = words
      return {
        words: Struct.omit(
          { ...ofCredential, "extra fields": extraFields, ...(Option.isSome(person) && { "name echo": echo }) },
          "expiry",
          "error form",
          "challenge",
          "retry after",
          ...(Option.isSome(person) ? [] : ["name" as const, "birth_year" as const])
        ),
        shown: [
          ...ofContentType(exchange.request, true, status),
          ...Option.match(person, { onNone: () => [], onSome: ({ name }) => ofDamagedName(name, true, status) }),
          ...inWords("credential", words).filter(({ name }) => name !== "nameEcho" || Option.isSome(person)),
          ...ofNoRedirect(exchange)
        ]
      }
    }
    default:
      return {
        words: Struct.pick(words, "status", "check outcome", "error form", "media type", "challenge", "redirect"),
        shown: [
          ...(wasAccepted ? ofContentType(exchange.request, false, status) : []),
          ...Option.match(person, { onNone: () => [], onSome: ({ name }) => ofDamagedName(name, false, status) }),
          ...(outcome === "no credential" && !successes.includes(status) ? [strong("amlStatus", words.status)] : []),
          ...(redirect === "none" ? [] : [weak("redirects", redirect)]),
          ...(isRefusal(exchange) ? [weakIf("amlError", errorForm, !fieldStatuses.includes(status))] : []),
          ...(status === 429 ? [strong("rateLimit", words["retry after"])] : []),
          ...(wasAccepted && (status === 401 || status === 403) ? [strong("expiredToken", words.expiry)] : [])
        ]
      }
  }
}

/** Reads an exchange. `wasAccepted`: the credentials or the token of the request were accepted before. */
export const read = (exchange: Exchange, wasAccepted: boolean): Readings =>
  exchange.operation === "token" ? ofToken(exchange, wasAccepted) : ofCheck(exchange, wasAccepted)

/** Reads a request whose connection the service closed without a response, as some do to refuse it. */
export const ofClosed = (
  operation: "token" | "aml",
  request: Request.Request,
  wasAccepted: boolean
): ReadonlyArray<Shown> =>
  operation === "token"
    ? ofTokenRefusal(request, wasAccepted, { word: "no answer", isAboutCredentials: false, isFailure: false })
    : [
      strong("amlError", "no answer"),
      ...(wasAccepted ? ofContentType(request, false, 0) : [])
    ]

/** The lifetimes that the variants have, as numbers or texts. */
const playedLifetimes: ReadonlyArray<unknown> = [0, 60, 3600, 86_400, "3600", "soon", null, undefined]

/** The behaviours of a token response of which a profile has only a similar variant. The words hide the difference. */
export const approximateInToken = (exchange: Exchange): ReadonlyArray<Profile.Name> =>
  Option.match(ContractReadings.grantOf(toContract(exchange)), {
    onNone: () => [],
    onSome: ({ lifetime }) => playedLifetimes.includes(lifetime) ? [] : ["tokenLifetime"]
  })

/** Words of which a profile has only a similar variant: another time zone on the same side of UTC, another version. */
const similar: Partial<Record<Profile.Name, ReadonlyArray<readonly [word: RegExp, variant: string]>>> = {
  searchedOn: [[/^UTC\+/, "ahead"], [/^UTC-/, "behind"]],
  credVersion: [[/^1\.\d+$/, "1.7"], [/^another major$/, "2.0"]]
}

export interface Played {
  readonly variant: string
  /** Whether the variant is what the word says, and not only similar. */
  readonly isExact: boolean
}

/** The variant with which a profile plays a word of the contract. */
export const variantOf = (name: Profile.Name, word: string): Option.Option<Played> =>
  choices[name].variants.some(({ value }) => value === word)
    ? Option.some({ variant: word, isExact: true })
    : Option.map(
      Option.fromNullable(similar[name]?.find(([pattern]) => pattern.test(word))),
      ([, variant]) => ({ variant, isExact: false })
    )
