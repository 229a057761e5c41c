/** What `serve` does, from the flags and from a file: one schema for both. */
import * as Violation from "@effect-idv/core/Violation"
import type * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { NewSession } from "../../ControlApi.ts"
import * as Fault from "../../Fault.ts"
import type * as MockServer from "../../MockServer.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import { PositiveWaitText, WaitText } from "../schema/durationText.ts"
import * as Fields from "../schema/fields.ts"
import * as KnownFields from "../schema/knownFields.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import { expected as expectedOnce, repeated, uniqueBy } from "../schema/uniqueIds.ts"
import * as ConfigFile from "./configFile.ts"
import * as Given from "./parsedArguments.ts"
import * as Secrets from "./secrets.ts"
import * as Text from "./textField.ts"
import * as Refusal from "./usageError.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const flag = optional(Schema.Boolean.annotations(Violation.expecting("true or false")))

const Customer = Schema.Struct({ customerId: NewSession.fields.customerId, customerKey: Secrets.Key }).annotations({
  ...Fields.closed,
  description: "an object with customerId and customerKey"
})

/** Every option is absent or has a value; another field is an error. */
export const Settings = Schema.Struct({
  host: optional(Text.matching(/^[\w.:-]{1,253}$/, "an address of this machine, or a name of it")),
  port: optional(Fields.whole(0, 65_535)),
  portFile: optional(Text.Path),
  logs: optional(Fields.oneOf("none", "json", "pretty")),
  controlToken: optional(Secrets.Token),
  allowedHosts: optional(
    Schema.Array(
      Schema.compose(Text.matching(/^[\w.-]{1,253}$/, "the name of a host, without its port"), Schema.Lowercase)
    ).annotations(Violation.expecting("a list of names of hosts"))
  ),
  seed: optional(Fields.whole(0, 2 ** 32 - 1)),
  profile: optional(Profile.Patch),
  faults: optional(uniqueBy(Schema.Array(Fault.Fault).annotations(Violation.expecting("a list of faults")), "id")),
  customers: optional(
    uniqueBy(Schema.Array(Customer).annotations(Violation.expecting("a list of customers")), "customerId")
  ),
  reveal: flag,
  gracePeriod: optional(WaitText),
  requestTimeout: optional(PositiveWaitText),
  force: flag
}).annotations({ ...Fields.closed, description: "an object of options" })

export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const decode = KnownFields.decodeUnknown(Settings)

const flagOf: Record<string, string> = {
  portFile: "port-file",
  allowedHosts: "allowed-host",
  customers: "customer",
  gracePeriod: "grace-period",
  requestTimeout: "request-timeout"
}

const both = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

const customer = (text: string) => {
  const [customerId, customerKey] = both(text, ":")
  return { customerId, customerKey }
}

const patch = (texts: ReadonlyArray<string>): Either.Either<unknown, Refusal.Refusal> => {
  const chosen = texts.map((text) => text.includes("=") ? both(text, "=") : ["preset", text] as const)
  return new Set(chosen.map(([option]) => option)).size === chosen.length
    ? Either.right(Object.fromEntries(chosen))
    : Either.left(new Refusal.Refusal({ text: "--profile: expected at most one preset, and each option once" }))
}

/**
 * Faults, each in one line or as an object of JSON. `name` is what one of them is on the command line;
 * of several, the index says which is wrong.
 */
export const faults = (
  texts: ReadonlyArray<string>,
  name: string
): Either.Either<ReadonlyArray<Fault.Fault>, Refusal.Refusal> => {
  const nameOf = (index: number) => texts.length < 2 ? name : `${name}[${index}]`
  const refused = (index: number) => Refusal.of((field) => field === "" ? nameOf(index) : `${nameOf(index)}: ${field}`)
  return Either.gen(function*() {
    const all = yield* Either.all(
      texts.map((text, index) => Either.mapLeft(Fault.fromText(text), ({ violations }) => refused(index)(violations)))
    )
    const [again] = repeated(all.map(({ id }) => id))
    return again === undefined
      ? all
      : yield* Either.left(
        refused(again)([new Violation.Violation({ path: "id", problem: "invalid", expected: expectedOnce })])
      )
  })
}

const fromFlags = (given: Given.Given): Either.Either<Settings, Refusal.Refusal> =>
  Either.gen(function*() {
    const { field, isOn, values } = Given
    const hosts = values(given, "allowed-host")
    const profile = yield* patch(values(given, "profile"))
    const customers = values(given, "customer")
    const settings = yield* Either.mapLeft(
      decode({
        ...field(given, "host"),
        ...field(given, "port", numberOrText),
        ...field(given, "port-file", String, "portFile"),
        ...field(given, "logs"),
        ...(hosts.length > 0 && { allowedHosts: hosts }),
        ...field(given, "seed", numberOrText),
        ...(values(given, "profile").length > 0 && { profile }),
        ...(customers.length > 0 && { customers: customers.map(customer) }),
        ...field(given, "grace-period", numberOrText, "gracePeriod"),
        ...field(given, "request-timeout", numberOrText, "requestTimeout"),
        ...(isOn(given, "reveal") && { reveal: true }),
        ...(isOn(given, "force") && { force: true })
      }),
      Refusal.ofFlags(given, flagOf)
    )
    const set = yield* faults(values(given, "fault"), "--fault")
    return set.length === 0 ? settings : { ...settings, faults: set }
  })

/** A customer of a flag would take the place of one of the file, and its key with it. */
const notOfBoth = (
  given: Given.Given,
  { customers: ofFlags = [] }: Settings,
  { customers: ofFile = [] }: Settings
): Either.Either<void, Refusal.Refusal> => {
  const again = ofFlags.findIndex(({ customerId }) => ofFile.some((customer) => customer.customerId === customerId))
  return again === -1 ? Either.void : Either.left(
    Refusal.ofFlags(given, flagOf)([
      new Violation.Violation({
        path: `customers.${again}.customerId`,
        problem: "invalid",
        expected: "an id that no customer in the file of --config has"
      })
    ])
  )
}

/** A flag takes the place of the same option in the variable, and that of the same in the file. */
export const read = (given: Given.Given) =>
  Effect.gen(function*() {
    const flags = yield* fromFlags(given)
    const path = Given.value(given, "config")
    const file = path === undefined ?
      {} :
      yield* ConfigFile.read(path, (json) => Either.mapLeft(decode(json), ConfigFile.refused))
    yield* notOfBoth(given, flags, file)
    const token = (yield* Secrets.controlToken(given)) ?? file.controlToken
    return { ...file, ...flags, ...(token && { controlToken: token }) } satisfies Settings
  })

/** The demo customer is there in any case, with another key if one is given. */
const customersOf = (customers: ReadonlyArray<Session.Customer>): Arr.NonEmptyReadonlyArray<Session.Customer> => {
  const isDemo = ({ customerId }: Session.Customer) => customerId === Session.demoCustomer.customerId
  return [customers.find(isDemo) ?? Session.demoCustomer, ...customers.filter((customer) => !isDemo(customer))]
}

/** Node takes whole milliseconds only. */
const whole = (duration: Duration.Duration) => Duration.millis(Math.ceil(Duration.toMillis(duration)))

/** What the layer of a server takes. */
export const options = (
  { customers = [], profile, requestTimeout, ...settings }: Settings
): MockServer.Options => ({
  ...Struct.omit(settings, "logs", "portFile"),
  ...(requestTimeout && { requestTimeout: whole(requestTimeout) }),
  customers: customersOf(customers),
  ...(profile && { profile: Profile.apply(Profile.defaultProfile, profile) })
})
