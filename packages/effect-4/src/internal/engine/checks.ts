/** Converts the record of a check, and keeps that of the engine behind it. */
import * as AmlCheck3 from "@effect-idv/core/AmlCheck"
import * as Violation3 from "@effect-idv/core/Violation"
import * as Either3 from "effect-3/Either"
import * as Redacted3 from "effect-3/Redacted"
import * as Schema3 from "effect-3/Schema"
import { DateOfBirth } from "../../DateOfBirth.ts"
import * as PersonInput from "../personInput.ts"
import * as Values from "./values.ts"

const checks = new WeakMap<object, AmlCheck3.AmlCheck>()
const converted = new WeakMap<AmlCheck3.AmlCheck, ReturnType<typeof convert>>()

/** Whether the value is a check of this package. Copies and other objects are not. */
export const isCheck = (u: unknown): u is object => typeof u === "object" && u !== null && checks.has(u)

/** Throws for an object that is not a check of this package. */
export const fromCheck = (check: object): AmlCheck3.AmlCheck => {
  const found = checks.get(check)
  if (found === undefined) {
    throw new TypeError("This is not a check that the client made or decoded, but perhaps a copy")
  }
  return found
}

const credential = ({ credentials: { attributes }, ...fields }: AmlCheck3.AmlCheck["credential"]) => ({
  ...fields,
  credentials: {
    attributes: {
      name: Values.redacted(attributes.name),
      birthYear: Values.redacted(attributes.birthYear),
      searchedOn: attributes.searchedOn,
      matchFound: attributes.matchFound,
      amlProfile: Values.redacted(attributes.amlProfile)
    }
  }
})

const convert = (check: AmlCheck3.AmlCheck) => {
  const { body, origin, policy, request } = check
  const { customer, environment } = origin
  return {
    result: check.result,
    checkId: check.checkId,
    request: {
      entity_type: request.entity_type,
      name: Values.redacted(request.name),
      dob: Values.redacted(Redacted3.make(new DateOfBirth(Redacted3.value(request.dob))))
    },
    origin: {
      host: origin.host,
      ...(environment !== undefined && { environment }),
      ...(customer !== undefined && { customer }),
      client: origin.client
    },
    policy: { nameEcho: policy.nameEcho, searchedOnTolerance: Values.duration(policy.searchedOnTolerance) },
    sentAt: Values.dateTime(check.sentAt),
    receivedAt: Values.dateTime(check.receivedAt),
    status: check.status,
    attempts: check.attempts,
    changes: check.changes.map((change) => new PersonInput.Change({ ...change })),
    warnings: check.warnings.map((warning) => new PersonInput.Warning({ ...warning })),
    get sha256() {
      return check.sha256
    },
    credential: credential(check.credential),
    ...(body !== undefined && { body: Values.redacted(body) })
  }
}

/** Returns the same check for the same check of the engine. */
export const toCheck = (check: AmlCheck3.AmlCheck) => {
  const known = converted.get(check)
  if (known !== undefined) return known
  const made = convert(check)
  checks.set(made, check)
  converted.set(check, made)
  return made
}

/** How checks are stored. An error of `decode` names the fields that are not valid, without their values. */
const storage = <I>(schema: Schema3.Schema<AmlCheck3.AmlCheck, I>) => {
  const decode = Violation3.decodeUnknown(schema)
  const encode = Schema3.encodeSync(schema)
  return {
    decode: (json: unknown) => Either3.mapBoth(decode(json), { onLeft: Violation3.format, onRight: toCheck }),
    encode: (check: object): unknown => encode(fromCheck(check))
  }
}

export const withBody = storage(AmlCheck3.AmlCheck)
export const withoutBody = storage(AmlCheck3.WithoutBody)
