/**
 * The reference contract: one claim for each behaviour of the service, with the evidence for it. The claims are
 * in `contract/claims.yaml`, beside the OpenAPI document and the scenarios.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { parse, YAMLParseError } from "yaml"

/** A message without the value, because a file may hold a secret. */
const shouldBe = (expected: string) => ({ message: () => `should be ${expected}` })

/** One message without the value for a union. Without `override`, each member of the union would add a message. */
const shouldBeOneOf = (expected: string) => ({ message: () => ({ message: `should be ${expected}`, override: true }) })

/** One of these words. The message does not repeat another one. */
const oneOf = <Words extends Arr.NonEmptyReadonlyArray<string>>(...words: Words) =>
  Schema.Literal(...words).annotations(
    shouldBeOneOf(`${words.slice(0, -1).join(", ")} or ${Arr.lastNonEmpty(words)}`)
  )

/** A text of this form. The description is that of the JSON Schema. */
const matching = (pattern: RegExp, description: string, expected: string = description) =>
  Schema.String.pipe(Schema.pattern(pattern, { description, ...shouldBe(expected) })).annotations(shouldBe(expected))

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * The evidence for a claim: the service document shows it (`documented`), a service showed it (`observed`), a standard
 * or common practice supports it (`assumed`), or nothing does (`unknown`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Level = oneOf("documented", "observed", "assumed", "unknown")

/**
 * The decoded type of {@link Level}.
 *
 * @category schemas
 * @since 0.1.0
 */
export type Level = typeof Level.Type

/**
 * Every level, the most certain first.
 *
 * @category constants
 * @since 0.1.0
 */
export const levels: ReadonlyArray<Level> = Level.literals

const trimmedText = Schema.NonEmptyTrimmedString.annotations({
  description: "a text",
  ...shouldBe("a text without blanks around it")
})

const text = Schema.NonEmptyString.annotations(shouldBe("a text"))

/** An observable word, such as a status or a name. In YAML, a number need not be quoted. */
const Word = Schema.Union(Schema.NonEmptyString, Schema.Number).annotations({
  description: "a word or a number",
  ...shouldBeOneOf("a word or a number")
})

/** A list with at least one element. */
const listOf = <S extends Schema.Schema.Any>(schema: S, of: string) =>
  Schema.NonEmptyArray(schema).annotations(shouldBe(`a list of ${of}`))

const isPattern = (text: string) => Either.isRight(Either.try(() => new RegExp(text, "u")))

const Pattern = Schema.Struct({
  pattern: Schema.String.pipe(
    Schema.filter(isPattern, { description: "a regular expression", ...shouldBe("a regular expression") })
  )
})

const Accepted = Schema.Union(Word, Pattern).annotations(
  shouldBeOneOf("a word, a number, or { pattern: a regular expression }")
)

/**
 * The behaviours that the mock server can show.
 *
 * @category schemas
 * @since 0.1.0
 */
export const MockBehavior = Schema.Struct({
  /** The option of `Profile` that chooses the behaviour, if there is one. */
  option: optional(text),
  /** The behaviour without a profile. */
  default: Word,
  /** The behaviours that the option can choose instead. */
  variants: optional(listOf(Word, "words"))
}).annotations(shouldBe("an object with default, and optionally option and variants"))

const id = matching(/^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*$/, "an id such as token.success.status")

/**
 * When a claim was observed, and on which kind of target. The address is not kept.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ObservedOn = Schema.Struct({
  /** The day, in the form `YYYY-MM-DD`. */
  day: matching(/^\d{4}-\d\d-\d\d$/, "a day such as \"2026-05-17\""),
  target: oneOf("mock", "sandbox")
}).annotations(shouldBe("an object with day and target"))

