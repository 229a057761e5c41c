/** A tool for an agent: a name, a description, the schema of its arguments, and what it does. */
import * as Violation from "@effect-idv/core/Violation"
import * as Effect from "effect/Effect"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import type * as Control from "../../Control.ts"
import * as KnownFields from "../schema/knownFields.ts"

/** The server that the tools use. */
export interface Target {
  /** Its address, which an app under test needs. */
  readonly url: string
  readonly control: Control.Service
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** The JSON Schema of the arguments. */
  readonly inputSchema: { readonly type: "object" }
  /** Returns the text of the result. A failure has one sentence, which names the field and never repeats its value. */
  readonly call: (target: Target, input: unknown) => Effect.Effect<string, ToolFailed>
}

export class ToolFailed extends Schema.TaggedError<ToolFailed>("@effect-idv/mock-server/internal/ToolFailed")(
  "ToolFailed",
  { message: Schema.String }
) {}

/** Names the arguments, if the violation concerns all of them. */
const ofArguments = (violation: Violation.Violation) =>
  violation.path === "" ? new Violation.Violation({ ...violation, path: "arguments" }) : violation

export const make = <A extends object, I extends object>(
  name: string,
  description: string,
  schema: Schema.Schema<A, I>,
  use: (target: Target, input: A) => Effect.Effect<string, Error>
): Tool => {
  const decode = KnownFields.decodeUnknown(schema)
  const failed = (message: string) => new ToolFailed({ message: `${name}: ${message}` })
  return {
    name,
    description,
    inputSchema: { ...JSONSchema.make(schema), type: "object" },
    call: (target, input) =>
      Effect.mapError(decode(input), (violations) => failed(Violation.format(violations.map(ofArguments)))).pipe(
        Effect.flatMap((input) => Effect.mapError(use(target, input), ({ message }) => failed(message)))
      )
  }
}
