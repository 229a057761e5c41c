/**
 * The reference contract: what is known of the service, one claim for each behaviour, and how it is
 * known. The claims stand in `contract/evidence.yaml`, beside the OpenAPI document and the scenarios.
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
import { fileURLToPath } from "node:url"
import { parse, YAMLParseError } from "yaml"

/** What is written in a file is never repeated: it may be anything. */
const shouldBe = (expected: string) => ({ message: () => `should be ${expected}` })

/** The same, in place of what each of several alternatives would say. */
const shouldBeOneOf = (expected: string) => ({ message: () => ({ message: `should be ${expected}`, override: true }) })

/**
 * How it is known: the API document shows it (`documented`), a service was seen to do it
 * (`observed`), a standard or custom speaks for it (`assumed`), or nothing does (`unknown`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Level = Schema.Literal("documented", "observed", "assumed", "unknown").annotations(
  shouldBeOneOf("documented, observed, assumed or unknown")
)

/**
 * @category schemas
 * @since 0.1.0
 */
export type Level = typeof Level.Type

/**
 * Every level, the surest first.
 *
 * @category constants
 * @since 0.1.0
 */
export const levels: ReadonlyArray<Level> = Level.literals

const sentence = Schema.NonEmptyTrimmedString.annotations({
  description: "a text",
  ...shouldBe("a text, without blanks around it")
})

const text = Schema.NonEmptyString.annotations(shouldBe("a text"))

/** A word for what is observed: a status, a name, a form. In YAML a number may stand for itself. */
const Word = Schema.Union(Schema.NonEmptyString, Schema.Number).annotations({
  description: "a word or a number",
  ...shouldBeOneOf("a word or a number")
})

/** One or more. */
const listOf = <A, I>(schema: Schema.Schema<A, I>, of: string) =>
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
 * What the mock server does: by default, and in its other variants. `option` is the point of
 * `Profile` that chooses between them, where there is one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Played = Schema.Struct({
  option: Schema.optionalWith(text, { exact: true }),
  default: Word,
  variants: Schema.optionalWith(listOf(Word, "words"), { exact: true })
}).annotations(shouldBe("an object with default, and perhaps option and variants"))

const id = Schema.String.pipe(
  Schema.pattern(/^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*$/, {
    description: "words such as token.success.status",
    ...shouldBe("words such as token.success.status")
  })
).annotations(shouldBe("words such as token.success.status"))

/**
 * When and of what something was seen. Where it was is left out.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ObservedOn = Schema.Struct({
  day: Schema.String.pipe(Schema.pattern(/^\d{4}-\d\d-\d\d$/, shouldBe("a day such as \"2026-05-17\"")))
    .annotations(shouldBe("a day such as \"2026-05-17\"")),
  target: Schema.Literal("mock", "sandbox").annotations(shouldBeOneOf("mock or sandbox"))
}).annotations(shouldBe("an object with day and target"))

/**
 * One behaviour of the service.
 *
 * - `claim`: what it does, as a sentence.
 * - `section`: of the API document, where it stands or would stand.
 * - `source`: what speaks for it.
 * - `accept`: what may be observed; nothing else is right.
 * - `mock`: what the mock server does.
 * - `client`: whether `@effect-idv/core` lives with all of it, but for what it `refuses` with a typed
 *   error.
 * - `observed`: what was seen of it, in the observations of a sandbox; `observedOn`: when.
 * - `unobserved`: why no request can show it, instead of `accept`. A claim has one of the two.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Claim = Schema.Struct({
  id,
  claim: sentence,
  level: Level,
  section: Schema.String.pipe(Schema.pattern(/^\d+(\.\d+)?$/, {
    description: "the number of a section",
    ...shouldBe("the number of a section, in quotes")
  })).annotations(shouldBe("the number of a section, in quotes")),
  source: sentence,
  accept: Schema.optionalWith(listOf(Accepted, "words"), { exact: true }),
  mock: Schema.optionalWith(Played, { exact: true }),
  client: Schema.Literal("tolerate", "refuse").annotations(shouldBeOneOf("tolerate or refuse")),
  refuses: Schema.optionalWith(listOf(Word, "words"), { exact: true }),
  observed: Schema.optionalWith(listOf(Word, "words"), { exact: true }),
  observedOn: Schema.optionalWith(ObservedOn, { exact: true }),
  unobserved: Schema.optionalWith(sentence, { exact: true })
}).annotations(shouldBe("a claim, with id, claim, level, section, source and client"))

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Claim extends Schema.Schema.Type<typeof Claim> {}

const problemsOfClaims = ({ claims }: { readonly claims: ReadonlyArray<Claim> }) =>
  claims.flatMap(({ accept, id, unobserved }, i) => {
    const path = ["claims", i]
    return [
      ...(claims.findIndex((claim) => claim.id === id) < i ? [{ path, message: "is there twice" }] : []),
      ...((accept === undefined) === (unobserved === undefined)
        ? [{ path, message: "should have either accept or unobserved" }]
        : [])
    ]
  })

/**
 * The file `contract/evidence.yaml`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Evidence = Schema.Struct({ claims: listOf(Claim, "claims") }).annotations(
  shouldBe("an object with claims")
).pipe(
  Schema.filter(problemsOfClaims),
  Schema.annotations({ identifier: "Evidence", parseOptions: { errors: "all", onExcessProperty: "error" } })
)

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Evidence extends Schema.Schema.Type<typeof Evidence> {}

/**
 * A file of claims cannot be read, or is not one. Each of `problems` says where and why.
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

const decodeEvidence = Schema.decodeUnknownEither(Evidence)

/** Where a claim has one, its id says more than its number. */
const nameOf = (yaml: unknown, [field, i, ...inside]: ReadonlyArray<PropertyKey>): string => {
  const claims = Schema.is(Named)(yaml) ? yaml.claims : []
  const one = field === "claims" && typeof i === "number" ? claims[i] : undefined
  const id = Schema.is(Identified)(one) ? one.id : undefined
  const path = id === undefined ? [field, i].filter((part) => part !== undefined) : [id]
  return path.concat(inside).join(".") || "the file"
}