/**
 * One behaviour of the service. A claim has either `accept` or `unobserved`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Claim = Schema.Struct({
  id,
  /** The behaviour, as a sentence. */
  claim: trimmedText,
  /** The evidence for the claim. */
  level: Level,
  /** The section of the service document that shows the behaviour, or that would show it. */
  section: matching(/^\d+(\.\d+)?$/, "the number of a section", "the number of a section, in quotes"),
  /** The document, standard or practice that supports the claim. */
  source: trimmedText,
  /** The sentence of the service document, for a documented claim. */
  sentence: optional(trimmedText),
  /**
   * The observations that satisfy the claim. If the claim is not documented, only the expected ones pass: those in
   * `observed`, or else the default of the mock server. The others are `drift`.
   */
  accept: optional(listOf(Accepted, "words")),
  /**
   * The verdict on an observation that is not in `accept`: by default `violated` for a documented claim, and `drift`
   * for any other. `lenient` means that the service accepted a request that the document neither shows nor forbids.
   */
  otherwise: optional(oneOf("violated", "lenient", "drift")),
  /** What the mock server does. */
  mock: optional(MockBehavior),
  /** Whether `@effect-idv/core` works with every accepted behaviour, or fails with a typed error for some. */
  client: oneOf("tolerate", "refuse"),
  /** The behaviours for which the client fails with a typed error. */
  refuses: optional(listOf(Word, "words")),
  /** What a service showed, in a file of claims made from observations. */
  observed: optional(listOf(Word, "words")),
  /** When the service showed it. */
  observedOn: optional(ObservedOn),
  /**
   * Why the behaviour is not observable: the reason why no request can ever show it. It does not mean that the
   * behaviour has not been observed yet.
   */
  unobserved: optional(trimmedText)
}).annotations(shouldBe("a claim, with id, claim, level, section, source and client"))

/**
 * The decoded type of {@link Claim}.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface Claim extends Schema.Schema.Type<typeof Claim> {}

const problemsOfClaims = ({ claims }: { readonly claims: ReadonlyArray<Claim> }) =>
  claims.flatMap(({ accept, id, unobserved }, i) => {
    const path = ["claims", i]
    return [
      ...(claims.findIndex((claim) => claim.id === id) < i ? [{ path, message: "is defined twice" }] : []),
      ...((accept === undefined) === (unobserved === undefined)
        ? [{ path, message: "should have either accept or unobserved" }]
        : [])
    ]
  })

/**
 * The version of the files of claims that this package reads. It changes when older readers would misread a file.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = 1

const Version = Schema.Literal(version).annotations({
  message: ({ actual }) => ({
    message: `should be ${version}, the version that this program reads${
      typeof actual === "number" ? `: the file has version ${actual}` : ""
    }`,
    override: true
  })
})

const ServiceDocument = Schema.Struct({
  /** The SHA-256 digest of the service document from which the claims were read, in hexadecimal. */
  sha256: matching(/^[0-9a-f]{64}$/, "64 hexadecimal digits")
}).annotations(shouldBe("an object with sha256"))

/**
 * The schema of a file of claims, such as `contract/claims.yaml`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Contract = Schema.Struct({
  version: optional(Version),
  document: optional(ServiceDocument),
  claims: listOf(Claim, "claims")
}).annotations(
  shouldBe("an object with claims")
).pipe(
  Schema.filter(problemsOfClaims),
  Schema.annotations({ identifier: "Contract", parseOptions: { errors: "all", onExcessProperty: "error" } })
)

/**
 * The decoded type of {@link Contract}.
 *
 * @category schemas
 * @since 0.1.0
 */
export interface Contract extends Schema.Schema.Type<typeof Contract> {}

/**
 * A file of claims cannot be read or is invalid. Each of `problems` says where and why, without a value of the file.
 *
 * @category errors
 * @since 0.1.0
 */
export class ContractError extends Schema.TaggedError<ContractError>("@effect-idv/contract/ContractError")(
  "ContractError",
  { problems: Schema.NonEmptyArray(Schema.String) }
) {
  override get message() {
    return this.problems.join("; ")
  }
}

const decodeContract = Schema.decodeUnknownEither(Contract)

