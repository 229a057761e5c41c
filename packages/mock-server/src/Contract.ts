/**
 * The reference contract: what is known of the service, one claim for each behaviour, and how it is
 * known. The claims stand in `contract/evidence.yaml`, beside the OpenAPI document and the scenarios.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"

/**
 * How it is known: the API document shows it (`documented`), a service was seen to do it
 * (`observed`), a standard or custom speaks for it (`assumed`), or nothing does (`unknown`).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Level = Schema.Literal("documented", "observed", "assumed", "unknown")

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

const sentence = Schema.NonEmptyTrimmedString.annotations({ description: "a text" })

/** A word for what is observed: a status, a name, a form. In YAML a number may stand for itself. */
const Word = Schema.Union(Schema.NonEmptyString, Schema.Number).annotations({
  description: "a word or a number"
})

const isPattern = (text: string) => Either.isRight(Either.try(() => new RegExp(text, "u")))

const Pattern = Schema.Struct({
  pattern: Schema.String.pipe(Schema.filter(isPattern, { description: "a regular expression" }))
})

/**
 * What the mock server does: by default, and in its other variants. `option` is the point of
 * `Profile` that chooses between them, where there is one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Played = Schema.Struct({
  option: Schema.optionalWith(Schema.NonEmptyString, { exact: true }),
  default: Word,
  variants: Schema.optionalWith(Schema.NonEmptyArray(Word), { exact: true })
})

const id = Schema.String.pipe(
  Schema.pattern(/^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*$/, { description: "words such as token.success.status" })
)

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
 * - `observed`: what was seen of it, in the observations of a sandbox.
 * - `unobserved`: why no request can show it, instead of `accept`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Claim = Schema.Struct({
  id,
  claim: sentence,
  level: Level,
  section: Schema.String.pipe(Schema.pattern(/^\d+(\.\d+)?$/, { description: "the number of a section" })),
  source: sentence,
  accept: Schema.optionalWith(Schema.NonEmptyArray(Schema.Union(Word, Pattern)), { exact: true }),
  mock: Schema.optionalWith(Played, { exact: true }),
  client: Schema.Literal("tolerate", "refuse"),
  refuses: Schema.optionalWith(Schema.NonEmptyArray(Word), { exact: true }),
  observed: Schema.optionalWith(Schema.NonEmptyArray(Word), { exact: true }),
  unobserved: Schema.optionalWith(sentence, { exact: true })
})

/**
 * @category schemas
 * @since 0.1.0
 */
export interface Claim extends Schema.Schema.Type<typeof Claim> {}

const isOnce = ({ claims }: { readonly claims: ReadonlyArray<Claim> }) => {
  const twice = claims.map(({ id }) => id).find((id, i, ids) => ids.indexOf(id) < i)
  return twice === undefined ? undefined : { path: ["claims"], message: `${twice} is there twice` }
}

/**
 * The file `contract/evidence.yaml`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Evidence = Schema.Struct({ claims: Schema.NonEmptyArray(Claim) }).pipe(
  Schema.filter(isOnce),
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
export class ContractError extends Schema.TaggedError<ContractError>("@effect-idv/mock-server/ContractError")(
  "ContractError",
  { problems: Schema.NonEmptyArray(Schema.String) }
) {
  override get message() {
    return this.problems.join("; ")
  }
}

const decodeEvidence = Schema.decodeUnknownEither(Evidence)

/** Of a claim, its id says more than its number. */
const problemsOf = (error: ParseResult.ParseError): Arr.NonEmptyReadonlyArray<string> => {
  const problems = ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message, path }) =>
    `${path.join(".")}: ${message.replace(/, actual .*$/s, "")}`
  )
  return Arr.isNonEmptyArray(problems) ? problems : ["it is no file of claims"]
}

/**
 * The claims of a text of YAML.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromYaml = (text: string): Either.Either<Evidence, ContractError> =>
  Either.try({
    try: (): unknown => parse(text),
    catch: () => new ContractError({ problems: ["it is not YAML"] })
  }).pipe(
    Either.flatMap((yaml) =>
      Either.mapLeft(decodeEvidence(yaml), (error) => new ContractError({ problems: problemsOf(error) }))
    )
  )

const folder = new URL("../contract/", import.meta.url)

/**
 * Where a file of the contract is, such as `openapi.yaml`.
 *
 * @category getters
 * @since 0.1.0
 */
export const pathOf = (name: string): string => fileURLToPath(new URL(name, folder))

/**
 * The claims of a file, those of this package by default.
 *
 * @category constructors
 * @since 0.1.0
 */
export const load = (
  path: string = pathOf("evidence.yaml")
): Effect.Effect<Evidence, ContractError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(
      fs.readFileString(path),
      () => new ContractError({ problems: ["the file cannot be read"] })
    )
    return yield* fromYaml(text)
  })
