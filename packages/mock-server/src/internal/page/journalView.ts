/** The exchanges that a page shows: a search in the whole journal, and one page of those that match. */
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import type * as Journal from "../../Journal.ts"
import { sentOf } from "../journal/entry.ts"
import * as PersonText from "../schema/personText.ts"
import type { Fields } from "./forms.ts"

/** How many exchanges a page shows. */
export const pageSize = 25

/** What the user asks for. */
export interface Request {
  /** Words, each of which an exchange must match. */
  readonly search: string
  /** Shows the requests that belong to no session, instead of those of the session. */
  readonly isWithoutSession: boolean
  /** Shows only exchanges with a lower id. */
  readonly before: Option.Option<number>
}

/**
 * Whether a word is a part of what a row shows. The last word of a name is compared with the name that the request sent,
 * and the page shows only the masked one.
 */
const matches = (entry: Journal.Entry, word: string): boolean => {
  const { faults, operation, response: { status }, rule, unexpected } = entry
  const shown = [
    String(status),
    operation,
    rule,
    ...faults.flatMap(({ id, kind }) => ["fault", id, kind]),
    ...(status >= 400 ? ["error"] : []),
    ...(unexpected ? ["unexpected"] : [])
  ]
  return shown.some((text) => text.toLowerCase().includes(word.toLowerCase())) ||
    Option.exists(
      Option.flatMap(sentOf(entry), ({ person }) => person().name),
      (name) => PersonText.lastWord(name) === PersonText.lastWord(word)
    )
}

/** All exchanges, from the latest. New ones are added while the page is open. */
export const latest: Request = { search: "", isWithoutSession: false, before: Option.none() }

export const isFiltered = ({ isWithoutSession, search }: Request): boolean => isWithoutSession || search !== ""

export const isLatest = (request: Request): boolean => Option.isNone(request.before) && !isFiltered(request)

/** Reads a request from a form. `to` is the target of a button and replaces `before`. */
export const parse = (fields: Fields): Request => {
  const before = fields["to"] ?? fields["before"] ?? ""
  return {
    search: (fields["search"] ?? "").trim(),
    isWithoutSession: fields["session"] === "none",
    before: /^\d{1,15}$/.test(before) ? Option.some(Number(before)) : Option.none()
  }
}

/** An entry, and its number among those of its journal, from 1. */
export interface Row {
  readonly entry: Journal.Entry
  readonly number: number
}

export interface View {
  readonly request: Request
  /** The newest first. */
  readonly rows: ReadonlyArray<Row>
  /** How many exchanges match the search. */
  readonly matches: number
  /** How many of these are newer than the first row. */
  readonly newerCount: number
  /** The `before` of the page with newer exchanges. An empty text is the latest page. */
  readonly newer: Option.Option<string>
  readonly older: Option.Option<string>
}

/** `entries` are those of the journal, the oldest first. `dropped` is how many older ones it no longer keeps. */
export const make = (entries: ReadonlyArray<Journal.Entry>, request: Request, dropped: number): View => {
  const { before, search } = request
  const words = search.split(/\s+/).filter((word) => word !== "")
  const matching = entries.map((entry, index): Row => ({ entry, number: dropped + index + 1 })).filter(({ entry }) =>
    words.every((word) => matches(entry, word))
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
    older: next >= matching.length ? Option.none() : Option.map(Arr.last(rows), ({ entry: { id } }) => String(id))
  }
}
