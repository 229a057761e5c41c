/** Readings of all responses of a case, or of a run: every field of each, and what must hold between them. */
import * as Option from "effect/Option"
import { parseDocument } from "yaml"
import {
  correctFields,
  documentedNames,
  fieldsOf,
  isZoneOffset,
  matchFound,
  nameEcho,
  personOf,
  readings,
  timeOf
} from "./credentialReadings.ts"
import {
  attributesOf,
  isCredential,
  isDocumentedCheck,
  isErrorBody,
  isSuccess,
  type Read,
  type StepResponse,
  textOf
} from "./responseReadings.ts"

/** The first field that does not hold what section 2.3 shows, and how. */
const defectOf = (response: StepResponse): string | undefined => {
  for (const [name, [reading, ...words]] of Object.entries(correctFields)) {
    const word = readings[reading]([response])
    if (!words.includes(word)) {
      return `${name} ${word === "absent" ? "absent" : ["null", "no string"].includes(word) ? "no string" : "wrong"}`
    }
  }
  return undefined
}

/** Whether an observation names a field, as `defectOf` does. */
export const namesField = (observed: string): boolean => / (absent|no string|wrong)$/.test(observed)

/** Whether an object in the text has a field twice, so that two readers could see two values. */
const hasDuplicate = (text: string): boolean =>
  // Parsing again takes much longer than the search, and other objects may have a field of the same name.
  documentedNames.some((name) => (text.match(new RegExp(`"${name}"\\s*:`, "g"))?.length ?? 0) > 1) &&
  parseDocument(text).errors.some(({ code }) => code === "DUPLICATE_KEY")

const wholeOf = (response: StepResponse): string => {
  const { response: received } = response
  if (!isCredential(received)) {
    // A refusal may look like anything, also like an empty 204.
    return isSuccess(received) && !isErrorBody(received) && isDocumentedCheck(response.step)
      ? "no credential"
      : "refused"
  }
  const text = Option.getOrElse(textOf(received), () => "")
  return defectOf(response) ?? (hasDuplicate(text) ? "a field twice" : "valid")
}

