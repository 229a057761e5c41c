/** What a recording has observed so far: counts only, and nothing of a single exchange. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Struct from "effect/Struct"
import type * as Profile from "../../Profile.ts"
import * as Request from "../http/request.ts"
import * as Words from "../journal/headerWords.ts"
import { type Exchange, isSuccess, objectIn } from "./exchange.ts"
import * as MaskedBody from "./maskedBody.ts"
import type { Pseudonyms } from "./pseudonyms.ts"
import * as Readings from "./readings.ts"

/** How often each text was seen. */
type Counts = Readonly<Record<string, number>>

export interface OfOperation {
  readonly exchanges: number
  readonly statuses: Counts
  /** The names of the response headers that are usual, in lower case. */
  readonly headers: Counts
  /** The paths of the fields that the schema does not know, which were dropped. */
  readonly unknownFields: Counts
  /** In milliseconds. */
  readonly latency: { readonly p50: number; readonly p99: number }
}

export interface Observations {
  readonly token: OfOperation
  readonly aml: OfOperation
  /** How often each variant was shown. */
  readonly variants: Partial<Record<Profile.Name, Counts>>
  /** The behaviours of which the profile has only a similar variant. */
  readonly approximate: ReadonlyArray<Profile.Name>
}

/** The exchange as it may be written. */
export interface Masked {
  readonly request: MaskedBody.MaskedBody
  readonly response: MaskedBody.MaskedBody
}

export interface Recording {
  /** Reads an exchange, and returns what may be written of it. */
  readonly add: (exchange: Exchange) => Masked
  readonly observations: () => Observations
  /** The most frequent variant of each behaviour that was shown. */
  readonly profile: () => Partial<Profile.Profile>
}

/** The latencies that one operation keeps: those of the last exchanges. */
const maxLatencies = 10_000

const count = (counts: Map<string, number>, text: string): void => {
  // A service with ever new names must not fill the memory.
  if (counts.has(text) || counts.size < 200) counts.set(text, (counts.get(text) ?? 0) + 1)
}

const quantile = (sorted: ReadonlyArray<number>, part: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10

const operation = () => {
  const statuses = new Map<string, number>()
  const headers = new Map<string, number>()
  const unknownFields = new Map<string, number>()
  let latencies: Array<number> = []
  let exchanges = 0
  return {
    add: ({ millis, response }: Exchange, { dropped }: MaskedBody.MaskedBody) => {
      exchanges++
      count(statuses, String(response.status))
      for (const name of Object.keys(response.headers)) if (Words.names.has(name)) count(headers, name)
      for (const path of dropped) count(unknownFields, path)
      latencies.push(millis)
      if (latencies.length > 2 * maxLatencies) latencies = latencies.slice(-maxLatencies)
    },
    read: (): OfOperation => {
      const sorted = latencies.slice(-maxLatencies).toSorted((a, b) => a - b)
      return {
        exchanges,
        statuses: Object.fromEntries(statuses),
        headers: Object.fromEntries(headers),
        unknownFields: Object.fromEntries(unknownFields),
        latency: { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
      }
    }
  }
}

/** The words of the person, and the credentials, of one exchange, in lower case. */
const secretsOf = ({ request, response }: Exchange): ReadonlyArray<string> => {
  const basic = Option.getOrUndefined(Request.basic(request))
  const bearer = Option.getOrUndefined(Request.bearer(request))
  const sent = Option.getOrUndefined(objectIn(request.body))
  const received = Option.getOrUndefined(objectIn(response.body))
  const persons = [sent?.["name"], sent?.["dob"]].filter(Predicate.isString).flatMap((text) => text.split(/[\s-]+/))
  const token = received === undefined
    ? undefined
    : Option.getOrUndefined(Readings.tokenFieldsOf({ request, response, operation: "token", at: 0, millis: 0 }))?.token
  return [basic?.customerKey, bearer, token, ...persons].filter(Predicate.isString).map((text) => text.toLowerCase())
}

export const make = (pseudonyms: Pseudonyms): Recording => {
  const operations = { token: operation(), aml: operation() }
  const variants = new Map<Profile.Name, Map<string, number>>()
  const approximate = new Set<Profile.Name>()
  /** Marks of the tokens with which a check succeeded. */
  const valid = new Set<string>()

  const choose = (name: Profile.Name): string | undefined => {
    const sorted = [...variants.get(name) ?? []].toSorted(([, a], [, b]) => b - a).map(([variant]) => variant)
    return sorted.find((variant) => variant !== Readings.weak[name]) ?? sorted[0]
  }

  return {
    add: (exchange) => {
      const secrets = secretsOf(exchange)
      const isSecret = (text: string) => {
        const lower = text.toLowerCase()
        return secrets.some((secret) => secret.length > 1 && (lower.includes(secret) || secret.includes(lower)))
      }
      const masked = {
        request: MaskedBody.mask(exchange.request.body, pseudonyms, isSecret),
        response: MaskedBody.mask(exchange.response.body, pseudonyms, isSecret)
      }
      if (exchange.operation === "other") return masked
      operations[exchange.operation].add(exchange, masked.response)
      const mark = Option.map(Request.bearer(exchange.request), pseudonyms.token)
      const readings = Readings.read(exchange, Option.exists(mark, (mark) => valid.has(mark)))
      if (exchange.operation === "aml" && isSuccess(exchange) && Option.isSome(mark) && valid.size < 10_000) {
        valid.add(mark.value)
      }
      for (const name of Readings.approximate(exchange)) approximate.add(name)
      for (const [name, variant] of Struct.entries(readings)) {
        if (variant === undefined) continue
        const counts = variants.get(name) ?? new Map<string, number>()
        variants.set(name, counts)
        count(counts, variant)
      }
      return masked
    },
    observations: () => ({
      token: operations.token.read(),
      aml: operations.aml.read(),
      variants: Object.fromEntries([...variants].map(([name, counts]) => [name, Object.fromEntries(counts)])),
      approximate: [...approximate]
    }),
    profile: () =>
      Object.fromEntries([...variants.keys()].flatMap((name) => {
        const variant = choose(name)
        return variant === undefined ? [] : [[name, variant]]
      }))
  }
}
