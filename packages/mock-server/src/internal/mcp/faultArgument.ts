/** A fault as an argument of a tool: an object, or the short form of the command line. */
import * as Violation from "@effect-idv/core/Violation"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as AST from "effect/SchemaAST"
import * as Fault from "../../Fault.ts"
import { unexpectedValue } from "../schema/discriminatedUnion.ts"

/** The violations of the short form as issues at the fields of the fault. */
const parse = (text: string, ast: AST.AST): Either.Either<Fault.Fault, ParseResult.ParseIssue> =>
  Either.mapLeft(Fault.fromText(text), ({ violations }) => {
    const issues = violations.map(({ expected, path }) => {
      const issue = unexpectedValue(expected, undefined)
      const [field = "", ...rest] = path.split(".")
      return field === "" ? issue : new ParseResult.Pointer([field, ...rest], undefined, issue)
    })
    return Arr.isNonEmptyReadonlyArray(issues)
      ? new ParseResult.Composite(ast, undefined, issues)
      : new ParseResult.Type(ast, undefined)
  })

export const FaultArgument = Schema.declare(
  [Fault.Fault],
  {
    decode: (fault) => (input, options, ast) =>
      typeof input === "string"
        ? parse(input, ast)
        : Predicate.isRecord(input)
        ? ParseResult.decodeUnknown(fault)(input, options)
        : ParseResult.fail(new ParseResult.Type(ast, input)),
    encode: (fault) => ParseResult.encodeUnknown(fault)
  },
  {
    ...Violation.expecting("a fault such as aml:hang, or an object with on and what"),
    jsonSchema: { anyOf: [{ type: "string" }, JSONSchema.make(Fault.Fault)] }
  }
)
