import { createHash, randomBytes } from "node:crypto"
import { mintToken, presentation } from "./styles.ts"
import type { Check, Fields, Hooks, Incoming, Json, JsonObject } from "./types.ts"

export const hour = 3_600_000

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** Returns the part of the Authorization header after the scheme, or undefined if the scheme differs. */
export const afterScheme = (request: Incoming, scheme: string, ignoreCase: boolean): string | undefined => {
  const match = /^([^ ]+) +(\S+)$/.exec(request.headers.authorization ?? "")
  const found = match?.[1] ?? ""
  const equal = ignoreCase ? found.toLowerCase() === scheme.toLowerCase() : found === scheme
  return equal ? match?.[2] : undefined
}

/** Decodes base64 strictly: text with other characters or a wrong length is refused. */
export const decodeBase64 = (text: string): string | undefined => {
  const decoded = Buffer.from(text, "base64")
  return decoded.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "")
    ? decoded.toString("utf8")
    : undefined
}

export const splitCredentials = (
  text: string | undefined
): { readonly id: string; readonly key: string } | undefined => {
  const colon = text?.indexOf(":") ?? -1
  return text === undefined || colon < 0 ? undefined : { id: text.slice(0, colon), key: text.slice(colon + 1) }
}

/** Returns whether the text is an existing date in the format dd-mm-yyyy. */
export const isDate = (text: string): boolean => {
  const match = /^([0-9]{2})-([0-9]{2})-([0-9]{4})$/.exec(text)
  if (match === null) return false
  const [day, month, year] = [Number(match[1]), Number(match[2]), Number(match[3])]
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return year > 0 && day >= 1 && day <= days
}

export const formatDateTime = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")

/** Returns the local service time at which the search runs. */
export const searchTime = (check: Check): number =>
  check.context.now() + presentation[check.context.style].zoneMinutes * 60_000

/** Returns whether the last word of the name contains a word of the test lists. */
export const isListed = (name: string): boolean =>
  /testpep|testsanction|testmatch/i.test(name.trim().split(/\s+/).at(-1) ?? "")

export const fieldsOf = (value: Json | undefined): Fields | undefined =>
  isObject(value) ? { entity_type: value["entity_type"], name: value["name"], dob: value["dob"] } : undefined

export const contentType = (request: Incoming): string =>
  (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? ""

export const profileUrl = (check: Check): string => {
  const reference = createHash("sha256").update(`${check.name}|${check.dob}`).digest("hex").slice(0, 20)
  return presentation[check.context.style].profile(reference)
}

/** The steps of the correct service. */
export const correctHooks: Hooks = {
  path: (request) => request.path,
  method: (request, context) =>
    request.method === "POST" ||
    (context.style === "lenient" &&
      (request.method === "PUT" || (request.method === "GET" && request.path === "/oauth/service"))),
  credentials: (request, context) => {
    const encoded = afterScheme(request, "Basic", context.style === "lenient")
    return encoded === undefined ? undefined : splitCredentials(decodeBase64(encoded))
  },
  customer: (credentials, context) => credentials?.id === context.customerId && credentials.key === context.customerKey,
  grant: (request, context) => {
    const lenient = context.style === "lenient"
    const type = contentType(request)
    if (lenient && request.method === "GET") return request.query.get("grant_type") === "client_credentials"
    if (lenient && type === "application/json") {
      const value = parseJson(request.body)
      return isObject(value) && value["grant_type"] === "client_credentials"
    }
    if (!lenient && type !== "application/x-www-form-urlencoded") return false
    const values = new URLSearchParams(request.body).getAll("grant_type")
    return values.length === 1 && values[0] === "client_credentials"
  },
  issue: (request, context) => {
    const value = mintToken(context.style, context.customerId, request.at, randomBytes(32))
    const record = { value, requestedAt: request.at, uses: 0, request }
    context.tokens.set(value, record)
    return record
  },
  tokenResponse: (record, context) => presentation[context.style].tokenResponse(record.value),
  tokenRefused: () => {},
  bearer: (request, context) => afterScheme(request, "Bearer", context.style === "lenient"),
  find: (token, _request, context) => (token === undefined ? undefined : context.tokens.get(token)),
  alive: (record, request) => request.at - record.requestedAt < hour,
  anonymous: () => false,
  fields: (request) => fieldsOf(parseJson(request.body)),
  entity: (value) => value === "person",
  name: (value) => typeof value === "string" && value.trim() !== "",
  dob: (value) => typeof value === "string" && isDate(value),
  checkRefused: () => {},
  matches: (check) => isListed(check.name),
  attributes: (check, match) => ({
    name: check.name,
    birth_year: /[0-9]{4}/.exec(check.dob)?.[0] ?? "1900",
    searched_on: formatDateTime(searchTime(check)),
    match_found: match ? "Potential match" : "No",
    aml_profile: profileUrl(check)
  }),
  credential: (attributes, check) => presentation[check.context.style].credential(attributes),
  encode: (credential, check) => Buffer.from(presentation[check.context.style].stringify(credential), "utf8"),
  refusalFields: () => undefined
}
