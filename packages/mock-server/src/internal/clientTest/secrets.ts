/** What a text must not contain: the key, tokens, and the person, also encoded and in another case. */
import * as RegularExpression from "effect/RegExp"
import type { Person, Service } from "./day.ts"

/** Of texts that are long enough not to occur by chance. */
const anyOf = (texts: ReadonlyArray<string>): RegExp => {
  const encoded = texts.filter(({ length }) => length > 5).flatMap((text) => [
    text,
    encodeURIComponent(text),
    encodeURIComponent(text).replaceAll("%20", "+"),
    Buffer.from(text).toString("base64"),
    Buffer.from(text).toString("base64url")
  ])
  // An empty expression would match everything.
  return encoded.length === 0 ? /(?!)/ : new RegExp(encoded.map(RegularExpression.escape).join("|"), "i")
}

export const ofKey = ({ customerId, customerKey }: Service): RegExp =>
  anyOf([`${customerId}:${customerKey}`, customerKey])

/** Tokens that the mock server issues. The ids of its profiles look the same, but are a part of an address. */
export const token = /(?<![\w/%-])[\w-]+\.[\da-f]{32}/i

/** A date of birth in the usual notations, with numbers or the English name of the month, also escaped. */
const ofDate = (dateOfBirth: string): string => {
  const [year = "", month = "", day = ""] = dateOfBirth.split("-")
  const name = new Intl.DateTimeFormat("en", { month: "long", timeZone: "UTC" }).format(
    Date.UTC(2000, Number(month) - 1)
  )
  const [d, m] = [`0?${Number(day)}(?:st|nd|rd|th)?`, `(?:0?${Number(month)}|${name.slice(0, 3)}(?:${name.slice(3)})?)`]
  const separator = "(?:%2F|\\\\?[-/., _]){1,2}"
  const separated = [[year, m, d], [d, m, year], [m, d, year]].map((parts) => parts.join(separator))
  const short = [[day, month], [month, day]].map((parts) => [...parts, year.slice(2)].join("[-/.]"))
  const digits = [[year, month, day], [day, month, year], [month, day, year]].map((parts) => parts.join(""))
  const isolated = (all: ReadonlyArray<string>, other: string) => `(?<!${other})(?:${all.join("|")})(?!${other})`
  return `${isolated([...separated, ...short], "\\d")}|${isolated(digits, "\\w")}`
}

export const ofPerson = ({ dateOfBirth, name }: Person): RegExp =>
  new RegExp(`${anyOf([name, name.split(" ").at(-1) ?? name]).source}|${ofDate(dateOfBirth)}`, "i")

/** What replaces them in a text of the client, so that it does not look like the mask of the client. */
export const hidden = "[hidden]"

/** A text without them. */
export const mask = (text: string, service: Service, person: Person, shown = hidden): string =>
  [ofKey(service), token, ofPerson(person)].reduce(
    (masked, secret) => masked.replaceAll(new RegExp(secret, "gi"), shown),
    text
  )
