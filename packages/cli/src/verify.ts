/** `verify`: checks whether a server follows the reference contract. */
import * as Conformance from "@effect-idv/contract/Conformance"
import type * as Contract from "@effect-idv/contract/Contract"
import * as Violation from "@effect-idv/core/Violation"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as ClaimsFile from "./claimsFile.ts"
import * as FlagValues from "./flagValues.ts"
import * as HttpClients from "./httpClient.ts"
import * as OutputFile from "./outputFile.ts"
import * as ParsedArguments from "./parsedArguments.ts"
import * as Progress from "./progress.ts"
import * as TestPersons from "./testPersons.ts"
import * as Text from "./textField.ts"
import * as UsageError from "./usageError.ts"

/** How the command was called. */
export interface Invoked {
  /** The command with its program, such as `idv-mock verify`, for its errors. */
  readonly name: string
  /** The command that prints the cases. */
  readonly claims: string
  /** The version of the program, for the report. */
  readonly version: string
}

/** The run has alarms. The report lists them. */
export class NotConforming extends Schema.TaggedError<NotConforming>("@effect-idv/cli/NotConforming")(
  "NotConforming",
  { text: Schema.String }
) {
  override get message() {
    return this.text
  }
}

/** The run tested nothing, because the target is not the service, or refuses the customer. */
export class NotTested extends Schema.TaggedError<NotTested>("@effect-idv/cli/NotTested")(
  "NotTested",
  { text: Schema.String }
) {
  readonly exitCode = 2
  override get message() {
    return this.text
  }
}

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** The flags of the command that are not secrets. */
const Flags = Schema.Struct({
  "target": optional(FlagValues.oneOf("mock", "sandbox")),
  "auth-url": optional(FlagValues.Address),
  "base-url": optional(FlagValues.Address),
  "control-url": optional(FlagValues.Address),
  "format": optional(FlagValues.oneOf("table", "json", "junit", "github")),
  "output": optional(Text.Path),
  "har": optional(Text.Path),
  "observations": optional(Text.Path),
  "budget": optional(FlagValues.wholeNumber(1, 10_000)),
  "spacing": optional(FlagValues.wait(0)),
  "deadline": optional(FlagValues.wait(1)),
  "fail-on": Schema.Array(FlagValues.oneOf("violated", "lenient", "drift"))
})

interface Flags extends Schema.Schema.Type<typeof Flags> {}

const refuse = (text: string) => new UsageError.UsageError({ text })

const CustomerId = Text.matching(/^[^\p{Cc}:]{1,256}$/u, "1 to 256 characters, none of them a colon or a control")

/**
 * Returns the customer id and key, or for a mock server possibly neither. The id and key in the variables are used for
 * a mock server only if its address also comes from a variable, because the variables of a shell belong to one service.
 */
const customerOf = (args: ParsedArguments.ParsedArguments, kind: Conformance.Kind, isFromVariables: boolean) =>
  Effect.gen(function*() {
    const isFlag =
      ParsedArguments.values(args, "customer-id").length + ParsedArguments.values(args, "customer-key").length > 0
    if (kind === "mock" && !isFlag && !isFromVariables) return {}
    const customerId = yield* ParsedArguments.flagOrVariable(args, "customer-id", "IDV_CUSTOMER_ID", CustomerId)
    const customerKey = yield* ParsedArguments.flagOrVariable(args, "customer-key", "IDV_CUSTOMER_KEY", FlagValues.Key)
    if (customerId === undefined && customerKey === undefined) {
      if (kind === "mock") return {}
      return yield* refuse(
        "--customer-id and --customer-key are missing: expected them, or IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY"
      )
    }
    if (customerId === undefined) return yield* refuse("--customer-id is missing: expected it, or IDV_CUSTOMER_ID")
    if (customerKey === undefined) return yield* refuse("--customer-key is missing: expected it, or IDV_CUSTOMER_KEY")
    return { customerId, customerKey }
  })

/** An address, and the flag or variable that has it. */
interface NamedAddress {
  readonly name: string
  readonly url: string
}

const toNamedAddress = (name: string, url: string | undefined): NamedAddress | undefined =>
  url === undefined ? url : { name, url }

const addressOfVariable = (name: string) =>
  Effect.flatMap(ParsedArguments.variable(name), (value) =>
    value === undefined
      ? Effect.succeed(undefined)
      : Effect.mapBoth(Violation.decodeUnknown(FlagValues.Address)(value), {
        onFailure: UsageError.fromViolations(() => name),
        onSuccess: (url) => toNamedAddress(name, url)
      }))

const localAddress = "http://127.0.0.1:4010"

/**
 * Returns the addresses. Both come from flags or both from variables, because otherwise the token of one server could
 * be sent to another.
 */
