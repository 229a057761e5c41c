/** `idv-mock verify`: checks whether a server follows the reference contract. */
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
import { PositiveWaitText, WaitText } from "../schema/durationText.ts"
import * as Fields from "../schema/fields.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import { Address, isInTheClear } from "./address.ts"
import * as EvidenceFile from "./evidenceFile.ts"
import * as KeptConnections from "./keptConnections.ts"
import * as OutputFile from "./outputFile.ts"
import * as Given from "./parsedArguments.ts"
import * as Progress from "./progress.ts"
import * as Counting from "./requestCount.ts"
import * as Secrets from "./secrets.ts"
import * as Text from "./textField.ts"
import * as Refusal from "./usageError.ts"

/** The target does not conform. The report lists the alarms. */
export class NotConforming extends Schema.TaggedError<NotConforming>(
  "@effect-idv/mock-server/internal/NotConforming"
)("NotConforming", { alarms: Schema.Number }) {
  override get message() {
    return `idv-mock verify: ${this.alarms} alarm${this.alarms === 1 ? "" : "s"}`
  }
}

/** The run tested nothing, because the target is not the service, or refuses the customer. */
export class NotTested extends Schema.TaggedError<NotTested>("@effect-idv/mock-server/internal/NotTested")(
  "NotTested",
  { text: Schema.String }
) {
  readonly exitCode = 2
  override get message() {
    return this.text
  }
}

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** The flags of the command that are no secrets. */
const Flags = Schema.Struct({
  "target": optional(Fields.oneOf("mock", "sandbox")),
  "auth-url": optional(Address),
  "base-url": optional(Address),
  "control-url": optional(Address),
  "format": optional(Fields.oneOf("table", "json", "junit", "github")),
  "output": optional(Text.Path),
  "har": optional(Text.Path),
  "observations": optional(Text.Path),
  "budget": optional(Fields.whole(1, 10_000)),
  "spacing": optional(WaitText),
  "deadline": optional(PositiveWaitText),
  "fail-on": Schema.Array(Fields.oneOf("violated", "lenient", "drift"))
})

interface Flags extends Schema.Schema.Type<typeof Flags> {}

const numbers = ["budget", "spacing", "deadline"]

const flagsOf = (given: Given.ParsedArguments) =>
  Effect.mapError(
    Violation.decodeUnknown(Flags)(Object.assign(
      {},
      ...Object.keys(Flags.fields).map((name) =>
        name === "fail-on"
          ? { [name]: Given.values(given, name) }
          : Given.field(given, name, numbers.includes(name) ? numberOrText : undefined)
      )
    )),
    Refusal.fromFlagViolations(given)
  )

const refuse = (text: string) => new Refusal.UsageError({ text })

const CustomerId = Text.matching(/^[^\p{Cc}:]{1,256}$/u, "1 to 256 characters, none of them a colon or a control")

/**
 * The customer id and key: both, or for a mock server none. A mock server receives those of the variables only
 * if its address also comes from a variable, because the variables of a shell belong to one service.
 */
