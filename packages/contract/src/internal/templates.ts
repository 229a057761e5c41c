/** Fills the templates of steps with the values of a run. */
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import type { Template } from "./steps.ts"

/** The values of the placeholders, by name. */
export type Values = Readonly<Record<"id" | "key" | "otherId" | "otherKey" | "token", string>>

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const percent = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** Returns another letter, whose first bit in Base64 differs, so that the decoded bytes differ too. */
const differentLetter = (letter: string): string => alphabet[(alphabet.indexOf(letter) + 32) % 64] ?? "A"

const changeAt = (text: string, index: number): string =>
  `${text.slice(0, index)}${differentLetter(text[index] ?? "A")}${text.slice(index + 1)}`

/** Replaces each letter and digit by another one of the same class, so that the text keeps its form. */
const replaceKeepingForm = (text: string): string =>
  text.replaceAll(/[a-z0-9]/gi, (letter) =>
    /\d/.test(letter)
      ? String((Number(letter) + 3) % 10)
      : /[a-f]/.test(letter)
      ? String.fromCharCode(97 + (letter.charCodeAt(0) - 97 + 2) % 6)
      : String.fromCharCode(letter.charCodeAt(0) + (/[yz]/i.test(letter) ? -2 : 2)))

const swapCase = (text: string): string =>
  text.replaceAll(/[a-z]/gi, (letter) => letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase())

const base64url = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString("base64url")

/** The parts of a JWT, or none for another text. */
const partsOf = (token: string): ReadonlyArray<string> => {
  const parts = token.split(".")
  return parts.length === 3 ? parts : []
}

const ofParts = (change: (parts: ReadonlyArray<string>) => string) => (token: string): string => {
  const parts = partsOf(token)
  return parts.length === 0 ? token : change(parts)
}

/**
 * The changes of a placeholder. `one`, `four`, `eight`, `lastEight`, `half` and `secondHalf` keep only that part of the
 * text. `first`, `middle` and `last` keep the whole text, and replace one letter of it.
 */
const changes: Readonly<Record<string, (text: string) => string>> = {
  afterColon: (text) => text.slice(text.indexOf(":") + 1),
  base64,
  beforeColon: (text) => text.split(":")[0] ?? text,
  blanks: (text) => text.replaceAll("+", " "),
  decoded: (text) => text.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16))),
  chop: (text) => text.slice(0, -1),
  chopFirst: (text) => text.slice(1),
  eight: (text) => text.slice(0, 8),
  four: (text) => text.slice(0, 4),
  hex: (text) => Buffer.from(text).toString("hex"),
  lastEight: (text) => text.slice(-8),
  letters: (text) => text.replaceAll(/[^a-z0-9]/gi, ""),
  md5: (text) => createHash("md5").update(text).digest("hex"),
  one: (text) => text.slice(0, 1),
  sha256: (text) => createHash("sha256").update(text).digest("hex"),
  sorted: (text) => Array.from(text).toSorted().join(""),
  underscores: (text) => text.replaceAll("-", "_"),
  first: (text) => changeAt(text, 0),
  half: (text) => text.slice(0, Math.ceil(text.length / 2)),
  last: (text) => changeAt(text, text.length - 1),
  lower: (text) => text.toLowerCase(),
  middle: (text) => changeAt(text, Math.floor(text.length / 2)),
  percent,
  reverse: (text) => Array.from(text).reverse().join(""),
  sameClass: replaceKeepingForm,
  secondHalf: (text) => text.slice(Math.floor(text.length / 2)),
  swapCase,
  upper: (text) => text.toUpperCase(),
  // The following changes leave any text but a JWT as it is, so that its request is not sent.
  changedPayload: ofParts(([header = "", payload = "", signature = ""]) =>
    `${header}.${changeAt(payload, Math.floor(payload.length / 2))}.${signature}`
  ),
  changedSignature: ofParts(([header, payload, signature = ""]) =>
    `${header}.${payload}.${changeAt(signature, Math.floor(signature.length / 2))}`
  ),
  emptySignature: ofParts(([header, payload]) => `${header}.${payload}.`),
  noSignature: ofParts(([header, payload]) => `${header}.${payload}`),
  unsigned: ofParts(([, payload]) => `${base64url({ alg: "none", typ: "JWT" })}.${payload}.`),
  unsignedWithSignature: ofParts(([, payload, signature]) =>
    `${base64url({ alg: "none", typ: "JWT" })}.${payload}.${signature}`
  )
}

const placeholder = /\{(id|key|otherId|otherKey|token)(?:\|(\w+))?\}/g

const isName = (name: string, values: Values): name is keyof Values => name in values

/** Whether a template has this placeholder. */
export const uses = (template: Template | null | undefined, name: keyof Values): boolean =>
  new RegExp(`\\{${name}[|}]`).test(template ?? "")

/**
 * Returns the filled template, or none if a change has no effect on a value: the request would then lack the mistake
 * that the case tests.
 */
export const fill = (template: Template, values: Values): Option.Option<string> => {
  let isEveryChangeEffective = true
  const fillPart = (part: string): string =>
    part.replaceAll(placeholder, (_, name: string, change?: string) => {
      const value = isName(name, values) ? values[name] : ""
      const changed = change === undefined ? value : changes[change]?.(value) ?? value
      if (change !== undefined && changed === value) isEveryChangeEffective = false
      return changed
    })
  const text = template.split(/(base64\([^()]*\))/).map((part) => {
    const inside = /^base64\((.*)\)$/s.exec(part)?.[1]
    return inside === undefined ? fillPart(part) : base64(fillPart(inside))
  }).join("")
  return isEveryChangeEffective ? Option.some(text) : Option.none()
}
