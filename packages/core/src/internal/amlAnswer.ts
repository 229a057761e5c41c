/** The one place where an answer becomes a result. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import * as AmlCredential from "../AmlCredential.ts"
import * as AmlError from "../AmlError.ts"
import type { CheckPolicy, NameEcho } from "../CheckPolicy.ts"
import type { Evidence } from "../Evidence.ts"
import type { Person } from "../Person.ts"
import * as PersonInput from "../PersonInput.ts"
import * as PersonName from "../PersonName.ts"
import * as Violation from "../Violation.ts"
import type * as Bearer from "./bearer.ts"
import * as ErrorBody from "./errorBody.ts"
import type * as Exchange from "./exchange.ts"

export const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new AmlError.AmlAnswerInvalid({ ...description, violations })

/** A credential, and what is unusual about its name. */
export interface Accepted extends Pick<Evidence, "status"> {
  readonly credential: AmlCredential.AmlCredential
  readonly warnings: ReadonlyArray<PersonInput.Warning>
}

export interface Options extends ErrorBody.Secrets, Pick<CheckPolicy, "nameEcho" | "searchedOnTolerance"> {
  /** In milliseconds of the wall clock. */
  readonly now: number
}

const isResult = (status: number): status is Evidence["status"] => status === 200 || status === 201

/**
 * A credential, if the answer is a 200 or 201 and a whole credential about this person, of these days. All else is a
 * failure.
 */
export const interpret = (
  { answer, renewal }: Bearer.Authorized,
  { nameEcho, now, person, searchedOnTolerance, tokens }: Options
): Either.Either<Accepted, AmlError.AmlError> => {
  const { body, description, status } = answer
  if (status >= 400) return Either.left(refusal(answer, renewal, ErrorBody.read(body, { person, tokens })))
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
        name: accepted[nameEcho].includes(difference),
        birth_year: Number(Redacted.value(birthYear)) === person.dateOfBirth.year
      }
      const fields = Struct.keys(isSame).filter((field) => !isSame[field])
      if (Arr.isNonEmptyArray(fields)) return Either.left(new AmlError.AmlAnswerMismatch({ fields }))
      const warnings = difference === undefined ? [] : [new PersonInput.Warning({ field: "name", code: difference })]
      return Either.right({ credential, status, warnings })
    })
  )
}

/** Its time zone is not known. The tolerance covers all of them. */
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

type Difference = "other_form" | "other_name"

/** How the name of an answer differs from the one that was sent. */
const differenceOf = ({ name }: Person, echo: string): Difference | undefined =>
  PersonName.isEquivalent(name, echo) ? undefined : PersonName.hasSameWords(name, echo) ? "other_form" : "other_name"

const accepted: Record<NameEcho, ReadonlyArray<Difference | undefined>> = {
  exact: [undefined],
  loose: [undefined, "other_form"],
  ignore: [undefined, "other_form", "other_name"]
}

const refusal = (
  { description: { host }, retryAfter, status }: Exchange.Answer,
  renewal: AmlError.Renewal,
  told: ErrorBody.ErrorBody
): AmlError.AmlError => {
  const wait = retryAfter && { retryAfter }
  if (status === 401) return new AmlError.AmlUnauthorized({ status, renewal, ...told })
  if (status === 403) return new AmlError.AmlForbidden({ status, ...told })
  if (status === 429) return new AmlError.AmlRateLimited({ ...wait, ...told })
  return status >= 500
    ? new AmlError.AmlUnavailable({ reason: "status", host, status, sent: "answered", ...wait, ...told })
    : new AmlError.AmlRequestRejected({ status, ...told })
}
