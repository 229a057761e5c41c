/** Fills the templates of steps with the values of a run, or with what stands for them in a shell. */
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import type { Template } from "./steps.ts"

const names = [
  "id",
  "key",
  "otherId",
  "otherKey",
  "secondId",
  "secondKey",
  "token",
  "name",
  "dob",
  "day",
  "month",
  "year",
  "check",
  "form"
] as const

export type Name = typeof names[number]

/** The values of the placeholders, by name. */
export type Values = Readonly<Record<Name, string>>

const percent = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("")

/**
 * Replaces a character by a letter whose first bit in Base64 differs. The last bits of a text may be padding, which a decoder
 * ignores.
 */
const changeAt = (text: string, index: number): string =>
  `${text.slice(0, index)}${/[A-Za-f]/.test(text[index] ?? "") ? "g" : "A"}${text.slice(index + 1)}`

/** The same in a shell for the first character of an expression. */
const shellWithFirst = (expression: string): string =>
  `$(printf %s "${expression}" | sed -e 's/^[A-Za-f]/g/' -e t -e 's/^./A/')`

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

const unsignedHeader = base64url({ alg: "none", typ: "JWT" })

const ofParts = (change: (parts: ReadonlyArray<string>) => string) => (token: string): string => {
  const parts = token.split(".")
  return parts.length === 3 ? change(parts) : token
}

/** A change of a placeholder, and the same in a shell, where `v` is the name of a variable. */
interface Change {
  readonly apply: (text: string) => string
  /** @default a variable with the changed value, which the reader sets */
  readonly shell?: (v: string) => string
  /** A program that makes the change of its input. */
  readonly filter?: string
}

/**
 * The changes of a placeholder. `one`, `four`, `eight`, `lastEight`, `half` and `secondHalf` keep only that part of the
 * text. `first`, `middle` and `last` keep the whole text, and replace one character of it, which is not the padding of
 * Base64. The changes of a JWT leave any other text as it is, so that its request is not sent; `forged` makes a JWT out
 * of any text. `json` and `escaped` make a JSON string, `escaped` one with its first letter and all letters beyond ASCII
 * as `\u`.
 */
