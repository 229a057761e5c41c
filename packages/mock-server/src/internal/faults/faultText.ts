/** A fault in one line, as the command line takes it: `on:what[=value][:when[=value]]`. */
import * as Violation from "@effect-idv/core/Violation"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as FaultKinds from "./faultKinds.ts"

type Parameters = (value: number | string) => Readonly<Record<string, unknown>>

/** Where the value of a part goes. What is not here takes none. */
const parametersOfWhat: Readonly<Record<string, Parameters>> = {
  latency: (delay) => ({ distribution: { kind: "fixed", delay } }),
  status: (status) => ({ status }),
  reset: (at) => ({ at }),
  fin: (at) => ({ at }),
  hang: (at) => ({ at }),
  truncation: (keep) => ({ keep }),
  randomBytes: (length) => ({ length }),
  oversize: (bytes) => ({ bytes }),
  drip: (every) => ({ every }),
  quota: (limit) => ({ limit })
}

const parametersOfWhen: Readonly<Record<string, Parameters>> = {
  nth: (n) => ({ n }),
  first: (n) => ({ n }),
  every: (n) => ({ n }),
  probability: (p) => ({ p }),
  window: (span) => ({ for: span })
}

/** The value of the line, in the form that a fault has in JSON, and not decoded yet. */
export const parse = (text: string): Either.Either<unknown, Violation.Violations> => {
  const [on = "", what, when, ...others] = text.trim().split(":")
  if (what === undefined || others.length > 0) {
    return Either.left(Violation.whole(
      "on:what[=value][:when[=value]], such as aml:hang or token:status=503:nth=2, or a JSON object"
    ))
  }
  return Either.all({
    on: Either.right(on.trim()),
    what: part("what", what, parametersOfWhat),
    ...(when !== undefined && { when: part("when", when, parametersOfWhen) })
  })
}

const part = (
  path: "what" | "when",
  text: string,
  parametersOf: Readonly<Record<string, Parameters>>
): Either.Either<unknown, Violation.Violations> => {
  const [kind = "", ...values] = text.split("=").map((piece) => piece.trim())
  if (values.length === 0) return Either.right({ kind })
  return Option.match(Record.get(parametersOf, kind), {
    onNone: () =>
      valueless[path].includes(kind)
        ? Either.left([new Violation.Violation({ path, problem: "unexpected", expected: `${kind} without a value` })])
        : Either.right({ kind }),
    onSome: (parameters) => Either.right({ kind, ...parameters(numberOrText(values.join("="))) })
  })
}

const valueless: Readonly<Record<"what" | "when", ReadonlyArray<string>>> = {
  what: Record.keys(FaultKinds.table).filter((kind) => !Record.has(parametersOfWhat, kind)),
  when: ["always"]
}

const numberOrText = (value: string) => /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
