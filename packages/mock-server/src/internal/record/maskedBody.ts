/** A body that may be written: known fields, harmless values, and pseudonyms of persons. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as WireFields from "../journal/wireFields.ts"
import { objectIn } from "./exchange.ts"
import type { Pseudonyms } from "./pseudonyms.ts"

export interface MaskedBody {
  readonly text: string
  /** The paths of the fields that were dropped. */
  readonly dropped: ReadonlyArray<string>
}

/** A name of a field that may be written. A longer one, or one with other characters, may be a value. */
const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z_-]{0,39}$/.test(name)

/** `isSecret`: whether a text is part of the person, the key or a token of the exchange. */
export const mask = (
  body: Uint8Array,
  pseudonyms: Pseudonyms,
  isSecret: (text: string) => boolean
): MaskedBody => {
  const dropped: Array<string> = []

  const maskValue = (name: string, value: unknown): unknown => {
    if (name === "name" && typeof value === "string") return pseudonyms.name(value)
    if ((name === "dob" || name === "birth_year") && typeof value === "string") return pseudonyms.date(value)
    return WireFields.isHarmless(name, value) ? value : `<${Array.isArray(value) ? "list" : typeof value}>`
  }

  const maskObject = (
    fields: Readonly<Record<string, unknown>>,
    parent: string
  ): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, inner]) => {
        const path = parent === "" ? name : `${parent}.${name}`
        if (!WireFields.isKnown(parent, name)) {
          const shown = isName(name) && !isSecret(name) ? name : "***"
          dropped.push(parent === "" ? shown : `${parent}.${shown}`)
          return []
        }
        return [[name, Predicate.isRecord(inner) ? maskObject(inner, path) : maskValue(name, inner)]]
      })
    )

  return Option.match(objectIn(body), {
    onNone: () => ({ text: body.length === 0 ? "" : "(not JSON, not shown)", dropped }),
    onSome: (fields) => ({ text: JSON.stringify(maskObject(fields, "")), dropped })
  })
}