const ClaimList = Schema.Struct({ claims: Schema.Array(Schema.Unknown) })

const IdentifiedClaim = Schema.Struct({ id })

/** The path of a problem. If the claim has a valid id, the id replaces its index. */
const pathText = (yaml: unknown, [field, i, ...inside]: ReadonlyArray<PropertyKey>): string => {
  const claims = Schema.is(ClaimList)(yaml) ? yaml.claims : []
  const claim = field === "claims" && typeof i === "number" ? claims[i] : undefined
  const start = Schema.is(IdentifiedClaim)(claim) ? [claim.id] : [field, i].filter((part) => part !== undefined)
  return start.concat(inside).join(".") || "the file"
}

const problemTexts: Readonly<Record<string, string>> = { Missing: "is missing", Unexpected: "is not a known field" }

/** How many problems an error names. */
const maxProblems = 5

const problemsOf = (yaml: unknown, error: ParseResult.ParseError): Arr.NonEmptyReadonlyArray<string> => {
  const all = Arr.dedupe(
    ParseResult.ArrayFormatter.formatErrorSync(error).map(({ _tag, message, path }) =>
      `${pathText(yaml, path)} ${problemTexts[_tag] ?? message}`
    )
  )
  const [first = "the file is not a list of claims", ...others] = all.slice(0, maxProblems)
  return [first, ...others, ...(all.length > maxProblems ? [`and ${all.length - maxProblems} more`] : [])]
}

const yamlProblem = (error: unknown): string => {
  const [begin] = error instanceof YAMLParseError ? error.linePos ?? [] : []
  return begin === undefined ? "it is not YAML" : `it is not YAML: see line ${begin.line}, column ${begin.col}`
}

/**
 * Decodes the text of a file of claims.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromYaml = (text: string): Either.Either<Contract, ContractError> =>
  Either.try({
    // By default, the parser writes warnings to the console.
    try: (): unknown => parse(text, { logLevel: "error" }),
    catch: (error) => new ContractError({ problems: [yamlProblem(error)] })
  }).pipe(
    Either.flatMap((yaml) =>
      Either.mapLeft(decodeContract(yaml), (error) => new ContractError({ problems: problemsOf(yaml, error) }))
    )
  )

const fileProblems: Readonly<Record<string, string>> = {
  NotFound: "there is no such file",
  PermissionDenied: "permission to read it is denied",
  BadResource: "it is not a file"
}

const fileProblem = (error: PlatformError): string =>
  (error._tag === "SystemError" ? fileProblems[error.reason] : undefined) ?? "it cannot be read"

/** The package is found by its name, because `idv-mock` is published with this module inside a bundle. */
const manifestPath = (): string => createRequire(import.meta.url).resolve("@effect-idv/contract/package.json")

/**
 * The path of a file of the contract in this package, such as `openapi.yaml`.
 *
 * @category getters
 * @since 0.1.0
 */
export const pathOf = (name: string): string => join(dirname(manifestPath()), "contract", name)

const readFile = (path: string): Effect.Effect<string, ContractError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(path)).pipe(
    Effect.mapError((error) => new ContractError({ problems: [fileProblem(error)] }))
  )

/**
 * Loads a file of claims, by default the reference contract of this package.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = (
  path: string = pathOf("claims.yaml")
): Effect.Effect<Contract, ContractError, FileSystem.FileSystem> => Effect.flatMap(readFile(path), fromYaml)

/**
 * Loads a file of claims with the SHA-256 digest of its text, in hexadecimal. It reads the file once, so that the
 * file may be a pipe.
 *
 * @category constructors
 * @since 0.1.0
 */
export const loadWithDigest = (
  path: string
): Effect.Effect<{ readonly contract: Contract; readonly sha256: string }, ContractError, FileSystem.FileSystem> =>
  Effect.flatMap(readFile(path), (text) =>
    Effect.map(fromYaml(text), (contract) => ({
      contract,
      sha256: createHash("sha256").update(text).digest("hex")
    })))
