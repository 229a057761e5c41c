/** `idv-mock diff`: runs the conformance suite against the service and a mock server, and compares the observations. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as HttpClients from "@effect-idv/cli/httpClient"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as TestPersons from "@effect-idv/cli/testPersons"
import * as Text from "@effect-idv/cli/textField"
import { UsageError } from "@effect-idv/cli/usageError"
import * as Conformance from "@effect-idv/contract/Conformance"
import * as Contract from "@effect-idv/contract/Contract"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Arr from "effect/Array"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { NewSession } from "../../ControlApi.ts"
import * as MockServer from "../../MockServer.ts"
import type * as Profile from "../../Profile.ts"
import * as TestPerson from "../../TestPerson.ts"
import * as Difference from "../record/difference.ts"
import * as ProfileFile from "../record/profileFile.ts"
import { WaitText } from "../schema/durationText.ts"
import { numberOrText, withDefault } from "../schema/fields.ts"
import * as RecordedProfile from "./recordedProfile.ts"
import * as Settings from "./settings.ts"
import * as UpstreamFlags from "./upstreamFlags.ts"

/** The behaviours differ. The output lists them. */
export class Differs extends Schema.TaggedError<Differs>("@effect-idv/mock-server/internal/Differs")("Differs", {
  message: Schema.String
}) {}

const Flags = Schema.Struct({
  checks: withDefault(FlagValues.wholeNumber(3, 10_000), 12),
  spacing: withDefault(WaitText, Duration.millis(500))
})

/** A run sends at most this number of requests for each check that it may cause. */
const requestsPerCheck = 5

/** The cases about the options of a profile come first, because they show what the mock server should play. */
const casesOf = ({ claims }: Contract.Contract): ReadonlyArray<Conformance.Case> => {
  const ofOptions = new Set(claims.filter(({ mock }) => mock?.option !== undefined).map(({ id }) => id))
  return Conformance.cases.map((testCase) => ofOptions.has(testCase.claim) ? { ...testCase, worth: 10 } : testCase)
}

const secret = <A, I>(args: ParsedArguments.ParsedArguments, flag: string, name: string, schema: Schema.Schema<A, I>) =>
  Effect.filterOrFail(
    ParsedArguments.flagOrVariable(args, flag, name, schema),
    (value) => value !== undefined,
    () => new UsageError({ text: `--${flag} is missing: expected it, or ${name}` })
  )

/** The vendor's test persons as those of the mock server. A reserved name keeps its result. */
const testPersonsOf = (persons: ReadonlyArray<Conformance.TestPerson>): ReadonlyArray<TestPerson.Custom> =>
  Arr.filterMap(persons, ({ dob, matchFound, name }) =>
    Either.getRight(TestPerson.make({
      match: { name, dateOfBirth: dob.split("-").toReversed().join("-") },
      response: matchFound
    })))

/** What the mock server shows of the same cases, with the limits of a sandbox. */
const observedOfMock = (
  contract: Contract.Contract,
  cases: ReadonlyArray<Conformance.Case>,
  target: Conformance.Target,
  profile: Profile.Profile | undefined
) => {
  const customer = { customerId: "diff-customer", customerKey: Redacted.make("diff: key é") }
  const { persons = [] } = target
  return Layer.build(
    MockServer.layerHttpClientWith({ profile, customers: [customer], testPersons: testPersonsOf(persons) })
  ).pipe(
    Effect.flatMap((services) => {
      const { url } = Context.get(services, MockServer.MockServer)
      const mock = { ...target, ...customer, authUrl: url, baseUrl: url, spacing: 0 }
      return Effect.provide(Conformance.verify(mock, contract, { cases }), services)
    }),
    Effect.catchTag("NotAMockServer", Effect.die),
    Effect.scoped
  )
}

const lineOf = ({ mock, name, sentence, service }: Difference.Difference): string =>
  sentence === undefined
    ? `${name}: the service has ${service}, the mock server ${mock}`
    : `${name}: the service has ${service}, but its document says: ${sentence}`

export const diff = (
  args: ParsedArguments.ParsedArguments
): Effect.Effect<void, UsageError | Differs, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const upstream = yield* UpstreamFlags.read(args)
    const { checks, spacing } = yield* ParsedArguments.read(args, Flags, numberOrText)
    const { profile } = Settings.options(yield* Settings.read(args))
    const recording = yield* RecordedProfile.read(args)
    const target: Conformance.Target = {
      kind: "sandbox",
      authUrl: upstream.auth,
      baseUrl: upstream.base,
      customerId: yield* secret(args, "customer-id", "IDV_CUSTOMER_ID", NewSession.fields.customerId),
      customerKey: yield* secret(args, "customer-key", "IDV_CUSTOMER_KEY", FlagValues.Key),
      persons: yield* TestPersons.read(args),
      budget: checks * requestsPerCheck,
      deadline: upstream.deadline,
      spacing
    }
    const contract = yield* Effect.mapError(Contract.load(), ({ message }) => new Differs({ message }))
    const cases = casesOf(contract)
    const plan = Conformance.planText(Conformance.plan(target, cases), target, contract)
    // The reasons name flags of `verify`.
    yield* Console.error(plan.replaceAll(/^ +not tested.*\n/gm, ""))
    // Only a run against a mock server fails.
    const service = yield* Effect.catchTag(
      Conformance.verify(target, contract, { cases }),
      "NotAMockServer",
      Effect.die
    )
    if (!Conformance.isTested(service)) {
      return yield* new Differs({ message: `idv-mock diff: ${Conformance.verdict(service, target)}` })
    }
    const mock = yield* observedOfMock(contract, cases, target, profile)

    const { compared, differences, notCompared, onlyMock, others, recorded } = Difference.compare(
      contract,
      service,
      mock,
      recording === undefined ? {} : ProfileFile.unplayableOf(recording)
    )
    const list = (heading: string, lines: ReadonlyArray<string>) =>
      lines.length === 0 ? Effect.void : Console.log([heading, ...lines.map((line) => `  ${line}`)].join("\n"))
    yield* Effect.forEach(differences, (difference) => Console.log(lineOf(difference)), { discard: true })
    yield* Effect.forEach(onlyMock, (name) => Console.log(`${name}: the service did not show it`), { discard: true })
    yield* list("Stated by the recording, because no profile plays them:", recorded.map(lineOf))
    yield* list("Not specified by the document, and the mock server has one variant:", others.map(lineOf))
    const isListedShown = service.results.some(({ id, verdict }) =>
      id === "aml.listed.answered" && verdict !== "not tested"
    )
    yield* list("Not compared, because no request showed it:", [
      ...notCompared,
      ...(isListedShown ? [] : ["a listed person (--person)"])
    ])
    const count = differences.length + onlyMock.length
    const summary = `${Text.plural(count, "difference")} in ${Text.plural(compared, "behaviour")}, after ${
      Text.plural(service.requests, "request")
    } to the service`
    const end = Conformance.earlyEnd(service)
    yield* Console.log(end === "" ? summary : `${summary}; ${end}`)
    if (count > 0 || end !== "") {
      return yield* new Differs({ message: `idv-mock diff: ${end === "" ? summary : end}` })
    }
  }).pipe(Effect.scoped, Effect.provide(HttpClients.layer))
