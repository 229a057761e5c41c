/** The fields of both operations, whose names may be shown. The name of another may be a value. */
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
