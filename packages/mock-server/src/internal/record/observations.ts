/** What a recording has observed so far: counts only, and nothing of a single exchange. */
import * as ContractReadings from "@effect-idv/contract/Readings"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Profile from "../../Profile.ts"
import * as Words from "../journal/headerWords.ts"
import * as Request from "../wire/request.ts"
import { type Exchange, objectIn, personOf, toContract } from "./exchange.ts"
import * as MaskedBody from "./maskedBody.ts"
import type { Pseudonyms } from "./pseudonyms.ts"
import * as Readings from "./readings.ts"

/** How often each text was seen. */
type Counts = Readonly<Record<string, number>>

export interface OfOperation {
  readonly exchanges: number
  readonly statuses: Counts
  /** The words of the contract's readings, such as `No` for `match_found`. */
  readonly words: Readonly<Record<string, Counts>>
  /** The names of the response headers that are usual, in lower case. */
  readonly headers: Counts
  /** The paths of the fields that the schema does not know, which were dropped. */
  readonly unknownFields: Counts
  /** In milliseconds. */
  readonly latency: { readonly p50: number; readonly p99: number }
}

/** How often a service showed words that no profile plays, by the claim of the contract. */
export type Unplayable = Readonly<Record<string, Counts>>

export interface Observations {
  readonly token: OfOperation
  readonly aml: OfOperation
  /** The requests to either operation whose connection the service closed without a response. */
  readonly withoutResponse: { readonly token: number; readonly aml: number }
  /** The exchanges of other paths, which are not read. */
  readonly otherPaths: number
  /** How often each variant was shown. */
  readonly variants: Partial<Record<Profile.Name, Counts>>
  /** The behaviours of which the profile has only a similar variant. */
  readonly approximate: ReadonlyArray<Profile.Name>
  readonly unplayable: Unplayable
}

/** The exchange as it may be written. */
export interface Masked {
  readonly request: MaskedBody.MaskedBody
  readonly response: MaskedBody.MaskedBody
}

export interface Recording {
  /** Reads an exchange, and returns what may be written of it. */
  readonly add: (exchange: Exchange) => Masked
  /** Counts a request whose connection the service closed without a response. */
  readonly addClosed: (operation: "token" | "aml", request: Request.Request) => void
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

const countIn = <Key>(all: Map<Key, Map<string, number>>, key: Key, text: string): void => {
  const counts = all.get(key) ?? new Map<string, number>()
  all.set(key, counts)
  count(counts, text)
}

const toCounts = (all: ReadonlyMap<string, ReadonlyMap<string, number>>): Readonly<Record<string, Counts>> =>
  Object.fromEntries([...all].map(([key, counts]) => [key, Object.fromEntries(counts)]))

const quantile = (sorted: ReadonlyArray<number>, part: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0) * 10) / 10

const operation = () => {
  const statuses = new Map<string, number>()
  const headers = new Map<string, number>()
  const unknownFields = new Map<string, number>()
  const words = new Map<string, Map<string, number>>()
  let latencies: Array<number> = []
  let exchanges = 0
  return {
    add: (
      { millis, response }: Exchange,
      { dropped }: MaskedBody.MaskedBody,
      read: Readings.Readings["words"]
    ) => {
      exchanges++
      for (const [reading, word] of Object.entries(read)) countIn(words, reading, word)
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
        words: toCounts(words),
        headers: Object.fromEntries(headers),
        unknownFields: Object.fromEntries(unknownFields),
        latency: { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
      }
    }
  }
}

/** The words of the person, and the credentials, of one exchange, in lower case. */
const secretsOf = (exchange: Exchange): ReadonlyArray<string> => {
  const { request } = exchange
  const basic = Option.getOrUndefined(Request.basic(request))
  const bearer = Option.getOrUndefined(Request.bearer(request))
  const sent = Option.getOrUndefined(objectIn(request.body))
  const persons = [sent?.["name"], sent?.["dob"]].filter(Predicate.isString).flatMap((text) => text.split(/[\s-]+/))
  const token = Option.getOrUndefined(ContractReadings.grantOf(toContract(exchange)))?.token
  return [basic?.customerKey, bearer, token, ...persons].filter(Predicate.isString).map((text) => text.toLowerCase())
}

