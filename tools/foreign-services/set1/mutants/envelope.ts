import { deflateSync } from "node:zlib"
import { area } from "../define.ts"
import { isObject } from "../hooks.ts"
import { validFor, validForBoth } from "../probes.ts"
import { quotes } from "../quotes.ts"
import type { Hooks, Json, JsonObject, Mutant } from "../types.ts"

const fields = area("response: credential fields")
const encoding = area("response: encoding")

/** Changes the credential before it is encoded. */
const credential =
  (change: (credential: JsonObject, match: boolean) => JsonObject) => (base: Hooks): Partial<Hooks> => ({
    credential: (attributes, check, match) => change(base.credential(attributes, check, match), match)
  })

/** Changes the bytes of the response body. */
const bytes = (change: (body: Buffer, match: boolean) => Buffer | string) => (base: Hooks): Partial<Hooks> => ({
  encode: (value, check, match) => Buffer.from(change(base.encode(value, check, match), match))
})

const without = (object: JsonObject, field: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== field))

const renamed = (object: JsonObject, field: string, name: string): JsonObject => ({
  ...without(object, field),
  [name]: object[field] ?? null
})

const attributesOf = (
  value: JsonObject
): Json => (isObject(value["credentials"]) ? (value["credentials"]["attributes"] ?? null) : null)

/** Creates a mutant that sets one field of the credential. */
const sets = (id: string, breaks: string, explanation: string, field: string, value: Json): Mutant =>
  fields(id, breaks, explanation, credential((found) => ({ ...found, [field]: value })), validForBoth)

const removes = (id: string, breaks: string, field: string): Mutant =>
  fields(id, breaks, `The field ${field} is missing.`, credential((found) => without(found, field)), validForBoth)

const twice = validFor([{}, {}, {}])

