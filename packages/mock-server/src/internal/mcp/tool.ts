/** A tool for an agent: a name, a description, the schemas of its arguments and its result, and what it does. */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import type * as Control from "../../Control.ts"
import { ControlRefused } from "../operations/controlErrors.ts"
import type * as Operation from "../operations/operation.ts"

/** The server that the tools use. */
export interface Target {
  /** Its address, which an app under test needs. */
  readonly url: string
  readonly call: Operation.Call<Control.ControlUnavailable>
}

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: "object"
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: ReadonlyArray<string>
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  readonly annotations: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean }
  /** Returns the result as an object. A failure has one sentence, which names the field and never repeats its value. */
  readonly call: (target: Target, input: Readonly<Record<string, unknown>>) => Effect.Effect<object, Error>
}

export const refused = (path: string, problem: Violation.Violation["problem"], expected: string) =>
  new ControlRefused({ violations: [new Violation.Violation({ path, problem, expected })] })

/** Fails if the arguments have a field that is not among the names. */
export const checkNames = (input: object, names: ReadonlyArray<string>): Effect.Effect<void, ControlRefused> => {
  const unknown = Object.keys(input).find((name) => !names.includes(name))
  return unknown === undefined
    ? Effect.void
    : Effect.fail(refused(unknown, "unexpected", `one of ${names.join(", ")}`))
}
