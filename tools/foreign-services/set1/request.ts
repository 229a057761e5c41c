/** The authorization of a check, and its fields. */
import * as Change from "../changes.ts"
import { type Incoming, isObject, type Json, type JsonObject, parseJson, type Service } from "../service.ts"

const text = (value: Json): string => typeof value === "string" ? value : ""
const basic = ({ customer }: Service): string =>
  `Basic ${Buffer.from(`${customer.id}:${customer.key}`).toString("base64")}`
const bearer = (q: Incoming, s: Service): string | undefined => s.scheme(q.headers.authorization, "Bearer")
const isWrong = (q: Incoming, s: Service): boolean =>
  !s.tokens.has(/^bearer +(\S+)$/i.exec(q.headers.authorization ?? "")?.[1] ?? "")
const fieldIn = (q: Incoming, name: string): string => {
  const found = parseJson(q.body)
  return isObject(found) ? text(found[name]) : ""
}
/** Lets the requests in that share this with a valid check before them. */
const openAfter = <A>(keyOf: (q: Incoming) => A): Change.Change => (s, was) => {
  const known = new Set<A>()
  return {
    ...Change.open((q) => known.has(keyOf(q)))(s, was),
    matches: (check) => {
      known.add(keyOf(check.request))
      return was.matches(check)
    }
  }
}
/** Also accepts the method PUT, or another path. */
const put: Change.Change = (_s, was) => ({ methodOk: (q) => was.methodOk(q) || q.method === "PUT" })
const paths = (change: (path: string) => string): Change.Change => (_s, was) => ({ path: (q) => change(was.path(q)) })
/** Reads a body that is not an object in another way. */
const decodes = (read: (q: Incoming) => Json): Change.Change =>
  Change.reads((found, q) => isObject(found) ? found : read(q))
/** Reads a missing field from another one. */
const alias = (field: string, read: (found: JsonObject) => Json): Change.Change =>
  Change.reads((found) => isObject(found) && found[field] === undefined ? { ...found, [field]: read(found) } : found)

