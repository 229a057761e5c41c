/** Pseudonyms of names and dates: the same text has the same pseudonym, in requests and in responses. */
import { createHmac, randomBytes } from "node:crypto"
import * as PersonText from "../schema/personText.ts"

export interface Pseudonyms {
  readonly name: (name: string) => string
  /** A date or a year. */
  readonly date: (date: string) => string
  /** A mark of a token in memory, which is never written. */
  readonly token: (token: string) => string
}

/** Makes pseudonyms with a key of this run. The key is never stored, and without it nobody can test a guess. */
export const make = (): Pseudonyms => {
  const key = randomBytes(32)
  const digest = (kind: string, text: string) =>
    createHmac("sha256", key).update(`${kind}\0${text}`).digest("hex").slice(0, 12)
  return {
    name: (name) => `person-${digest("name", PersonText.comparable(name))}`,
    date: (date) => `date-${digest("date", date)}`,
    token: (token) => digest("token", token)
  }
}