const addressesOf = (flags: Flags, kind: Conformance.Kind) =>
  Effect.gen(function*() {
    const isFlag = flags["auth-url"] !== undefined || flags["base-url"] !== undefined
    const auth = isFlag ? toNamedAddress("--auth-url", flags["auth-url"]) : yield* addressOfVariable("IDV_AUTH_URL")
    const base = isFlag ? toNamedAddress("--base-url", flags["base-url"]) : yield* addressOfVariable("IDV_BASE_URL")
    const commonAddress = auth ?? base ?? (kind === "mock" ? toNamedAddress("--auth-url", localAddress) : undefined)
    if (commonAddress === undefined) return yield* refuse("--auth-url is missing: expected it, or IDV_AUTH_URL")
    const isFromVariables = !isFlag && (auth !== undefined || base !== undefined)
    return { auth: auth ?? commonAddress, base: base ?? commonAddress, isFromVariables }
  })

const checkSecure = (args: ParsedArguments.ParsedArguments, address: NamedAddress | undefined) =>
  address !== undefined && FlagValues.isUnencrypted(address.url) && !ParsedArguments.isOn(args, "allow-insecure")
    ? refuse(
      `${address.name} is invalid: expected an https: address. Plain http: needs a loopback address, or --allow-insecure`
    )
    : Effect.void

/** Flags that have no effect on a mock server, each with the reason. With a mock server they are an error. */
const sandboxFlags: Readonly<Record<string, string>> = {
  "budget": "requests to a mock server are not limited",
  "spacing": "requests to a mock server are not limited",
  "wait-for-expiry": "the run moves the clock of a mock server",
  "wrong-keys": "a mock server always receives wrong keys",
  "person": "a mock server finds a person by the last word of the name",
  "persons": "a mock server finds a person by the last word of the name",
  "dry-run": "requests to a mock server cost nothing"
}

/** The longest wait of `--wait-for-expiry`: long enough for the case that checks whether a token expires. */
const longestWait = "61 minutes"

