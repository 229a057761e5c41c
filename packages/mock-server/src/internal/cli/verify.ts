/** `idv-mock verify`: whether a server does what the reference contract says. */
import * as Violation from "@effect-idv/core/Violation"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Conformance from "../../Conformance.ts"
import type * as Contract from "../../Contract.ts"
import { DurationText, PositiveDurationText } from "../durationText.ts"
import * as Fields from "../faultFields.ts"
import { Address, isInTheClear } from "./address.ts"
import * as EvidenceFile from "./evidenceFile.ts"
import * as Given from "./given.ts"
import * as OutputFile from "./outputFile.ts"
import * as Refusal from "./refusal.ts"
import * as Secrets from "./secrets.ts"
import * as Text from "./text.ts"

/** The target has alarms. The report says which. */
export class NotConforming extends Schema.TaggedError<NotConforming>(
  "@effect-idv/mock-server/internal/NotConforming"
)("NotConforming", { alarms: Schema.Number }) {
  override get message() {
    return `idv-mock verify: ${this.alarms} alarm${this.alarms === 1 ? "" : "s"}`
  }
}

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** In the names of the flags. */
const Flags = Schema.Struct({
  "target": optional(Fields.oneOf("mock", "sandbox")),
  "auth-url": optional(Address),
  "base-url": optional(Address),
  "control-url": optional(Address),
  "format": optional(Fields.oneOf("table", "json", "junit")),
  "output": optional(Text.Path),
  "observations": optional(Text.Path),
  "budget": optional(Fields.whole(1, 10_000)),
  "spacing": optional(DurationText),
  "deadline": optional(PositiveDurationText)
})

interface Flags extends Schema.Schema.Type<typeof Flags> {}

const numbers = ["budget", "spacing", "deadline"]

const flagsOf = (given: Given.Given) =>
  Effect.mapError(
    Violation.decodeUnknown(Flags)(Object.assign(
      {},
      ...Object.keys(Flags.fields).map((name) =>
        Given.field(given, name, numbers.includes(name) ? Given.numberOrText : undefined)
      )
    )),
    Refusal.of((flag) => `--${flag}`)
  )

const refuse = (text: string) => new Refusal.Refusal({ text })

const CustomerId = Text.matching(/^[^\p{Cc}:]{1,256}$/u, "1 to 256 characters, none of them a colon or a control")

/** Both or none; a service knows nobody else. */
const customerOf = (given: Given.Given, kind: Conformance.Kind) =>
  Effect.gen(function*() {
    const customerId = yield* Secrets.either(given, "customer-id", "IDV_CUSTOMER_ID", CustomerId)
    const customerKey = yield* Secrets.either(given, "customer-key", "IDV_CUSTOMER_KEY", Secrets.Key)
    if (customerId === undefined && customerKey === undefined && kind === "mock") return {}
    if (customerId === undefined) return yield* refuse("--customer-id is missing: expected it, or IDV_CUSTOMER_ID")
    if (customerKey === undefined) return yield* refuse("--customer-key is missing: expected it, or IDV_CUSTOMER_KEY")
    return { customerId, customerKey }
  })

const ofVariable = (name: string) =>
  Effect.flatMap(Secrets.variable(name), (value) =>
    value === undefined
      ? Effect.succeed(value)
      : Effect.mapError(Violation.decodeUnknown(Address)(value), Refusal.of(() => name)))

const local = "http://127.0.0.1:4010"

/**
 * An address of a flag is not mixed with one of a variable: the token of the one server would go to
 * the other.
 */
const addressesOf = ({ "auth-url": auth, "base-url": base }: Flags, kind: Conformance.Kind) =>
  Effect.gen(function*() {
    const isGiven = auth !== undefined || base !== undefined || kind === "mock"
    const authUrl = isGiven ? auth : yield* ofVariable("IDV_AUTH_URL")
    const baseUrl = isGiven ? base : yield* ofVariable("IDV_BASE_URL")
    const both = authUrl ?? baseUrl ?? (kind === "mock" ? local : undefined)
    if (both === undefined) return yield* refuse("--auth-url is missing: expected it, or IDV_AUTH_URL")
    return { authUrl: authUrl ?? both, baseUrl: baseUrl ?? both }
  })

const secure = (given: Given.Given, flag: string, address: string | undefined) =>
  address !== undefined && isInTheClear(address) && !Given.isOn(given, "allow-insecure")
    ? refuse(`--${flag} is invalid: expected an https: address, or --allow-insecure: http: is for loopback`)
    : Effect.void

const targetOf = (given: Given.Given, flags: Flags) =>
  Effect.gen(function*() {
    const { budget, deadline, spacing, target: kind = "mock" } = flags
    const { authUrl, baseUrl } = yield* addressesOf(flags, kind)
    const controlUrl = flags["control-url"]?.replace(/\/*(_mock\/*)?$/, "")
    yield* secure(given, "auth-url", authUrl)
    yield* secure(given, "base-url", baseUrl)
    yield* secure(given, "control-url", controlUrl)
    const customer = yield* customerOf(given, kind)
    const controlToken = yield* Secrets.controlToken(given)
    const target: Conformance.Target = {
      kind,
      authUrl,
      baseUrl,
      ...customer,
      controlUrl,
      controlToken,
      budget,
      deadline,
      spacing
    }
    return target
  })

const reportOf = (
  { format = "table" }: Flags,
  report: Conformance.Report,
  evidence: Contract.Evidence,
  target: Conformance.Target
): string => {
  switch (format) {
    case "table":
      return Conformance.toTable(report, evidence, target)
    case "json":
      return Conformance.toJson(report, evidence, target)
    case "junit":
      return Conformance.toJunit(report)
  }
}

export const verify = (given: Given.Given) =>
  Effect.gen(function*() {
    const flags = yield* flagsOf(given)
    const { observations, output } = flags
    const target = yield* targetOf(given, flags)
    const evidence = yield* EvidenceFile.read(given)
    // A service may bill what is asked for: so no report is lost for want of a directory.
    if (output !== undefined) yield* OutputFile.check("output", output)
    if (observations !== undefined) yield* OutputFile.check("observations", observations)

    const report = yield* Conformance.verify(target, evidence)
    const text = reportOf(flags, report, evidence, target)
    if (observations !== undefined) {
      yield* OutputFile.write("observations", observations, yield* Conformance.toObservations(report, evidence))
    }
    if (output === undefined) yield* Console.log(text)
    else {
      yield* OutputFile.write("output", output, text)
      yield* Console.log(Conformance.verdict(report, target))
    }
    if (report.alarms.length > 0) return yield* new NotConforming({ alarms: report.alarms.length })
  }).pipe(Effect.provide(NodeHttpClient.layerUndici))