/** How many people a recording compares the results of. */
const maxPeople = 10_000

/** How many people show whether a service lists everybody. */
const enoughPeople = 3

/** `aml.match.everybody` has no profile option, so `unplayable` states it. */
const everybody = ({ "No": no = 0, "Potential match": matches = 0 }: Counts, people: number): Unplayable =>
  no === 0 && people >= enoughPeople ? { "aml.match.everybody": { everybody: matches } } : {}

const claimOf = (name: Profile.Name): string => Profile.points.find((point) => point.name === name)?.claim ?? name

export const make = (pseudonyms: Pseudonyms): Recording => {
  const operations = { token: operation(), aml: operation() }
  const withoutResponse = { token: 0, aml: 0 }
  let otherPaths = 0
  const variants = new Map<Profile.Name, Map<string, number>>()
  /** The variants without the weak readings. */
  const strong = new Map<Profile.Name, Map<string, number>>()
  const unplayable = new Map<string, Map<string, number>>()
  const approximate = new Set<Profile.Name>()
  /** Marks of the credentials that got a token, and of the tokens with which a check succeeded. */
  const accepted = new Set<string>()
  /** The results of different people, by pseudonyms. */
  const results = new Map<string, string>()
  const markOf = ({ headers }: Request.Request) =>
    Option.map(Option.fromNullable(headers["authorization"]), pseudonyms.token)
  const wasAccepted = (request: Request.Request) => Option.exists(markOf(request), (mark) => accepted.has(mark))

  const addShown = ({ isWeak, name, word }: Readings.Shown) =>
    Option.match(Readings.variantOf(name, word), {
      onNone: () => countIn(unplayable, claimOf(name), word),
      onSome: ({ isExact, variant }) => {
        if (!isExact) approximate.add(name)
        countIn(variants, name, variant)
        if (!isWeak) countIn(strong, name, variant)
      }
    })

  /** States what has no profile option: a result that changed, and an issuer without a name. */
  const addResult = (
    words: Readings.Readings["words"],
    person: { readonly name: string; readonly dob: string } | undefined
  ) => {
    const { "issued_by text": issuer, match_found: result } = words
    if (issuer === "blank") countIn(unplayable, "aml.issued-by.text", issuer)
    if (person === undefined || result === undefined) return
    const key = `${pseudonyms.name(person.name)} ${pseudonyms.date(person.dob)}`
    const before = results.get(key) ?? result
    if (before !== result) countIn(unplayable, "aml.match.again", "different")
    if (results.has(key) || results.size < maxPeople) results.set(key, result)
  }

  /** The most frequent variant. */
  const choose = (name: Profile.Name): string | undefined => {
    const [[variant] = []] = [...strong.get(name) ?? variants.get(name) ?? []].toSorted(([, a], [, b]) => b - a)
    return variant
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
      if (exchange.operation === "other") {
        otherPaths++
        return masked
      }
      const { shown, words } = Readings.read(exchange, wasAccepted(exchange.request))
      operations[exchange.operation].add(exchange, masked.response, words)
      shown.forEach(addShown)
      const person = Option.getOrUndefined(personOf(exchange))
      if (words["check outcome"] === "answered") addResult(words, person)
      if (exchange.operation === "token") {
        for (const name of Readings.approximateInToken(exchange)) approximate.add(name)
      }
      const mark = markOf(exchange.request)
      const isAccepted = words["token outcome"] === "granted" || words["check outcome"] === "answered"
      if (isAccepted && Option.isSome(mark) && accepted.size < 10_000) accepted.add(mark.value)
      return masked
    },
    addClosed: (operation, request) => {
      withoutResponse[operation]++
      Readings.ofClosed(operation, request, wasAccepted(request)).forEach(addShown)
    },
    observations: () => {
      const aml = operations.aml.read()
      return {
        token: operations.token.read(),
        aml,
        withoutResponse,
        otherPaths,
        variants: toCounts(variants),
        approximate: [...approximate],
        unplayable: { ...toCounts(unplayable), ...everybody(aml.words["match_found"] ?? {}, results.size) }
      }
    },
    profile: () =>
      Object.fromEntries(Profile.points.flatMap(({ name }) => {
        const variant = choose(name)
        return variant === undefined ? [] : [[name, variant]]
      }))
  }
}
