/** The fields of both operations whose names may be shown, and which of their values. The name of another may be a value. */
const objects = {
  "": [
    "entity_type",
    "name",
    "dob",
    "access_token",
    "accessToken",
    "token",
    "data",
    "token_type",
    "tokenType",
    "expires_in",
    "expiresIn",
    "error",
    "error_description",
    "error_uri",
    "errors",
    "type",
    "title",
    "status",
    "detail",
    "instance",
    "credential_type",
    "credential_name",
    "issued_by",
    "issuer_id",
    "cred_version",
    "credentials"
  ],
  "data": ["access_token", "token_type", "expires_in"],
  "credentials": ["attributes"],
  "credentials.attributes": ["name", "birth_year", "searched_on", "match_found", "aml_profile"]
}

/** The names of all fields, wherever they are. */
export const names: ReadonlyArray<string> = Object.values(objects).flat()

const isObject = (path: string): path is keyof typeof objects => Object.hasOwn(objects, path)

/** Whether a field at this path is known. */
export const isKnown = (parent: string, name: string): boolean => isObject(parent) && objects[parent].includes(name)

/** The texts that a field may have in a file, because they identify nobody. `numbers` has the fields of numbers. */
const texts: Readonly<Record<string, RegExp>> = {
  entity_type: /^person$/,
  token_type: /^(bearer|mac)$/i,
  tokenType: /^(bearer|mac)$/i,
  expires_in: /^\d{1,6}$/,
  expiresIn: /^\d{1,6}$/,
  error: /^(invalid_(request|client|grant|scope|token)|unauthorized_client|unsupported_grant_type|insufficient_scope)$/,
  credential_type: /^aml$/,
  credential_name: /^AML$/,
  cred_version: /^\d{1,3}\.\d{1,3}$/,
  match_found: /^(No|Potential match)$/,
  searched_on: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
}

const numbers = ["status", "expires_in", "expiresIn"]

/** Whether a value may be written as it is. */
export const isHarmless = (name: string, value: unknown): boolean =>
  value === null || typeof value === "boolean" ||
  typeof value === "number" && numbers.includes(name) ||
  typeof value === "string" && texts[name]?.test(value) === true
