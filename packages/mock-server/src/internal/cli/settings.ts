/** The settings of `serve`, from flags and from a file. Both have the same schema. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Secrets from "@effect-idv/cli/secrets"
import * as Text from "@effect-idv/cli/textField"
import * as UsageError from "@effect-idv/cli/usageError"
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
import * as TestPerson from "../../TestPerson.ts"
import { PositiveWaitText, WaitText } from "../schema/durationText.ts"
import * as Fields from "../schema/fields.ts"
import * as KnownFields from "../schema/knownFields.ts"
import { numberOrText } from "../schema/numberOrText.ts"
import { expected as expectedOnce, repeatedIndexes, uniqueBy } from "../schema/uniqueIds.ts"
import * as ConfigFile from "./configFile.ts"
import * as RecordedProfile from "./recordedProfile.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const flag = optional(Schema.Boolean.annotations(Violation.expecting("true or false")))

const Customer = Schema.Struct({ customerId: NewSession.fields.customerId, customerKey: Secrets.Key }).annotations({
  ...Fields.closed,
  description: "an object with customerId and customerKey"
})

/** Unknown fields are an error. */
export const Settings = Schema.Struct({
  host: optional(Text.matching(/^[\w.:-]{1,253}$/, "an address or a name of this machine")),
  port: optional(Fields.wholeNumber(0, 65_535)),
  portFile: optional(Text.Path),
  log: optional(Fields.oneOf("none", "json", "pretty")),
  controlToken: optional(Secrets.Token),
  allowedHosts: optional(
    Schema.Array(
      Schema.compose(Text.matching(/^[\w.-]{1,253}$/, "a host name without a port"), Schema.Lowercase)
    ).annotations(Violation.expecting("a list of host names"))
  ),
  seed: optional(Fields.wholeNumber(0, 2 ** 32 - 1)),
  profile: optional(Profile.Patch),
  faults: optional(uniqueBy(Schema.Array(Fault.Fault).annotations(Violation.expecting("a list of faults")), "id")),
  testPersons: optional(TestPerson.CustomList),
  customers: optional(
    uniqueBy(Schema.Array(Customer).annotations(Violation.expecting("a list of customers")), "customerId")
  ),
  tls: optional(Fields.oneOf("self-signed")),
  tlsCa: optional(Text.Path),
  tlsCert: optional(Text.Path),
  tlsKey: optional(Text.Path),
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
  tlsCa: "tls-ca",
  tlsCert: "tls-cert",
  tlsKey: "tls-key",
  gracePeriod: "grace-period",
  requestTimeout: "request-timeout"
}

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

const parseCustomer = (text: string) => {
  const [customerId, customerKey] = splitAt(text, ":")
  return { customerId, customerKey }
}

const parseProfilePatch = (texts: ReadonlyArray<string>): Either.Either<unknown, UsageError.UsageError> => {
  const selections = texts.map((text) => text.includes("=") ? splitAt(text, "=") : ["preset", text] as const)
  return new Set(selections.map(([option]) => option)).size === selections.length
    ? Either.right(Object.fromEntries(selections))
    : Either.left(new UsageError.UsageError({ text: "--profile: expected at most one preset, and each option once" }))
}

/**
 * Decodes faults, each in its one-line form or as a JSON object. `name` is their flag or argument. If there are several
 * faults, the errors contain their indexes.
 */
export const faults = (
  texts: ReadonlyArray<string>,
  name: string
): Either.Either<ReadonlyArray<Fault.Fault>, UsageError.UsageError> => {
  const nameOf = (index: number) => texts.length < 2 ? name : `${name}[${index}]`
  const invalid = (index: number) =>
    UsageError.fromViolations((field) => field === "" ? nameOf(index) : `${nameOf(index)}: ${field}`)
  return Either.gen(function*() {
    const all = yield* Either.all(
      texts.map((text, index) => Either.mapLeft(Fault.fromText(text), ({ violations }) => invalid(index)(violations)))
    )
    const [duplicate] = repeatedIndexes(all.map(({ id }) => id))
    return duplicate === undefined
      ? all
      : yield* Either.left(
        invalid(duplicate)([new Violation.Violation({ path: "id", problem: "invalid", expected: expectedOnce })])
      )
  })
}

const fromFlags = (args: ParsedArguments.ParsedArguments): Either.Either<Settings, UsageError.UsageError> =>
  Either.gen(function*() {
    const { field, isOn, values } = ParsedArguments
    const hosts = values(args, "allowed-host")
    const variants = values(args, "profile").filter((text) => !RecordedProfile.isFile(text))
    const profile = yield* parseProfilePatch(variants)
    const customers = values(args, "customer")
    const settings = yield* Either.mapLeft(
      decode({
        ...field(args, "host"),
        ...field(args, "port", numberOrText),
        ...field(args, "port-file", String, "portFile"),
        ...field(args, "log"),
        ...(hosts.length > 0 && { allowedHosts: hosts }),
        ...field(args, "seed", numberOrText),
        ...(variants.length > 0 && { profile }),
        ...(customers.length > 0 && { customers: customers.map(parseCustomer) }),
        ...field(args, "tls"),
        ...field(args, "tls-ca", String, "tlsCa"),
        ...field(args, "tls-cert", String, "tlsCert"),
        ...field(args, "tls-key", String, "tlsKey"),
        ...field(args, "grace-period", numberOrText, "gracePeriod"),
        ...field(args, "request-timeout", numberOrText, "requestTimeout"),
        ...(isOn(args, "reveal") && { reveal: true }),
        ...(isOn(args, "force") && { force: true })
      }),
      UsageError.fromFlagViolations(args, flagOf)
    )
    const injectedFaults = yield* faults(values(args, "fault"), "--fault")
    return injectedFaults.length === 0 ? settings : { ...settings, faults: injectedFaults }
  })

/** Rejects a customer that is both in a flag and in the file, because the flag would replace the key in the file. */
const checkCustomers = (
  args: ParsedArguments.ParsedArguments,
  { customers: flagCustomers = [] }: Settings,
  { customers: fileCustomers = [] }: Settings
): Either.Either<void, UsageError.UsageError> => {
  const duplicate = flagCustomers.findIndex(({ customerId }) =>
    fileCustomers.some((customer) => customer.customerId === customerId)
  )
  return duplicate === -1 ? Either.void : Either.left(
    UsageError.fromFlagViolations(args, flagOf)([
      new Violation.Violation({
        path: `customers.${duplicate}.customerId`,
        problem: "invalid",
        expected: "an id that no customer in the file of --config has"
      })
    ])
  )
}

/** A flag takes precedence over a variable, and a variable over the file. */
export const read = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    const flags = yield* fromFlags(args)
    const path = ParsedArguments.value(args, "config")
    const file = path === undefined ?
      {} :
      yield* ConfigFile.read(path, (json) => Either.mapLeft(decode(json), ConfigFile.invalid))
    yield* checkCustomers(args, flags, file)
    const token = (yield* Secrets.controlToken(args)) ?? file.controlToken
    const settings = { ...file, ...flags, ...(token && { controlToken: token }) } satisfies Settings
    const recorded = yield* RecordedProfile.read(args)
    return recorded === undefined ? settings : {
      ...settings,
      profile: { ...settings.profile, ...recorded.profile, ...flags.profile },
      faults: [...recorded.faults, ...settings.faults ?? []]
    }
  })

/** Puts the demo customer first, with the key of `customers` if it is one of them. */
const customersOf = (customers: ReadonlyArray<Session.Customer>): Arr.NonEmptyReadonlyArray<Session.Customer> => {
  const isDemo = ({ customerId }: Session.Customer) => customerId === Session.demoCustomer.customerId
  return [customers.find(isDemo) ?? Session.demoCustomer, ...customers.filter((customer) => !isDemo(customer))]
}

/** Node accepts only whole milliseconds. */
const toWholeMillis = (duration: Duration.Duration) => Duration.millis(Math.ceil(Duration.toMillis(duration)))

/** The options of the server layer. */
export const options = (
  { customers = [], profile, requestTimeout, ...settings }: Settings
): MockServer.Options => ({
  ...Struct.omit(settings, "log", "portFile", "tls", "tlsCa", "tlsCert", "tlsKey"),
  ...(requestTimeout && { requestTimeout: toWholeMillis(requestTimeout) }),
  customers: customersOf(customers),
  ...(profile && { profile: Profile.apply(Profile.defaultProfile, profile) })
})
