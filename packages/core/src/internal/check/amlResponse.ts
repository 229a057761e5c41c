/** Turns a response into a credential or an error. No other module does. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import type { AmlCheck } from "../../AmlCheck.ts"
import * as AmlCredential from "../../AmlCredential.ts"
import * as AmlError from "../../AmlError.ts"
import type { Person } from "../../Person.ts"
import * as PersonName from "../../PersonName.ts"
import * as Violation from "../../Violation.ts"
import * as PersonInput from "../names/personInput.ts"
import type * as Exchange from "../wire/exchange.ts"
import type * as Bearer from "./bearer.ts"
import type { CheckPolicy, NameEcho } from "./checkOptions.ts"
import * as ErrorBody from "./errorBody.ts"

export const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new AmlError.AmlResponseInvalid({ ...description, violations })

/** A credential, and the warnings about its name. */
export interface AcceptedCredential extends Pick<AmlCheck, "status"> {
  readonly credential: AmlCredential.AmlCredential
  readonly warnings: ReadonlyArray<PersonInput.Warning>
}

export interface Options extends ErrorBody.Secrets, Pick<CheckPolicy, "nameEcho" | "searchedOnTolerance"> {
  /** In milliseconds of the wall clock. */
  readonly now: number
}

const isResult = (status: number): status is AmlCheck["status"] => status === 200 || status === 201

/**
 * Returns a credential only from a 200 or 201 whose body is a complete credential about this person with a recent
 * `searched_on`. Every other response is an error.
 */
export const interpret = (
  { renewal, response }: Bearer.AuthorizedResponse,
  { nameEcho, now, person, searchedOnTolerance, tokens }: Options
): Either.Either<AcceptedCredential, AmlError.AmlError> => {
  const { body, description, status } = response
  if (status >= 400) return Either.left(errorOf(response, renewal, ErrorBody.read(body, { person, tokens })))
  if (!isResult(status)) {
    return Either.left(invalid(description, Violation.whole("a credential, with status 200 or 201")))
  }
  return AmlCredential.decodeJson(body).pipe(
    Either.filterOrLeft(
      ({ credentials: { attributes } }) => isRecent(attributes, now, searchedOnTolerance),
      () => notRecent(searchedOnTolerance)
    ),
    Either.mapLeft((violations) => invalid(description, violations)),
    Either.flatMap((credential) => {
      const { birthYear, name } = credential.credentials.attributes
      const difference = differenceOf(person, Redacted.value(name))
      const isSame = {
        name: acceptedDifferences[nameEcho].includes(difference),
        birth_year: Number(Redacted.value(birthYear)) === person.dateOfBirth.year
      }
      const fields = Struct.keys(isSame).filter((field) => !isSame[field])
      if (Arr.isNonEmptyArray(fields)) return Either.left(new AmlError.AmlResponseMismatch({ fields }))
      const warnings = difference === undefined ? [] : [new PersonInput.Warning({ field: "name", code: difference })]
      return Either.right({ credential, status, warnings })
    })
  )
}

/** The time zone of `searched_on` is unspecified, so it is read as UTC. The tolerance covers all time zones. */
const isRecent = ({ searchedOn }: AmlCredential.Attributes, now: number, tolerance: Duration.Duration): boolean =>
  Math.abs(Date.parse(`${searchedOn.replace(" ", "T")}Z`) - now) <= Duration.toMillis(tolerance)

const notRecent = (tolerance: Duration.Duration): Violation.Violations =>
  Arr.of(
    new Violation.Violation({
      path: "credentials.attributes.searched_on",
      problem: "invalid",
      expected: `a time within ${Duration.format(tolerance)} of this client's clock ` +
        "(if the clock of a mock server or of a test was moved, set the option searchedOnTolerance)"
    })
  )

type Difference = "other_marks" | "other_form" | "other_name"

/** How the name in the response differs from the name in the request. */
const differenceOf = ({ name }: Person, echo: string): Difference | undefined =>
  PersonName.isEquivalent(name, echo)
    ? undefined
    : !PersonName.hasSameWords(name, echo)
    ? "other_name"
    : PersonName.hasSameOrder(name, echo)
    ? "other_marks"
    : "other_form"

const acceptedDifferences: Record<NameEcho, ReadonlyArray<Difference | undefined>> = {
  exact: [undefined],
  loose: [undefined, "other_marks", "other_form"],
  ignore: [undefined, "other_marks", "other_form", "other_name"]
}

const errorOf = (
  { description: { host }, retryAfter, status }: Exchange.CompleteResponse,
  renewal: AmlError.Renewal,
  reported: ErrorBody.ErrorBody
): AmlError.AmlError => {
  const wait = retryAfter && { retryAfter }
  if (status === 401) return new AmlError.AmlUnauthorized({ status, renewal, ...reported })
  if (status === 403) return new AmlError.AmlForbidden({ status, ...reported })
  if (status === 429) return new AmlError.AmlRateLimited({ ...wait, ...reported })
  return status >= 500
    ? new AmlError.AmlUnavailable({ reason: "status", host, status, sent: "answered", ...wait, ...reported })
    : new AmlError.AmlRequestRejected({ status, ...(status === 408 || status === 425) && wait, ...reported })
}