export const request: Change.Changes = {
  "check-header-absent": Change.open((q) => q.headers.authorization === undefined),
  "check-header-empty": Change.open((q) => q.headers.authorization === ""),
  "check-bearer-without-token": Change.open((q) => q.headers.authorization?.trim() === "Bearer"),
  "check-scheme-absent": Change.tokenIn((q) => q.headers.authorization),
  "check-scheme-basic": Change.tokenIn((q, s) => s.scheme(q.headers.authorization, "Basic")),
  "check-scheme-any": Change.tokenIn((q) => /^\S+ (\S+)$/.exec(q.headers.authorization ?? "")?.[1]),
  "check-token-in-query": Change.tokenIn((q) => new URLSearchParams(q.query).get("access_token") ?? undefined),
  "check-token-in-body": Change.tokenIn((q) => fieldIn(q, "access_token")),
  "check-token-in-cookie": Change.tokenIn((q) => /access_token=([^;]+)/.exec(q.headers.cookie ?? "")?.[1]),
  "check-token-in-other-header": Change.tokenIn((q) => Change.header(q, "x-access-token")),
  "check-client-credentials": Change.open((q, s) => q.headers.authorization === basic(s)),
  "check-connection-trusted": openAfter(({ connection }) => connection),
  "check-address-trusted": openAfter(() => "127.0.0.1"),
  "check-put-open": Change.all(put, Change.open((q) => q.method === "PUT")),
  "check-trailing-slash-open": Change.all(
    paths((path) => path.replace(/\/$/, "")),
    Change.open((q) => q.path.endsWith("/"))
  ),
  "check-path-case-open": Change.all(
    paths((path) => path.toLowerCase()),
    Change.open((q) => q.path !== q.path.toLowerCase())
  ),
  "check-double-slash-open": Change.all(
    paths((path) => path.replace(/^\/+/, "/")),
    Change.open((q) => q.path.startsWith("//"))
  ),
  "check-query-open": Change.open((q) => q.query !== ""),
  "check-forwarded-local-open": Change.open((q) => Change.header(q, "x-forwarded-for") === "127.0.0.1"),
  "check-known-person-open": openAfter((q) => q.body),
  "check-result-in-refusal": Change.inRefusal(
    /./,
    (q, s) =>
      q.path !== "/api/aml" || q.headers.authorization !== undefined ? undefined : {
        credentials: { attributes: { match_found: s.listed(fieldIn(q, "name")) ? "Potential match" : "No" } }
      }
  ),
  "token-any": Change.open((q, s) => bearer(q, s) !== undefined),
  "token-undefined": Change.open((q, s) => bearer(q, s) === "undefined"),
  "token-placeholder": Change.open((q, s) => bearer(q, s) === "<ACCESS_TOKEN>"),
  "token-wildcard": Change.finds((found) => found === "*"),
  "token-is-key": Change.open((q, s) => bearer(q, s) === s.customer.key),
  "token-is-id": Change.open((q, s) => bearer(q, s) === s.customer.id),
  "token-is-encoded-login": Change.open((q, s) => q.headers.authorization === basic(s).replace("Basic", "Bearer")),
  "token-third-attempt": Change.stateful(
    () => ({ attempts: 0 }),
    (state) =>
      Change.open((q, s) => {
        state.attempts = isWrong(q, s) ? state.attempts + 1 : 0
        return state.attempts === 3
      })
  ),
  "token-wrong-repeated": Change.stateful(
    () => new Set<string>(),
    (seen) =>
      Change.open((q, s) => {
        const token = bearer(q, s) ?? ""
        const isKnown = token !== "" && seen.has(token)
        seen.add(token)
        return isKnown
      })
  ),
  "token-wrong-during-check": Change.open((q, s) => s.searches > 0 && q.headers.authorization !== undefined),
  "token-last-character": Change.finds((found, issued) =>
    found.length === issued.length && found.slice(0, -1) === issued.slice(0, -1)
  ),
  "token-first-character": Change.finds((found, issued) => found.slice(1) === issued.slice(1)),
  "token-middle-ignored": Change.finds((
    found,
    issued
  ) =>
    found.length === issued.length && found.slice(0, 6) === issued.slice(0, 6) &&
    found.slice(-6) === issued.slice(-6)
  ),
  "token-length-only": Change.finds((found, issued) => found.length === issued.length),
  "token-truncated": Change.finds((found, issued) => issued.startsWith(found) && found.length >= issued.length / 2),
  "token-one-short": Change.finds((found, issued) => found === issued.slice(0, -1)),
  "token-suffix-ignored": Change.finds((found, issued) => found.startsWith(issued)),
  "token-prefix-ignored": Change.finds((found, issued) => found.endsWith(issued)),
  "token-case": Change.finds((found, issued) => found.toLowerCase() === issued.toLowerCase()),
  "token-doubled": Change.finds((found, issued) => found === issued + issued),
  "entity-absent": Change.also("entity_type", (value) => value === undefined),
  "entity-null": Change.also("entity_type", (value) => value === null),
  "entity-empty": Change.also("entity_type", (value) => value === ""),
  "entity-any": Change.also("entity_type", (value) => text(value) !== ""),
  "entity-case": Change.alsoForm("entity_type", /^person$/i),
  "entity-prefix": Change.alsoForm("entity_type", /^person/),
  "entity-contains": Change.alsoForm("entity_type", /person/),
  "entity-individual": Change.alsoForm("entity_type", /^individual$/),
  "entity-array": Change.also("entity_type", (value) => Array.isArray(value) && value.includes("person")),
  "entity-number": Change.also("entity_type", (value) => typeof value === "number"),
  "entity-true": Change.also("entity_type", (value) => value === true),
  "entity-company": Change.alsoForm("entity_type", /^company$/),
  "name-absent": Change.also("name", (value) => value === undefined),
  "name-null": Change.also("name", (value) => value === null),
  "name-empty": Change.also("name", (value) => value === ""),
  "name-blank": Change.alsoForm("name", /^\s+$/),
  "name-number": Change.also("name", (value) => typeof value === "number"),
  "name-boolean": Change.also("name", (value) => typeof value === "boolean"),
  "name-array": Change.also("name", (value) => Array.isArray(value)),
  "name-object": Change.also("name", isObject),
  "name-parts": alias(
    "name",
    ({ first_name: first, last_name: last }) => first === undefined ? undefined : `${text(first)} ${text(last)}`
  ),
  "name-full-name": alias("name", ({ full_name: full }) => full),
  "body-form": decodes((q) =>
    q.body.includes("entity_type=") ? Object.fromEntries(new URLSearchParams(q.body)) : undefined
  ),
  "body-query": decodes((q) =>
    q.query.includes("entity_type=") ? Object.fromEntries(new URLSearchParams(q.query)) : undefined
  ),
  "body-array": Change.reads((found) => Array.isArray(found) ? found[0] : found),
  "body-encoded-twice": Change.reads((found) => typeof found === "string" ? parseJson(found) : found),
  "body-nested": Change.reads((found) => isObject(found) && isObject(found["person"]) ? found["person"] : found),
  "body-trailing-text": decodes((q) => parseJson(q.body.slice(0, q.body.lastIndexOf("}") + 1))),
  "body-unterminated": decodes((q) => parseJson(`${q.body}}`)),
  "body-single-quotes": decodes((q) => parseJson(q.body.replaceAll("'", "\""))),
  "body-key-case": Change.reads((found) =>
    isObject(found)
      ? Object.fromEntries(Object.entries(found).map(([key, field]) => [key.toLowerCase(), field]))
      : found
  ),
  "body-empty-default": Change.stateful(
    (): { last: Json } => ({ last: { entity_type: "person", name: "Unknown", dob: "01-01-1970" } }),
    (state) =>
      Change.reads((found, q) => {
        if (isObject(found)) state.last = found
        return isObject(found) || q.body !== "" ? found : state.last
      })
  ),
  "dob-absent": Change.also("dob", (value) => value === undefined),
  "dob-null": Change.also("dob", (value) => value === null),
  "dob-empty": Change.also("dob", (value) => value === ""),
  "dob-number": Change.also("dob", (value) => typeof value === "number"),
  "dob-array": Change.also("dob", (value) => Array.isArray(value)),
  "dob-any": Change.also("dob", (value) => typeof value === "string"),
  "dob-iso": Change.alsoForm("dob", /^\d{4}-\d{2}-\d{2}$/),
  "dob-iso-time": Change.alsoForm("dob", /^\d{4}-\d{2}-\d{2}T/),
  "dob-month-first": Change.alsoForm("dob", /^(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])-\d{4}$/),
  "dob-slashes": Change.alsoForm("dob", /^\d{2}\/\d{2}\/\d{4}$/),
  "dob-dots": Change.alsoForm("dob", /^\d{2}\.\d{2}\.\d{4}$/),
  "dob-spaces": Change.alsoForm("dob", /^\d{2} \d{2} \d{4}$/),
  "dob-no-separator": Change.alsoForm("dob", /^\d{8}$/),
  "dob-en-dash": Change.alsoForm("dob", /^\d{2}–\d{2}–\d{4}$/),
  "dob-mixed-separators": Change.alsoForm("dob", /^\d{2}[-/.]\d{2}[-/.]\d{4}$/),
  "dob-short-day": Change.alsoForm("dob", /^\d-\d{2}-\d{4}$/),
  "dob-short-month": Change.alsoForm("dob", /^\d{2}-\d-\d{4}$/),
  "dob-short-year": Change.alsoForm("dob", /^\d{2}-\d{2}-\d{2}$/),
  "dob-year-only": Change.alsoForm("dob", /^\d{4}$/),
  "dob-month-name": Change.alsoForm("dob", /^\d{2}-[A-Z][a-z]{2}-\d{4}$/),
  "dob-long-year": Change.alsoForm("dob", /^\d{2}-\d{2}-\d{5}$/),
  "dob-text-after": Change.alsoForm("dob", /^\d{2}-\d{2}-\d{4}\D/),
  "dob-text-before": Change.alsoForm("dob", /\D\d{2}-\d{2}-\d{4}$/),
  "dob-other-digits": Change.alsoForm("dob", /^\p{Nd}{2}-\p{Nd}{2}-\p{Nd}{4}$/u),
  "dob-30-february": Change.alsoForm("dob", /^30-02-\d{4}$/),
  "dob-29-february": Change.alsoForm("dob", /^29-02-\d{4}$/),
  "dob-1900-leap": Change.alsoForm("dob", /^29-02-1900$/),
  "dob-31-in-short-month": Change.alsoForm("dob", /^31-(04|06|09|11)-\d{4}$/),
  "dob-day-32": Change.alsoForm("dob", /^3[2-9]-\d{2}-\d{4}$/),
  "dob-day-zero": Change.alsoForm("dob", /^00-\d{2}-\d{4}$/),
  "dob-month-zero": Change.alsoForm("dob", /^\d{2}-00-\d{4}$/),
  "dob-month-13": Change.alsoForm("dob", /^\d{2}-13-\d{4}$/),
  "dob-other-name": alias("dob", ({ date_of_birth: dob }) => dob),
  "dob-camel-case": alias("dob", ({ dateOfBirth: dob }) => dob)
}
