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

export const ofPerson = ({ dateOfBirth, name }: Person): RegExp => {
  const [year, month, day] = dateOfBirth.split("-")
  return anyOf([
    name,
    name.split(" ").at(-1) ?? name,
    dateOfBirth,
    `${day}-${month}-${year}`,
    `${day}.${month}.${year}`
  ])
}

/** A text without them. */
export const mask = (text: string, service: Service, person: Person, shown = "***"): string =>
  [ofKey(service), token, ofPerson(person)].reduce(
    (masked, secret) => masked.replaceAll(new RegExp(secret, "gi"), shown),
    text
  )
