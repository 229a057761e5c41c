/** Rows in which every two values of two factors occur together, and the check that they do. */
import type { Fault } from "@effect-idv/mock-server"
import { criteria, make, sorters } from "covertable"
import { Record } from "effect"

/** The values of each factor, by its name. */
export type Factors = Readonly<Record<string, ReadonlyArray<string>>>

/** One value of each factor. */
export type Row = Readonly<Record<string, string>>

type Pair = readonly [name: string, value: string, otherName: string, otherValue: string]

/** Factors and values in alphabetical order, so that rows do not depend on the order in which they are declared. */
const sort = (factors: Factors): Factors =>
  Object.fromEntries(
    Object.entries(factors).map(([name, values]) => [name, values.toSorted()] as const)
      .toSorted(([one], [other]) => one < other ? -1 : 1)
  )

/**
 * Returns rows in which every possible pair occurs. `isPossible` receives rows that may lack some factors.
 * A constraint can make the generator lose a pair, so each missing one gets a row of its own.
 */
export const rowsOf = (factors: Factors, isPossible: (row: Row) => boolean): ReadonlyArray<Row> => {
  const sorted = sort(factors)
  const rows: ReadonlyArray<Row> = make(
    Record.map(sorted, (values) => Array.from(values)),
    { length: 2, criterion: criteria.simple, sorter: sorters.hash, seed: "effect-idv", preFilter: isPossible }
  )
  const base = Record.map(sorted, ([value = ""]) => value)
  const missing = pairsOf(sorted, rows).missing.map(([name, value, otherName, otherValue]): Row => ({
    ...base,
    [name]: value,
    [otherName]: otherValue
  }))
  return [...rows, ...missing.filter(isPossible)]
}

/** Returns rows with this value, in which it occurs with every value of the other factors. */
export const rowsWith = (factors: Factors, name: string, value: string, turn: number): ReadonlyArray<Row> => {
  const others = Object.entries(sort(factors)).filter(([other]) => other !== name)
  const length = Math.max(...others.map(([, values]) => values.length))
  return Array.from({ length }, (_, index) => ({
    ...Object.fromEntries(others.map(([other, values]) => [other, values[(index + turn) % values.length] ?? ""])),
    [name]: value
  }))
}

/** Counts the pairs of values, and those that no row has, independently of the generator. */
export const pairsOf = (factors: Factors, rows: ReadonlyArray<Row>) => {
  const names = Object.keys(factors)
  const all = names.flatMap((name, index) =>
    names.slice(index + 1).flatMap((otherName) =>
      (factors[name] ?? []).flatMap((value) =>
        (factors[otherName] ?? []).map((otherValue): Pair => [name, value, otherName, otherValue])
      )
    )
  )
  const keyOf = (pair: Pair) => pair.join("\n")
  const found = new Set(
    rows.flatMap((row) =>
      names.flatMap((name, index) =>
        names.slice(index + 1).map((otherName) => keyOf([name, row[name] ?? "", otherName, row[otherName] ?? ""]))
      )
    )
  )
  return { all, missing: all.filter((pair) => !found.has(keyOf(pair))) }
}

type What = (typeof Fault.What)["Encoded"]

/**
 * The effect of a fault that fires at every request to an operation, on a check with default options. On
 * an operation in neither list, the effect depends on the profile.
 */
export interface FaultCase {
  readonly what: What
  /** The operations where the check returns a credential in spite of the fault, whatever the profile. */
  readonly harmless: ReadonlyArray<string>
  /** The operations where the check never returns a credential, whatever the profile. */
  readonly fatal: ReadonlyArray<string>
}

const both = ["token", "aml"]
const harmless = (what: What, on = both): FaultCase => ({ what, harmless: on, fatal: [] })
const fatal = (what: What): FaultCase => ({ what, harmless: [], fatal: both })
const open = (what: What): FaultCase => ({ what, harmless: [], fatal: [] })

/** Each kind, with usual and unusual values of its fields. */
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
  fatal({ kind: "falseGzip" }),
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
  // A plain-text token becomes an object without a token.
  harmless({ kind: "oversize", bytes: 9000 }, ["aml"]),
  fatal({ kind: "somebodyElse" }),
  fatal({ kind: "unknownMatch" }),
  fatal({ kind: "tokenExpiry" }),
  fatal({ kind: "tokenRevocation" }),
  harmless({ kind: "quota" }),
  open({ kind: "quota", limit: 1, per: "1 hour", retryAfter: { kind: "garbage" } })
]
