/** The one place where an answer becomes a result. */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import * as AmlCredential from "../AmlCredential.ts"
import * as AmlError from "../AmlError.ts"
import type { CheckPolicy } from "../CheckPolicy.ts"
import type { Person } from "../Person.ts"
import * as PersonName from "../PersonName.ts"
import * as Violation from "../Violation.ts"
import type * as Bearer from "./bearer.ts"
import * as ErrorBody from "./errorBody.ts"
import * as Exchange from "./exchange.ts"

export const invalid = (description: Exchange.Description, violations: Violation.Violations) =>
  new AmlError.AmlAnswerInvalid({ ...description, violations })

/** A credential, if the answer is a 2xx and a whole credential about this person. All else is a failure. */
export const interpret = (
  { answer, renewal }: Bearer.Authorized,
  { nameEcho, person, tokens }: ErrorBody.Secrets & Pick<CheckPolicy, "nameEcho">
): Either.Either<AmlCredential.AmlCredential, AmlError.AmlError> => {
  const { body, description, status } = answer
  if (status >= 400) return Either.left(refusal(answer, renewal, ErrorBody.read(body, { person, tokens })))
  if (!Exchange.isSuccess(answer)) return Either.left(invalid(description, Violation.whole("a credential")))
  return AmlCredential.decodeJson(body).pipe(
    Either.mapLeft((violations) => invalid(description, violations)),
    Either.flatMap((credential) => {
      const fields = mismatches(credential.credentials.attributes, person, nameEcho)
      return Arr.isNonEmptyArray(fields)
        ? Either.left(new AmlError.AmlAnswerMismatch({ fields }))
        : Either.right(credential)
    })
  )
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

const mismatches = (
  { birthYear, name }: AmlCredential.Attributes,
  person: Person,
  nameEcho: CheckPolicy["nameEcho"]
) => {
  const isSame = {
    name: nameEcho === "ignore" || PersonName.isEquivalent(person.name, Redacted.value(name)),
    birth_year: Number(Redacted.value(birthYear)) === person.dateOfBirth.year
  }
  return Struct.keys(isSame).filter((field) => !isSame[field])
}