const changes: Readonly<Record<string, Change>> = {
  afterColon: { apply: (text) => text.slice(text.indexOf(":") + 1), shell: (v) => `\${${v}#*:}` },
  base64: {
    apply: (text) => Buffer.from(text).toString("base64"),
    shell: (v) => `$(printf %s "$${v}" | base64 -w0)`
  },
  beforeColon: { apply: (text) => text.split(":")[0] ?? text, shell: (v) => `\${${v}%%:*}` },
  blanks: { apply: (text) => text.replaceAll("+", " "), shell: (v) => `\${${v}//+/ }` },
  chop: { apply: (text) => text.slice(0, -1), shell: (v) => `\${${v}%?}` },
  chopFirst: { apply: (text) => text.slice(1), shell: (v) => `\${${v}#?}` },
  decoded: {
    apply: (text) => text.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
  },
  eight: { apply: (text) => text.slice(0, 8), shell: (v) => `\${${v}:0:8}` },
  first: {
    apply: (text) => changeAt(text, 0),
    shell: (v) => shellWithFirst(`$${v}`)
  },
  forged: {
    apply: (text) => `${unsignedHeader}.${base64url({ sub: text, exp: 4102444800 })}.`,
    shell: (v) =>
      `${unsignedHeader}.$(printf '{"sub":"%s","exp":4102444800}' "$${v}" | base64 -w0 | tr +/ -_ | tr -d =).`
  },
  four: { apply: (text) => text.slice(0, 4), shell: (v) => `\${${v}:0:4}` },
  half: { apply: (text) => text.slice(0, Math.ceil(text.length / 2)), shell: (v) => `\${${v}:0:(\${#${v}}+1)/2}` },
  hex: { apply: (text) => Buffer.from(text).toString("hex"), shell: (v) => `$(printf %s "$${v}" | xxd -p -c0)` },
  last: {
    apply: (text) => changeAt(text, text.replace(/=+$/, "").length - 1),
    shell: (v) => `$(printf %s "$${v}" | sed -e 's/[A-Za-f]\\(=*\\)$/g\\1/' -e t -e 's/[^=]\\(=*\\)$/A\\1/')`
  },
  lastEight: { apply: (text) => text.slice(-8), shell: (v) => `\${${v}: -8}` },
  letters: { apply: (text) => text.replaceAll(/[^a-z0-9]/gi, ""), shell: (v) => `\${${v}//[^a-zA-Z0-9]/}` },
  lower: { apply: (text) => text.toLowerCase(), shell: (v) => `\${${v},,}` },
  md5: {
    apply: (text) => createHash("md5").update(text).digest("hex"),
    shell: (v) => `$(printf %s "$${v}" | md5sum | cut -c1-32)`
  },
  middle: {
    apply: (text) => changeAt(text, Math.floor(text.length / 2)),
    shell: (v) => `\${${v}:0:\${#${v}}/2}${shellWithFirst(`\${${v}:\${#${v}}/2}`)}`
  },
  one: { apply: (text) => text.slice(0, 1), shell: (v) => `\${${v}:0:1}` },
  percent: { apply: percent, shell: (v) => `$(printf %s "$${v}" | xxd -u -p -c0 | sed 's/../%&/g')` },
  reverse: { apply: (text) => Array.from(text).reverse().join(""), shell: (v) => `$(printf %s "$${v}" | rev)` },
  sameClass: { apply: replaceKeepingForm, shell: (v) => `$(printf %s "$${v}" | tr a-zA-Z0-9 c-fabi-zwxC-ZWX3-90-2)` },
  secondHalf: { apply: (text) => text.slice(Math.floor(text.length / 2)), shell: (v) => `\${${v}:\${#${v}}/2}` },
  sha256: {
    apply: (text) => createHash("sha256").update(text).digest("hex"),
    shell: (v) => `$(printf %s "$${v}" | sha256sum | cut -c1-64)`
  },
  short: { apply: (text) => text.replace(/^0/, ""), filter: "sed s/^0//" },
  sorted: { apply: (text) => Array.from(text).toSorted().join("") },
  swapCase: { apply: swapCase, shell: (v) => `$(printf %s "$${v}" | tr a-zA-Z A-Za-z)` },
  twoDigits: { apply: (text) => text.slice(-2), filter: "tail -c2" },
  underscores: { apply: (text) => text.replaceAll("-", "_"), shell: (v) => `\${${v}//-/_}` },
  upper: { apply: (text) => text.toUpperCase(), shell: (v) => `\${${v}^^}` },
  cut: { apply: (text) => text.slice(0, -1) },
  json: {
    apply: (text) => JSON.stringify(text),
    shell: (v) => `\\"$(printf %s "$${v}" | sed 's/["\\\\]/\\\\&/g')\\"`
  },
  escaped: {
    apply: (text) =>
      JSON.stringify(text).replaceAll(
        /(?<=^")[a-z]|[^\x00-\x7f]/gi,
        (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
      ),
    shell: (v) => `\\"$${v}_ESCAPED\\"`
  },
  changedPayload: {
    apply: ofParts(([header = "", payload = "", signature = ""]) =>
      `${header}.${changeAt(payload, Math.floor(payload.length / 2))}.${signature}`
    )
  },
  changedSignature: {
    apply: ofParts(([header, payload, signature = ""]) =>
      `${header}.${payload}.${changeAt(signature, Math.floor(signature.length / 2))}`
    )
  },
  emptySignature: { apply: ofParts(([header, payload]) => `${header}.${payload}.`), shell: (v) => `\${${v}%.*}.` },
  noSignature: { apply: ofParts(([header, payload]) => `${header}.${payload}`), shell: (v) => `\${${v}%.*}` },
  unsigned: { apply: ofParts(([, payload]) => `${unsignedHeader}.${payload}.`) },
  unsignedWithSignature: { apply: ofParts(([, payload, signature]) => `${unsignedHeader}.${payload}.${signature}`) }
}

/** What takes the place of a placeholder, or none if the template makes no sense for this run. */
export type Fill = (name: Name, change: string | undefined) => Option.Option<string>

const placeholder = new RegExp(`\\{(${names.join("|")})(?:\\|(\\w+))?\\}`, "g")

/** Whether a template has this placeholder. */
export const uses = (template: Template | null | undefined, name: Name): boolean =>
  new RegExp(`\\{${name}[|}]`).test(template ?? "")

const isName = (name: string): name is Name => names.some((known) => known === name)

/** Returns the filled template. `encode` is what `base64(…)` does to the text inside, by default Base64. */
export const fill = (
  template: Template,
  fillOne: Fill,
  encode: (text: string) => string = (text) => Buffer.from(text).toString("base64")
): Option.Option<string> => {
  let isComplete = true
  const fillPart = (part: string): string =>
    part.replaceAll(placeholder, (_, name: string, change?: string) => {
      const filled = isName(name) ? fillOne(name, change) : Option.none()
      if (Option.isNone(filled)) isComplete = false
      return Option.getOrElse(filled, () => "")
    })
  const text = template.split(/(base64\([^()]*\))/).map((part) => {
    const inside = /^base64\((.*)\)$/s.exec(part)?.[1]
    return inside === undefined ? fillPart(part) : encode(fillPart(inside))
  }).join("")
  return isComplete ? Option.some(text) : Option.none()
}

/** Not every run has a second customer. */
const isOfSecond = (name: Name): boolean => name === "secondId" || name === "secondKey"

/**
 * The values of a run. A change that has no effect on its value yields none: the request would then lack the mistake
 * that the case tests.
 */
export const ofValues = (values: Values): Fill => (name, change) => {
  const value = values[name]
  if (value === "" && isOfSecond(name)) return Option.none()
  if (change === undefined) return Option.some(value)
  const changed = changes[change]?.apply(value) ?? value
  return changed === value ? Option.none() : Option.some(changed)
}

const variables: Partial<Record<Name, string>> = {
  id: "IDV_CUSTOMER_ID",
  key: "IDV_CUSTOMER_KEY",
  otherId: "UNKNOWN_ID",
  otherKey: "UNKNOWN_KEY",
  secondId: "SECOND_ID",
  secondKey: "SECOND_KEY",
  token: "TOKEN"
}

/** The name of the variable that stands for a secret in a shell and in a HAR, or none for a name or a date. */
export const variableOf = (name: Name): string | undefined => variables[name]

/** What a shell puts in the place of a secret. The text belongs into double quotes. */
export const shellOf = (variable: string, change: string | undefined): string =>
  change === undefined
    ? `$${variable}`
    : changes[change]?.shell?.(variable) ?? `$${variable}_${change.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`

/** What a shell puts in the place of a part of a date, which is an expression. The text belongs into double quotes. */
export const shellOfPart = (expression: string, change: string | undefined): string => {
  const filter = change === undefined ? undefined : changes[change]?.filter
  return filter === undefined ? expression : `$(printf %s "${expression}" | ${filter})`
}
