/** The target of a request as a journal keeps it: paths and names of parameters that are known, and nothing else. */
import { cut, hidden } from "./hiddenText.ts"

const knownPaths = new Set(["/oauth/service", "/api/aml"])

/** What a path that is wrong is made of, mostly. Any other word may be somebody's name. */
const harmlessSegments = new Set(
  ["", "oauth", "oauth2", "service", "token", "auth", "api", "v1", "v2", "v3", "aml", "aml-profiles", "check", "health"]
    .concat(["connect", "services", "ready", "live", "favicon.ico", "robots.txt", "_mock", "ui", "docs", "*"])
)

const isHarmlessSegment = (segment: string): boolean => harmlessSegments.has(segment)

const maxSegments = 8

export const maxTarget = 512

export const maskTarget = (target: string): string => {
  const [, path = "", query = ""] = /^([^?#]*)(.*)$/s.exec(target) ?? []
  return cut(maskPath(path) + (query.startsWith("?") ? `?${maskQuery(query.slice(1))}` : query && hidden), maxTarget)
}

const maskPath = (path: string): string => {
  if (knownPaths.has(path)) return path
  if (path.startsWith("/aml-profiles/")) return `/aml-profiles/${hidden}`
  const [first, ...segments] = path.split("/")
  return first !== "" || segments.length === 0 || segments.length > maxSegments
    ? hidden
    : `/${segments.map((segment) => isHarmlessSegment(segment) ? segment : hidden).join("/")}`
}

const maskQuery = (query: string): string => query === "" ? "" : maskPairs(query, () => false)

const harmlessParameters = new Set(
  ["grant_type", "client_id", "client_secret", "scope", "audience", "resource", "redirected", "customer_id"]
    .concat(["customer_key", "username", "password", "name", "dob", "entity_type", "token"])
)

/** The name of any other parameter may be what lost its name. */
export const maskPairs = (pairs: string, isHarmless: (name: string, value: string) => boolean): string =>
  pairs.split("&").map((pair) => {
    const [, name, value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    return name === undefined
      ? hidden
      : `${harmlessParameters.has(name) ? name : hidden}=${value === "" || isHarmless(name, value) ? value : hidden}`
  }).join("&")
