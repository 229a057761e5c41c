/** `idv-contract claims` and `idv-mock contract`: prints the claims, with the cases and scenarios that test them. */
import * as Conformance from "@effect-idv/contract/Conformance"
import * as Contract from "@effect-idv/contract/Contract"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { parse } from "yaml"
import * as ClaimsFile from "./claimsFile.ts"
import * as FlagValues from "./flagValues.ts"
import * as ParsedArguments from "./parsedArguments.ts"

/** A workflow of a scenario file, and the claims that it tests. */
interface Scenario {
  readonly name: string
  readonly claims: ReadonlyArray<string>
}

/** A claim with the names of the cases and scenarios that test it. */
interface TestedClaim extends Contract.Claim {
  readonly cases: ReadonlyArray<string>
  readonly scenarios: ReadonlyArray<string>
}

const Arazzo = Schema.Struct({
  workflows: Schema.Array(Schema.Struct({
    "workflowId": Schema.String,
    "x-claims": Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
  }))
})

const decodeArazzo = Schema.decodeUnknownEither(Arazzo)

const scenariosOf = (file: string, text: string): ReadonlyArray<Scenario> =>
  Either.try((): unknown => parse(text)).pipe(
    Either.flatMap((yaml) => decodeArazzo(yaml)),
    Either.match({
      onLeft: () => [],
      onRight: ({ workflows }) =>
        workflows.map(({ workflowId, "x-claims": claims }) => ({ name: `${workflowId} (${file})`, claims }))
    })
  )

/** The scenarios of the contract package. A file that is not a scenario is ignored. */
const scenarios = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const folder = Contract.pathOf("scenarios")
  const files = (yield* fs.readDirectory(folder)).filter((file) => file.endsWith(".arazzo.yaml")).toSorted()
  const texts = yield* Effect.forEach(files, (file) => fs.readFileString(join(folder, file)))
  return texts.flatMap((text, i) => scenariosOf(files[i] ?? "", text))
}).pipe(Effect.orElseSucceed((): ReadonlyArray<Scenario> => []))

const withTests = (scenarios: ReadonlyArray<Scenario>) => (claim: Contract.Claim): TestedClaim => ({
  ...claim,
  cases: Conformance.cases.filter((testCase) => testCase.claim === claim.id).map(({ id }) => id),
  scenarios: scenarios.filter(({ claims }) => claims.includes(claim.id)).map(({ name }) => name)
})

type Row = readonly [term: string, words: ReadonlyArray<string>]

const mockRows = ({ mock }: TestedClaim): ReadonlyArray<Row> => {
  if (mock === undefined) return []
  const { default: defaultVariant, option, variants = [] } = mock
  const otherVariants = variants.map((variant) =>
    option === undefined ? `${variant}` : `--profile ${option}=${variant}`
  )
  return [["the mock server", [`${defaultVariant}`]], ["or", otherVariants]]
}

const lineOf = ([term, words]: Row): ReadonlyArray<string> =>
  words.length === 0 ? [] : [`      ${term}: ${words.join(", ")}`]

const linesOf = (claim: TestedClaim): ReadonlyArray<string> => {
  const { accept = [], cases, id, observed = [], observedOn, scenarios, section, source, unobserved } = claim
  const rows: ReadonlyArray<Row> = [
    ["source", [source]],
    ["accepted", accept.map((word) => typeof word === "object" ? `/${word.pattern}/` : `${word}`)],
    ["observed", observed.map(String)],
    ["observed on", observedOn === undefined ? [] : [`${observedOn.day}, of a ${observedOn.target}`]],
    ...mockRows(claim),
    ["cases", cases],
    ["scenarios", scenarios],
    ["not observed", unobserved === undefined ? [] : [unobserved]]
  ]
  return [`  ${id} (section ${section}): ${claim.claim}`, ...rows.flatMap(lineOf)]
}

const tableOf = (claims: ReadonlyArray<TestedClaim>, levels: ReadonlyArray<Contract.Level>): string =>
  levels.flatMap((level, i) => {
    const claimsOfLevel = claims.filter((claim) => claim.level === level)
    const heading = `${level}: ${claimsOfLevel.length} claim${claimsOfLevel.length === 1 ? "" : "s"}`
    return [...(i === 0 ? [] : [""]), heading, ...claimsOfLevel.flatMap(linesOf)]
  }).map((line) => line.replaceAll(/\p{Cc}/gu, "\ufffd")).join("\n")

const jsonOf = (claims: ReadonlyArray<TestedClaim>, levels: ReadonlyArray<Contract.Level>): string =>
  JSON.stringify(
    {
      version: 1,
      counts: Object.fromEntries(
        levels.map((level) => [level, claims.filter((claim) => claim.level === level).length])
      ),
      claims: claims.filter(({ level }) => levels.includes(level))
    },
    undefined,
    2
  )

const Flags = Schema.Struct({
  level: Schema.Array(FlagValues.oneOf("documented", "observed", "assumed", "unknown")),
  format: Schema.optionalWith(FlagValues.oneOf("table", "json"), { exact: true })
})

export const claims = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const { format = "table", level } = yield* ParsedArguments.read(args, Flags)
    const { contract } = yield* ClaimsFile.read(args)
    const all = contract.claims.map(withTests(yield* scenarios))
    const levels = Contract.levels.filter((name) => level.length === 0 || level.includes(name))
    yield* Console.log(format === "json" ? jsonOf(all, levels) : tableOf(all, levels))
  })
