/** The exchanges that a page shows: a filter on the whole journal, and one page of those that match. */
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Record from "effect/Record"
import type * as Journal from "../../Journal.ts"
import * as Sent from "../journal/sent.ts"
import * as NameText from "../schema/nameText.ts"
import type { Fields } from "./forms.ts"

/** How many exchanges a page shows. */
export const pageSize = 25

/** Compares an entry with the value of a filter. */
type Matches = (entry: Journal.Entry, value: string) => boolean

export const anyFault = "any"
export const anyError = "errors"
/** The value of the filter `session` for requests that belong to no session. */
export const noSession = "none"

/**
 * The filters, by the names of their fields. The last word of a name is compared with the name that the request sent,
 * and the page shows only the masked one.
 */
const filters = {
  status: ({ response: { status } }, value) => value === anyError ? status >= 400 : String(status) === value,
  operation: ({ operation }, value) => operation === value,
  rule: ({ rule }, value) => rule === value,
  fault: ({ faults }, value) => faults.some(({ id, kind }) => value === anyFault || value === id || value === kind),
  unexpected: ({ unexpected }, value) => String(unexpected) === value,
  lastWord: (entry, value) =>
    Option.exists(
      Option.flatMap(Sent.of(entry), ({ person }) => person().name),
      (name) => NameText.lastWord(name) === NameText.lastWord(value)
    ),
  // It selects the journal, and not entries of it.
  session: () => true
} satisfies Readonly<Record<string, Matches>>

export type FilterName = keyof typeof filters

export const filterNames = Record.keys(filters)

/** What the user asks for. */
export interface Request {
  /** The values of the filters that are not empty. */
  readonly filter: { readonly [Name in FilterName]?: string }
  /** Shows only exchanges with a lower id. */
  readonly before: Option.Option<number>
}

export const isWithoutSession = ({ filter }: Request): boolean => filter.session === noSession

/** All exchanges, from the latest. New ones are added while the page is open. */
export const latest: Request = { filter: {}, before: Option.none() }

export const isLatest = ({ before, filter }: Request): boolean =>
  Option.isNone(before) && Object.keys(filter).length === 0

/** Reads a request from a form. `to` is the target of a button and replaces `before`. */
export const parse = (fields: Fields): Request => {
  const before = fields["to"] ?? fields["before"] ?? ""
  return {
    filter: Object.fromEntries(
      filterNames.map((name) => [name, (fields[name] ?? "").trim()] as const).filter(([, value]) => value !== "")
    ),
    before: /^\d{1,15}$/.test(before) ? Option.some(Number(before)) : Option.none()
  }
}

/** A value of a filter, and how many exchanges of the journal have it. */
export type Choice = readonly [value: string, count: number]

/** An entry, and its number among those of its journal, from 1. */
export interface Row {
  readonly entry: Journal.Entry
  readonly number: number
}

export interface View {
  readonly request: Request
  /** The newest first. */
  readonly rows: ReadonlyArray<Row>
  /** How many exchanges match the filter. */
  readonly matches: number
  /** How many of these are newer than the first row. */
  readonly newerCount: number
  /** The `before` of the page with newer exchanges. An empty text is the latest page. */
  readonly newer: Option.Option<string>
  readonly older: Option.Option<string>
  readonly choices: Readonly<Record<"session" | "status" | "operation" | "rule" | "fault", ReadonlyArray<Choice>>>
}

/** The values that occur, and the chosen one, even if it occurs no longer. */
const choicesOf = (
  entries: ReadonlyArray<Journal.Entry>,
  chosen: string | undefined,
  valuesOf: (entry: Journal.Entry) => ReadonlyArray<string>
): ReadonlyArray<Choice> => {
  const counts = new Map(chosen === undefined ? [] : [[chosen, 0]])
  for (const value of entries.flatMap((entry) => Arr.dedupe(valuesOf(entry)))) {
    counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return Arr.sort(counts, Order.mapInput(Order.string, ([value]: Choice) => value))
}

const isNamed = (value: string | undefined) => value !== anyFault && value !== anyError ? value : undefined

/**
 * `entries` are those of the journal, the oldest first. `dropped` is how many older ones it no longer keeps, and
 * `unmatched` how many requests belong to no session.
 */
export const make = (
  entries: ReadonlyArray<Journal.Entry>,
  request: Request,
  { dropped, unmatched }: { readonly dropped: number; readonly unmatched: number }
): View => {
  const { before, filter } = request
  const matching = entries.map((entry, index): Row => ({ entry, number: dropped + index + 1 })).filter(({ entry }) =>
    filterNames.every((name) => {
      const value = filter[name]
      return value === undefined || filters[name](entry, value)
    })
  ).toReversed()
  const newerCount = Option.match(before, {
    onNone: () => 0,
    onSome: (before) => matching.filter(({ entry: { id } }) => id >= before).length
  })
  const next = newerCount + pageSize
  const rows = matching.slice(newerCount, next)
  const beforeNewer = matching[newerCount - pageSize - 1]
  return {
    request,
    rows,
    matches: matching.length,
    newerCount,
    newer: newerCount === 0
      ? Option.none()
      : Option.some(beforeNewer === undefined ? "" : String(beforeNewer.entry.id)),
    older: next >= matching.length ? Option.none() : Option.map(Arr.last(rows), ({ entry: { id } }) => String(id)),
    choices: {
      session: [[noSession, unmatched]],
      status: choicesOf(entries, isNamed(filter.status), ({ response }) => [String(response.status)]),
      operation: choicesOf(entries, filter.operation, ({ operation }) => [operation]),
      rule: choicesOf(entries, filter.rule, ({ rule }) => [rule]),
      fault: choicesOf(entries, isNamed(filter.fault), ({ faults }) => faults.flatMap(({ id, kind }) => [id, kind]))
    }
  }
}