export const envelopeMutants = [
  removes("type-missing", quotes.type, "credential_type"),
  sets("type-upper-case", quotes.type, "credential_type is AML.", "credential_type", "AML"),
  sets("type-capitalized", quotes.type, "credential_type is Aml.", "credential_type", "Aml"),
  sets("type-identity", quotes.type, "credential_type is identity.", "credential_type", "identity"),
  sets("type-array", quotes.type, "credential_type is an array that contains aml.", "credential_type", ["aml"]),
  fields(
    "type-listed",
    quotes.type,
    "credential_type is pep for a potential match.",
    credential((found, match) => (match ? { ...found, credential_type: "pep" } : found)),
    validForBoth
  ),
  removes("display-name-missing", quotes.credentialName, "credential_name"),
  sets("display-name-lower-case", quotes.credentialName, "credential_name is aml.", "credential_name", "aml"),
  sets("display-name-longer", quotes.credentialName, "credential_name is AML Check.", "credential_name", "AML Check"),
  removes("issuer-name-missing", quotes.issuedBy, "issued_by"),
  sets("issuer-name-null", quotes.issuedBy, "issued_by is null.", "issued_by", null),
  sets("issuer-name-object", quotes.issuedBy, "issued_by is an object.", "issued_by", { name: "Example Verify Ltd" }),
  removes("issuer-id-missing", quotes.issuerId, "issuer_id"),
  sets("issuer-id-number", quotes.issuerId, "issuer_id is a number.", "issuer_id", 417),
  sets(
    "issuer-id-no-hyphens",
    quotes.issuerId,
    "issuer_id is a UUID without hyphens.",
    "issuer_id",
    "3f0c9d526f0e4f5e9a440d3c1f6b7a21"
  ),
  sets(
    "issuer-id-short",
    quotes.issuerId,
    "issuer_id is one digit too short.",
    "issuer_id",
    "3f0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a2"
  ),
  sets(
    "issuer-id-not-hexadecimal",
    quotes.issuerId,
    "issuer_id contains letters after f.",
    "issuer_id",
    "3g0c9d52-6f0e-4f5e-9a44-0d3c1f6b7a2z"
  ),
  fields("issuer-id-second", quotes.issuerId, "issuer_id is not a UUID after the first response.", (base) => {
    let count = 0
    return {
      credential: (attributes, check, match) => {
        count += 1
        const value = base.credential(attributes, check, match)
        return count === 1 ? value : { ...value, issuer_id: `issuer-${count}` }
      }
    }
  }, twice),
  removes("version-missing", quotes.version, "cred_version"),
  sets("version-number", quotes.version, "cred_version is the number 1.5.", "cred_version", 1.5),
  sets("version-major-only", quotes.version, "cred_version has no minor part.", "cred_version", "1"),
  sets("version-three-parts", quotes.version, "cred_version has three parts.", "cred_version", "1.0.0"),
  sets("version-prefix", quotes.version, "cred_version starts with v.", "cred_version", "v1.0"),
  sets("version-comma", quotes.version, "cred_version has a comma.", "cred_version", "1,0"),
  removes("holder-missing", quotes.credentials, "credentials"),
  fields(
    "holder-array",
    quotes.credentials,
    "credentials is an array with one object.",
    credential((found) => ({ ...found, credentials: [found["credentials"] ?? null] })),
    validForBoth
  ),
  fields(
    "holder-text",
    quotes.credentials,
    "credentials is a string that contains JSON.",
    credential((found) => ({ ...found, credentials: JSON.stringify(found["credentials"]) })),
    validForBoth
  ),
  fields(
    "holder-flat",
    quotes.attributes,
    "The attributes are direct fields of credentials.",
    credential((found) => ({ ...found, credentials: attributesOf(found) })),
    validForBoth
  ),
  fields(
    "holder-top-level",
    quotes.attributes,
    "The field attributes is a sibling of credentials.",
    credential((found) => ({ ...found, credentials: {}, attributes: attributesOf(found) })),
    validForBoth
  ),
  fields(
    "holder-renamed",
    quotes.credentials,
    "The field credentials has the name credential.",
    credential((found) => renamed(found, "credentials", "credential")),
    validForBoth
  ),
  fields(
    "attributes-array",
    quotes.attributes,
    "credentials.attributes is an array with one object.",
    credential((found) => ({ ...found, credentials: { attributes: [attributesOf(found)] } })),
    validForBoth
  ),
  fields(
    "attributes-pairs",
    quotes.attributes,
    "credentials.attributes is an array of name and value pairs.",
    credential((found) => {
      const value = attributesOf(found) ?? {}
      const pairs = isObject(value) ? Object.entries(value).map(([key, field]) => ({ key, value: field })) : []
      return { ...found, credentials: { attributes: pairs } }
    }),
    validForBoth
  ),
  fields(
    "attributes-empty-no",
    quotes.matchRule,
    "credentials.attributes is an empty object without a match.",
    credential((found, match) => (match ? found : { ...found, credentials: { attributes: {} } })),
    validForBoth
  ),
  fields(
    "envelope-data",
    quotes.response,
    "The credential is in a field data.",
    credential((found) => ({ data: found })),
    validForBoth
  ),
  fields(
    "envelope-camel-case",
    quotes.response,
    "The field names of the credential are in camel case.",
    credential((found) =>
      Object.fromEntries(
        Object.entries(found).map(([key, value]) => [
          key.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
          value
        ])
      )
    ),
    validForBoth
  ),

  encoding(
    "encoding-array",
    quotes.response,
    "The response is an array with one credential.",
    bytes((found) => `[${found.toString()}]`),
    validForBoth
  ),
  encoding(
    "encoding-text",
    quotes.response,
    "The response is a JSON string that contains the credential.",
    bytes((found) => JSON.stringify(found.toString())),
    validForBoth
  ),
  encoding(
    "encoding-truncated",
    quotes.response,
    "The response ends before the last ten bytes.",
    bytes((found) => found.subarray(0, -10)),
    validForBoth
  ),
  encoding(
    "encoding-truncated-match",
    quotes.response,
    "The response for a potential match lacks the last ten bytes.",
    bytes((found, match) => (match ? found.subarray(0, -10) : found)),
    validForBoth
  ),
  encoding(
    "encoding-duplicated",
    quotes.response,
    "The credential is in the response twice.",
    bytes((found) => Buffer.concat([found, found])),
    validForBoth
  ),
  encoding(
    "encoding-empty-repeat",
    quotes.matchRule,
    "The response to a repeated check of the same person has an empty body.",
    (base) => {
      const seen = new Set<string>()
      return {
        encode: (value, check, match) => {
          const repeated = seen.has(check.request.body)
          seen.add(check.request.body)
          return repeated ? Buffer.alloc(0) : base.encode(value, check, match)
        }
      }
    },
    twice
  ),
  encoding(
    "encoding-compressed",
    quotes.response,
    "The body is compressed, but no header states this.",
    bytes((found) => deflateSync(found)),
    validForBoth
  ),
  encoding(
    "encoding-latin",
    quotes.name,
    "The name is converted through ISO-8859-1, so that letters outside ASCII are lost.",
    (base) => ({
      attributes: (check, match) => ({
        ...base.attributes(check, match),
        name: Buffer.from(check.name, "latin1").toString("utf8")
      })
    }),
    validFor([{ name: "Zoë Müller" }, { name: "Łukasz Żak" }])
  ),
  encoding("encoding-html", quotes.name, "Apostrophes and ampersands in the name are escaped as HTML.", (base) => ({
    attributes: (check, match) => ({
      ...base.attributes(check, match),
      name: check.name.replaceAll("&", "&amp;").replaceAll("'", "&#39;")
    })
  }), validFor([{ name: "Sean O'Brien" }])),
  encoding(
    "encoding-quotes",
    quotes.response,
    "Quotation marks in the name are not escaped in the JSON text.",
    bytes((found) => found.toString().replaceAll("\\\"", "\"")),
    validFor([{ name: "Ana \"Nita\" Costa" }])
  )
]