/** Whether a request has the name of a person. A service may also answer requests without one. */
const hasName = ({ person, step }: StepResponse): boolean =>
  step.to === "aml" && person !== undefined &&
  (step.body === undefined || /\{(name|check)/.test(JSON.stringify(step.body)))

/** The first defect of any response, or `valid`. */
const everyField: Read = (responses) =>
  responses.filter(hasName).map(wholeOf).find((word) => word !== "valid") ?? "valid"

const issuerFields = ["issued_by", "issuer_id", "cred_version"]

const sameIssuer: Read = (responses) => {
  const issuers = responses.filter(({ response }) => isCredential(response)).map(({ response }) => {
    const fields = fieldsOf(response)
    return JSON.stringify(issuerFields.map((name) => fields[name]))
  })
  return new Set(issuers).size > 1 ? "different" : "same"
}

/** Whether each key has one value only. */
const isUnique = (pairs: ReadonlyArray<readonly [key: unknown, value: unknown]>): boolean => {
  const values = new Map<unknown, unknown>()
  return pairs.every(([key, value]) => {
    const first = values.get(key) ?? value
    values.set(key, first)
    return first === value
  })
}

/** The person and the profile of each credential. */
const profilesOf = (
  responses: ReadonlyArray<StepResponse>
): ReadonlyArray<readonly [name: string, dob: string, profile: unknown]> =>
  responses.filter(({ response }) => isCredential(response)).map((each) => {
    const { dob, name } = personOf(each)
    return [name, dob, attributesOf(each.response)?.["aml_profile"]]
  })

/** Whether checks of different people have different profiles. */
const ownProfile: Read = (responses) =>
  isUnique(profilesOf(responses).map(([name, dob, profile]) => [profile, `${dob} ${name.toLowerCase()}`]))
    ? "own"
    : "shared"

/** Whether later checks of a person have the same profile as the first. */
const stableProfile: Read = (responses) => {
  const profiles = profilesOf(responses).map(([name, dob, profile]) => [`${dob} ${name}`, profile] as const)
  if (new Set(profiles.map(([person]) => person)).size === profiles.length) return "no result"
  return isUnique(profiles) ? "the same" : "another one"
}

/** For how long the suite assumes that the lists do not change, in milliseconds. */
const stableMillis = 10 * 60_000

/** Whether checks of the same person within ten minutes have the same result. */
const sameResult: Read = (responses) => {
  const last = new Map<string, { readonly result: string; readonly receivedAt: number }>()
  for (const each of responses) {
    if (!isCredential(each.response)) continue
    const { dob, name } = personOf(each)
    const key = `${dob} ${name}`
    const { receivedAt } = each.response
    const result = matchFound(each)
    const before = last.get(key)
    if (before !== undefined && Math.abs(receivedAt - before.receivedAt) < stableMillis && before.result !== result) {
      return "different"
    }
    last.set(key, { result, receivedAt })
  }
  return "same"
}

/** How many people show whether a service lists everybody. */
const enoughPeople = 3

/** Whether any person has the result "No". People with a promised match, and the results of a few people, show nothing. */
const everyMatch: Read = (responses) => {
  const results = new Map<string, string>()
  for (const each of responses.filter(({ response }) => isCredential(response))) {
    const { dob, name, promised } = personOf(each)
    if (promised !== "Potential match") results.set(`${dob} ${name}`, matchFound(each))
  }
  const words = [...results.values()]
  if (words.includes("No")) return "some"
  return words.length < enoughPeople || words.some((word) => word !== "Potential match") ? "no result" : "everybody"
}

/** How the credentials write the names: the first way that is not exact, if there is one. */
const everyNameEcho: Read = (responses) =>
  responses.filter(hasName).flatMap((each) => {
    const name = attributesOf(each.response)?.["name"]
    return typeof name === "string" ? [nameEcho(name, each)] : []
  }).find((word) => word !== "exact") ?? "exact"

/** By how much clocks may differ in a run, in milliseconds. `searched_on` has no fractions of seconds. */
const tolerance = 5000

const hour = 3_600_000

interface Search {
  readonly receivedAt: number
  readonly millis: number
  /** From the time when the response was received to the time that it states. */
  readonly offset: number
}

/**
 * Whether two searches state times of the same zone. Each search is between its request and its response, so its zone is
 * between `offset` and `offset + millis`. The change to or from daylight saving time may be between two that are an hour
 * apart or more.
 */
const areOfOneZone = (one: Search, other: Search): boolean => {
  const isNear = (change: number): boolean =>
    one.offset + change <= other.offset + other.millis + tolerance &&
    other.offset <= one.offset + change + one.millis + tolerance
  return isNear(0) ||
    Math.abs(one.receivedAt - other.receivedAt) >= hour && (isNear(hour) || isNear(-hour))
}

/**
 * Whether the times of the searches move as the clock does. The zone is unspecified, but it is the same for all, and
 * differs from UTC by a number of quarter hours.
 */
const timeOfSearch: Read = (responses) => {
  const searches = responses.flatMap(({ response }): ReadonlyArray<Search> => {
    const text = attributesOf(response)?.["searched_on"]
    const time = typeof text === "string" ? timeOf(text) : Option.none()
    return Option.isSome(time)
      ? [{ receivedAt: response.receivedAt, millis: response.millis, offset: time.value - response.receivedAt }]
      : []
  })
  const [first] = searches
  if (first === undefined) return "no search"
  return searches.every((search) => isZoneOffset(search.offset) && areOfOneZone(first, search))
    ? "of the search"
    : "another time"
}

export const ofWhole = {
  "every field": everyField,
  "same issuer": sameIssuer,
  "same result": sameResult,
  "every match": everyMatch,
  "every name echo": everyNameEcho,
  "own profile": ownProfile,
  "stable profile": stableProfile,
  "time of search": timeOfSearch
} as const satisfies Record<string, Read>
