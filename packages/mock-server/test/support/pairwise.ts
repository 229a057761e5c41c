/** Rows in which any two values of any two factors meet, and the proof that they do. */
import type { Fault } from "@effect-idv/mock-server"
import { criteria, make, sorters } from "covertable"

/** The values of each factor, by its name. */
export type Factors = Readonly<Record<string, ReadonlyArray<string>>>

/** One value of each factor. */
export type Row = Readonly<Record<string, string>>

/** The same for the same factors. `isPossible` is asked about rows that may lack some values. */
export const rowsOf = (factors: Factors, isPossible: (row: Row) => boolean): ReadonlyArray<Row> =>
  make(
    Object.fromEntries(Object.entries(factors).map(([name, values]) => [name, Array.from(values)])),
    { length: 2, criterion: criteria.simple, sorter: sorters.hash, seed: "effect-idv", preFilter: isPossible }
  )

/** Rows with this value, in which it meets every value of the other factors. */
export const rowsWith = (factors: Factors, name: string, value: string, turn: number): ReadonlyArray<Row> => {
  const others = Object.entries(factors).filter(([other]) => other !== name)
  const length = Math.max(...others.map(([, values]) => values.length))
  return Array.from({ length }, (_, index) => ({
    ...Object.fromEntries(others.map(([other, values]) => [other, values[(index + turn) % values.length] ?? ""])),
    [name]: value
  }))
}

/** Each pair of values of two factors, and those that no row has: counted here, not by who made the rows. */
export const pairsOf = (factors: Factors, rows: ReadonlyArray<Row>) => {
  const names = Object.keys(factors)
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const))
  const met = new Set(rows.flatMap((row) => pairs.map(([one, other]) => `${one} ${row[one]}, ${other} ${row[other]}`)))
  const all = pairs.flatMap(([one, other]) =>
    (factors[one] ?? []).flatMap((a) => (factors[other] ?? []).map((b) => `${one} ${a}, ${other} ${b}`))
  )
  return { all, missing: all.filter((pair) => !met.has(pair)) }
}

type What = (typeof Fault.What)["Encoded"]

/**
 * What a fault means to a check with the default options, if it fires at every request to an
 * endpoint:
 *
 * - `harmless`: it is lived with there, whatever the profile is.
 * - `fatal`: there is no credential, whatever the profile is.
 *
 * Of what is in neither, it depends.
 */
export interface FaultCase {
  readonly what: What
  readonly harmless: ReadonlyArray<string>
  readonly fatal: ReadonlyArray<string>
}

const both = ["token", "aml"]
const harmless = (what: What, on = both): FaultCase => ({ what, harmless: on, fatal: [] })
const fatal = (what: What): FaultCase => ({ what, harmless: [], fatal: both })
const open = (what: What): FaultCase => ({ what, harmless: [], fatal: [] })

/** Each kind, with something typical and something odd where it has parameters. */
export const faultCases: ReadonlyArray<FaultCase> = [
  harmless({ kind: "latency" }),
  fatal({ kind: "latency", distribution: { kind: "fixed", delay: "45 seconds" } }),
  fatal({ kind: "status", retryAfter: { kind: "seconds", seconds: 2 } }),
  fatal({ kind: "status", status: 401 }),
  fatal({ kind: "status", status: 204 }),
  fatal({ kind: "reset" }),
  fatal({ kind: "reset", at: "body" }),
  fatal({ kind: "fin" }),
  fatal({ kind: "fin", at: "body" }),
  fatal({ kind: "truncation" }),
  fatal({ kind: "truncation", keep: 0 }),
  fatal({ kind: "badChunk" }),
  // In process the answer is one of `fetch`, which would have decompressed it: the client does not.
  open({ kind: "falseGzip" }),
  fatal({ kind: "duplicateLength" }),
  fatal({ kind: "randomBytes" }),
  fatal({ kind: "randomBytes", length: 1 }),
  fatal({ kind: "malformedJson" }),
  fatal({ kind: "invalidUtf8" }),
  fatal({ kind: "empty" }),
  fatal({ kind: "html" }),
  harmless({ kind: "drip", bytes: 64, every: "200 millis" }),
  fatal({ kind: "drip", bytes: 1, every: "20 seconds" }),
  fatal({ kind: "hang" }),
  fatal({ kind: "hang", at: "body" }),
  fatal({ kind: "oversize" }),
  // A token that is plain text becomes an object without one.
  harmless({ kind: "oversize", bytes: 9000 }, ["aml"]),
  fatal({ kind: "somebodyElse" }),
  fatal({ kind: "unknownMatch" }),
  fatal({ kind: "tokenExpiry" }),
  fatal({ kind: "tokenRevocation" }),
  harmless({ kind: "quota" }),
  open({ kind: "quota", limit: 1, per: "1 hour", retryAfter: { kind: "garbage" } })
]