const Named = Schema.Struct({ claims: Schema.Array(Schema.Unknown) })

const Identified = Schema.Struct({ id })

const words: Readonly<Record<string, string>> = { Missing: "is missing", Unexpected: "is not a field that there is" }

/** More are of no use to anybody. */
const most = 5

/** Short ones, which say where and what is allowed. */
const problemsOf = (yaml: unknown, error: ParseResult.ParseError): Arr.NonEmptyReadonlyArray<string> => {
  const all = Arr.dedupe(
    ParseResult.ArrayFormatter.formatErrorSync(error).map(({ _tag, message, path }) =>
      `${nameOf(yaml, path)} ${words[_tag] ?? message}`
    )
  )
  const [first = "it is no file of claims", ...others] = all.slice(0, most)
  return [first, ...others, ...(all.length > most ? [`and ${all.length - most} more`] : [])]
}

const yamlProblem = (error: unknown): string => {
  const [begin] = error instanceof YAMLParseError ? error.linePos ?? [] : []
  return begin === undefined ? "it is not YAML" : `it is not YAML: see line ${begin.line}, column ${begin.col}`
}

/**
 * The claims of a text of YAML.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromYaml = (text: string): Either.Either<Evidence, ContractError> =>
  Either.try({
    // Its warnings would go to where nobody expects them.
    try: (): unknown => parse(text, { logLevel: "error" }),
    catch: (error) => new ContractError({ problems: [yamlProblem(error)] })
  }).pipe(
    Either.flatMap((yaml) =>
      Either.mapLeft(decodeEvidence(yaml), (error) => new ContractError({ problems: problemsOf(yaml, error) }))
    )
  )

const fileProblems: Readonly<Record<string, string>> = {
  NotFound: "there is no such file",
  PermissionDenied: "it may not be read",
  BadResource: "it is no file"
}

const fileProblem = (error: PlatformError): string =>
  (error._tag === "SystemError" ? fileProblems[error.reason] : undefined) ?? "it cannot be read"

const folder = new URL("../contract/", import.meta.url)

/**
 * Where a file of the contract is, such as `openapi.yaml`.
 *
 * @category getters
 * @since 0.1.0
 */
export const pathOf = (name: string): string => fileURLToPath(new URL(name, folder))

const readFile = (path: string): Effect.Effect<string, ContractError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(path)).pipe(
    Effect.mapError((error) => new ContractError({ problems: [fileProblem(error)] }))
  )

/**
 * The claims of a file, those of this package by default.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = (
  path: string = pathOf("evidence.yaml")
): Effect.Effect<Evidence, ContractError, FileSystem.FileSystem> => Effect.flatMap(readFile(path), fromYaml)

/**
 * The claims of a file and the SHA-256 digest of its bytes, in hexadecimal. The file is read once.
 *
 * @category constructors
 * @since 0.1.0
 */
export const loadWithDigest = (
  path: string
): Effect.Effect<{ readonly evidence: Evidence; readonly sha256: string }, ContractError, FileSystem.FileSystem> =>
  Effect.flatMap(readFile(path), (text) =>
    Effect.map(fromYaml(text), (evidence) => ({
      evidence,
      sha256: createHash("sha256").update(text).digest("hex")
    })))
