/** Finds the values of Effect 3 that are reachable from a value. */
import { Redacted } from "effect"
import * as Cause3 from "effect-3/Cause"
import * as Chunk3 from "effect-3/Chunk"
import * as Context3 from "effect-3/Context"
import * as DateTime3 from "effect-3/DateTime"
import * as Duration3 from "effect-3/Duration"
import * as Effect3 from "effect-3/Effect"
import * as Either3 from "effect-3/Either"
import * as Option3 from "effect-3/Option"
import * as Redacted3 from "effect-3/Redacted"
import * as Schema3 from "effect-3/Schema"

const guards: ReadonlyArray<(value: unknown) => boolean> = [
  Cause3.isCause,
  Chunk3.isChunk,
  Context3.isContext,
  DateTime3.isDateTime,
  Duration3.isDuration,
  Effect3.isEffect,
  Either3.isEither,
  Option3.isOption,
  Redacted3.isRedacted,
  Schema3.isSchema
]

/** The type ids of Effect 3 are symbols of the registry. Errors of both versions have the symbol of their arguments. */
const hasTypeId = (value: object) =>
  Reflect.ownKeys(value).some((key) =>
    typeof key === "symbol" && /^@?effect\/(?!Data\/Error\/)/.test(Symbol.keyFor(key) ?? "")
  )

/** The paths to the values of Effect 3: own and inherited properties, symbols, maps, sets, and what is redacted. */
export const pathsOfEffect3 = (root: unknown): ReadonlyArray<string> => {
  const seen = new Set<object>()
  const found: Array<string> = []
  const visit = (value: unknown, path: string): void => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return
    seen.add(value)
    if (hasTypeId(value) || guards.some((guard) => guard(value))) {
      found.push(path)
      return
    }
    if (ArrayBuffer.isView(value)) return
    if (Redacted.isRedacted(value)) visit(Redacted.value(value), `${path}.redacted`)
    if (value instanceof Map || value instanceof Set) visit([...value], `${path}.items`)
    for (const key of Reflect.ownKeys(value)) {
      const property = Reflect.getOwnPropertyDescriptor(value, key)
      visit(property?.value ?? property?.get?.call(value), `${path}.${String(key)}`)
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (typeof value === "object" && prototype !== Object.prototype) visitPrototype(prototype, path)
  }
  // The getters of a prototype need its instance.
  const visitPrototype = (prototype: unknown, path: string): void => {
    if (typeof prototype !== "object" || prototype === null || seen.has(prototype)) return
    seen.add(prototype)
    if (hasTypeId(prototype)) found.push(`${path}.prototype`)
    for (const key of Reflect.ownKeys(prototype)) {
      visit(Reflect.getOwnPropertyDescriptor(prototype, key)?.value, `${path}.prototype.${String(key)}`)
    }
    visitPrototype(Object.getPrototypeOf(prototype), path)
  }
  visit(root, "value")
  return found
}