const customerOf = (given: Given.ParsedArguments, kind: Conformance.Kind, isOfVariables: boolean) =>
  Effect.gen(function*() {
    const isFlag = Given.values(given, "customer-id").length + Given.values(given, "customer-key").length > 0
    if (kind === "mock" && !isFlag && !isOfVariables) return {}
    const customerId = yield* Secrets.flagOrVariable(given, "customer-id", "IDV_CUSTOMER_ID", CustomerId)
    const customerKey = yield* Secrets.flagOrVariable(given, "customer-key", "IDV_CUSTOMER_KEY", Secrets.Key)
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
interface Named {
  readonly name: string
  readonly url: string
}

const named = (name: string, url: string | undefined): Named | undefined => url === undefined ? url : { name, url }

const ofVariable = (name: string) =>
  Effect.flatMap(Secrets.variable(name), (value) =>
    value === undefined
      ? Effect.succeed(undefined)
      : Effect.mapBoth(Violation.decodeUnknown(Address)(value), {
        onFailure: Refusal.fromViolations(() => name),
        onSuccess: (url) => named(name, url)
      }))

const local = "http://127.0.0.1:4010"

/**
 * The addresses come from flags or from variables, never one from each: the token of one server would be sent to
 * another.
 */
const addressesOf = (flags: Flags, kind: Conformance.Kind) =>
  Effect.gen(function*() {
    const isFlag = flags["auth-url"] !== undefined || flags["base-url"] !== undefined
    const auth = isFlag ? named("--auth-url", flags["auth-url"]) : yield* ofVariable("IDV_AUTH_URL")
    const base = isFlag ? named("--base-url", flags["base-url"]) : yield* ofVariable("IDV_BASE_URL")
    const both = auth ?? base ?? (kind === "mock" ? named("--auth-url", local) : undefined)
    if (both === undefined) return yield* refuse("--auth-url is missing: expected it, or IDV_AUTH_URL")
    const isOfVariables = !isFlag && (auth !== undefined || base !== undefined)
    return { auth: auth ?? both, base: base ?? both, isOfVariables }
  })

const secure = (given: Given.ParsedArguments, address: Named | undefined) =>
  address !== undefined && isInTheClear(address.url) && !Given.isOn(given, "allow-insecure")
    ? refuse(`${address.name} is invalid: expected an https: address, or --allow-insecure: http: is for loopback`)
    : Effect.void

/** Flags that have no effect on a mock server, and so are refused, with the reason. */
const sandboxFlags: Readonly<Record<string, string>> = {
  "budget": "requests to a mock server are not limited",
  "spacing": "requests to a mock server are not limited",
  "wait-for-expiry": "the run moves the clock of a mock server",
  "wrong-keys": "a mock server always receives wrong keys"
}

/** How far `--wait-for-expiry` moves the clock: enough for the one case that tells whether a token ends. */
const longestWait = "61 minutes"

const targetOf = (given: Given.ParsedArguments, flags: Flags) =>
  Effect.gen(function*() {
    const { budget, deadline, spacing, target: kind = "mock" } = flags
    for (const [flag, reason] of Object.entries(sandboxFlags)) {
      if (kind === "mock" && Given.isOn(given, flag)) {
        return yield* refuse(`--${flag} requires --target sandbox: ${reason}`)
      }
    }
    const { auth, base, isOfVariables } = yield* addressesOf(flags, kind)
    const controlUrl = flags["control-url"]?.replace(/\/*(_mock\/*)?$/, "")
    for (const address of [auth, base, named("--control-url", controlUrl)]) yield* secure(given, address)
    const customer = yield* customerOf(given, kind, isOfVariables)
    const controlToken = yield* Secrets.controlToken(given)
    const target: Conformance.Target = {
      kind,
      authUrl: auth.url,
      baseUrl: base.url,
      ...customer,
      controlUrl,
      controlToken,
      budget,
      deadline,
      spacing,
      ...(Given.isOn(given, "wait-for-expiry") && { clock: (millis) => Effect.sleep(millis), clockLimit: longestWait }),
      wrongKeys: Given.isOn(given, "wrong-keys")
    }
    return target
  })

/** The cases of `--case`, or all. */
const casesOf = (given: Given.ParsedArguments) => {
  const ids = Given.values(given, "case")
  const unknown = ids.find((id) => Conformance.cases.every((testCase) => testCase.id !== id))
  if (unknown !== undefined) {
    return refuse(`--case ${Text.printable(unknown)}: there is no such case; idv-mock contract prints them`)
  }
  return Effect.succeed(Conformance.cases.filter(({ id }) => ids.length === 0 || ids.includes(id)))
}

/** The claims of these cases, so that no alarm misses the others. */
const claimsOf = (evidence: Contract.Evidence, cases: ReadonlyArray<Conformance.Case>): Contract.Evidence => {
  if (cases.length === Conformance.cases.length) return evidence
  const own = evidence.claims.filter(({ id }) => cases.some(({ claim }) => claim === id))
  return Arr.isNonEmptyReadonlyArray(own) ? { ...evidence, claims: own } : evidence
}

/** The verdicts of `--fail-on` and `--strict`, or those of the kind. */
const failOnOf = (given: Given.ParsedArguments, flags: Flags, kind: Conformance.Kind) => {
  const failOn: ReadonlyArray<Conformance.Verdict> = flags["fail-on"].length > 0
    ? flags["fail-on"]
    : Conformance.defaultFailOn[kind]
  return Given.isOn(given, "strict") ? Arr.dedupe([...failOn, "lenient" as const]) : failOn
}

const reports = {
  table: Conformance.toTable,
  json: Conformance.toJson,
  junit: Conformance.toJunit,
  github: Conformance.toGithub
}

/** Prints how many requests an interrupted run has sent, because they may be billed. */
const reportInterruption = (requestCount: Counting.Counted) =>
  Effect.suspend(() => {
    const requests = requestCount.requests()
    return Console.error(
      `idv-mock verify: interrupted after ${requests} request${requests === 1 ? "" : "s"}; nothing was written`
    )
  })

export const verify = (given: Given.ParsedArguments, version: string) =>
  Effect.gen(function*() {
    const flags = yield* flagsOf(given)
    const { format = "table", har, observations, output } = flags
    const target = yield* targetOf(given, flags)
    const cases = yield* casesOf(given)
    const { evidence: all, sha256 } = yield* EvidenceFile.read(given)
    const evidence = claimsOf(all, cases)
    const failOn = failOnOf(given, flags, target.kind)
    // A service may bill the checks, so the files are tested before the first request.
    if (output !== undefined) yield* OutputFile.check("output", output)
    if (har !== undefined) yield* OutputFile.check("har", har)
    if (observations !== undefined) yield* OutputFile.checkNew("observations", observations)

    const requestCount = Counting.make(yield* HttpClient.HttpClient)
    const startedAt = yield* DateTime.now
    const progress = yield* Progress.make(process.stderr, cases.length, "cases")
    const exchanges = yield* Ref.make(Chunk.empty<Conformance.MaskedExchange>())
    const report = yield* Conformance.verify(target, evidence, {
      cases,
      failOn,
      onObservation: () => progress.advance,
      ...(har !== undefined && { onExchange: (exchange) => Ref.update(exchanges, Chunk.append(exchange)) })
    }).pipe(
      Effect.ensuring(progress.clear),
      Effect.catchTag("NotAMockServer", ({ message }) => new NotTested({ text: message })),
      Effect.provideService(HttpClient.HttpClient, requestCount.client),
      Effect.onInterrupt(() => reportInterruption(requestCount))
    )
    const runInfo: Conformance.RunInfo = {
      ...target,
      startedAt,
      version,
      evidenceSha256: sha256,
      checks: requestCount.checks()
    }
    const text = reports[format](report, evidence, runInfo)
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
        ? OutputFile.write("observations", observations, yield* Conformance.toObservations(report, evidence))
        : Console.error(`idv-mock verify: nothing was observed, so ${Text.printable(observations)} is not written`)
    }
    if (!Conformance.isTested(report)) {
      return yield* new NotTested({ text: "idv-mock verify: the target was not tested" })
    }
    if (report.alarms.length > 0) return yield* new NotConforming({ alarms: report.alarms.length })
  }).pipe(Effect.provide(KeptConnections.layer))