const targetOf = (args: ParsedArguments.ParsedArguments, flags: Flags) =>
  Effect.gen(function*() {
    const { budget, deadline, spacing, target: kind = "mock" } = flags
    for (const [flag, reason] of Object.entries(sandboxFlags)) {
      if (kind === "mock" && ParsedArguments.isOn(args, flag)) {
        return yield* refuse(`--${flag} requires --target sandbox: ${reason}`)
      }
    }
    const { auth, base, isFromVariables } = yield* addressesOf(flags, kind)
    const controlUrl = flags["control-url"]?.replace(/\/*(_mock\/*)?$/, "")
    for (const address of [auth, base, toNamedAddress("--control-url", controlUrl)]) yield* checkSecure(args, address)
    const customer = yield* customerOf(args, kind, isFromVariables)
    const controlToken = yield* ParsedArguments.controlToken(args)
    const persons = yield* TestPersons.read(args)
    if (budget !== undefined && budget < Conformance.smallestBudget) {
      return yield* refuse(
        `--budget ${budget} allows no check: the smallest useful budget is ${Conformance.smallestBudget}, ` +
          "because a fifth of the requests may be checks"
      )
    }
    const target: Conformance.Target = {
      kind,
      authUrl: auth.url,
      baseUrl: base.url,
      ...customer,
      controlUrl,
      controlToken,
      persons,
      budget,
      deadline,
      spacing,
      ...(ParsedArguments.isOn(args, "wait-for-expiry") &&
        { clock: (millis) => Effect.sleep(millis), clockLimit: longestWait }),
      wrongKeys: ParsedArguments.isOn(args, "wrong-keys")
    }
    return target
  })

/** The cases of `--case`, or all. */
const casesOf = (args: ParsedArguments.ParsedArguments, claimsCommand: string) => {
  const ids = ParsedArguments.values(args, "case")
  const unknown = ids.find((id) => Conformance.cases.every((testCase) => testCase.id !== id))
  if (unknown !== undefined) {
    return refuse(`--case ${Text.printable(unknown)}: there is no such case; ${claimsCommand} prints them`)
  }
  return Effect.succeed(Conformance.cases.filter(({ id }) => ids.length === 0 || ids.includes(id)))
}

/**
 * Returns the contract with only the claims of these cases. Otherwise the other claims would cause alarms, because no
 * case tests them.
 */
const claimsOf = (contract: Contract.Contract, cases: ReadonlyArray<Conformance.Case>): Contract.Contract => {
  if (cases.length === Conformance.cases.length) return contract
  const selectedClaims = contract.claims.filter(({ id }) => cases.some(({ claim }) => claim === id))
  return Arr.isNonEmptyReadonlyArray(selectedClaims) ? { ...contract, claims: selectedClaims } : contract
}

/**
 * The verdicts on which the command fails: those of `--fail-on`, otherwise the defaults of the kind of target.
 * `--strict` adds `lenient`.
 */
const failOnOf = (args: ParsedArguments.ParsedArguments, flags: Flags, kind: Conformance.Kind) => {
  const failOn: ReadonlyArray<Conformance.Verdict> = flags["fail-on"].length > 0
    ? flags["fail-on"]
    : Conformance.defaultFailOn[kind]
  return ParsedArguments.isOn(args, "strict") ? Arr.dedupe([...failOn, "lenient" as const]) : failOn
}

const reports = {
  table: Conformance.toTable,
  json: Conformance.toJson,
  junit: Conformance.toJunit,
  github: Conformance.toGithub
}

/** Names the alarms. A claim that the run did not test is an alarm that says nothing about the target. */
const describeAlarms = ({ alarms, unexecuted }: Conformance.Report): string => {
  const untested = alarms.filter((alarm) => unexecuted.includes(alarm)).length
  if (untested === 0) return Text.plural(alarms.length, "alarm")
  const claims = `the run did not test ${Text.plural(unexecuted.length, "documented claim")}`
  return untested === alarms.length ? claims : `${Text.plural(alarms.length - untested, "alarm")}, and ${claims}`
}

/** Prints how many requests an interrupted run has sent, because they may be billed. */
const reportInterruption = (name: string, requestCount: HttpClients.RequestCount) =>
  Effect.suspend(() => {
    const requests = Text.plural(requestCount.requests(), "request")
    return Console.error(`${name}: interrupted after ${requests}; nothing was written`)
  })

export const verify = (args: ParsedArguments.ParsedArguments, { claims, name, version }: Invoked) =>
  Effect.gen(function*() {
    const flags = yield* ParsedArguments.read(args, Flags)
    const { format = "table", har, observations, output } = flags
    const target = yield* targetOf(args, flags)
    const cases = yield* casesOf(args, claims)
    const { contract: all, sha256 } = yield* ClaimsFile.read(args)
    const contract = claimsOf(all, cases)
    const failOn = failOnOf(args, flags, target.kind)
    // The files are checked before the first request, because a service may bill checks whose report would be lost.
    if (output !== undefined) yield* OutputFile.check("output", output)
    if (har !== undefined) yield* OutputFile.checkNew("har", har)
    if (observations !== undefined) yield* OutputFile.checkNew("observations", observations)

    const plan = Conformance.plan(target, cases.filter(Conformance.hasClaimOf(contract)))
    const isDryRun = ParsedArguments.isOn(args, "dry-run")
    if (target.kind === "sandbox") {
      const text = Conformance.planText(plan, target, contract)
      yield* isDryRun ? Console.log(text) : Console.error(text)
    }
    if (isDryRun) return

    const progress = yield* Progress.make(
      process.stderr,
      target.kind === "sandbox" ? plan.cost.requests : cases.length,
      target.kind === "sandbox" ? "requests" : "cases"
    )
    const requestCount = HttpClients.countRequests(
      yield* HttpClient.HttpClient,
      target.kind === "sandbox" ? progress.advance : Effect.void
    )
    const startedAt = yield* DateTime.now
    const exchanges = yield* Ref.make(Chunk.empty<Conformance.MaskedExchange>())
    const report = yield* Conformance.verify(target, contract, {
      cases,
      failOn,
      onObservation: () => target.kind === "sandbox" ? Effect.void : progress.advance,
      ...(har !== undefined && { onExchange: (exchange) => Ref.update(exchanges, Chunk.append(exchange)) })
    }).pipe(
      Effect.ensuring(progress.clear),
      Effect.catchTag("NotAMockServer", ({ message }) => new NotTested({ text: message })),
      Effect.provideService(HttpClient.HttpClient, requestCount.client),
      Effect.onInterrupt(() => reportInterruption(name, requestCount))
    )
    const runInfo: Conformance.RunInfo = {
      ...target,
      startedAt,
      version,
      claimsSha256: sha256,
      checks: requestCount.checks()
    }
    const text = reports[format](report, contract, runInfo)
    if (output === undefined) yield* Console.log(text)
    else {
      yield* OutputFile.write("output", output, text)
      yield* Console.log(Conformance.verdict(report, runInfo))
    }
    if (har !== undefined) {
      yield* OutputFile.write("har", har, Conformance.toHar(Chunk.toReadonlyArray(yield* Ref.get(exchanges)), runInfo))
    }
    if (observations !== undefined) {
      yield* Conformance.hasObservations(report)
        ? OutputFile.write("observations", observations, yield* Conformance.toObservations(report, contract))
        : Console.error(`${name}: nothing was observed, so ${Text.printable(observations)} is not written`)
      if (report.results.some(({ verdict }) => verdict === "violated")) {
        yield* Console.error(
          `${name}: the target violates the contract, and the observations show that: store them again after a fix`
        )
      }
    }
    if (!Conformance.isTested(report)) {
      return yield* new NotTested({ text: `${name}: the target was not tested` })
    }
    if (report.alarms.length > 0) return yield* new NotConforming({ text: `${name}: ${describeAlarms(report)}` })
  }).pipe(Effect.provide(HttpClients.layer))
