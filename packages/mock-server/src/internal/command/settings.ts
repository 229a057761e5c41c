/** The settings of `serve`, from flags and from a file. Both have the same schema. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as InputFile from "@effect-idv/cli/inputFile"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Text from "@effect-idv/cli/textField"
import { fromViolations, type UsageError } from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import type * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import type * as MockServer from "../../MockServer.ts"
import * as Profile from "../../Profile.ts"
import * as Session from "../../Session.ts"
import * as SessionOptions from "../operations/sessionOptions.ts"
import { NewSession } from "../operations/sessions.ts"
import { PositiveWaitText, WaitText } from "../schema/durationText.ts"
import * as Fields from "../schema/fields.ts"
import * as JsonText from "../schema/jsonText.ts"
import { uniqueBy } from "../schema/uniqueIds.ts"
import * as Violations from "../schema/violations.ts"
import * as OptionFlags from "./optionFlags.ts"
import * as RecordedProfile from "./recordedProfile.ts"

/** Violations of the file as a usage error. */
const invalidFile = fromViolations((field) => `--config: ${field === "" ? "the file" : field}`)

const readConfigFile = (path: string) =>
  Effect.gen(function*() {
    const json = yield* Effect.mapError(
      JsonText.parse(yield* InputFile.read("config", path)),
      ({ violations }) => invalidFile(violations)
    )
    return yield* Either.mapLeft(decode(json), invalidFile)
  })

const flag = Fields.optional(Schema.Boolean.annotations(Violation.expecting("true or false")))

const Customer = Schema.Struct({ customerId: NewSession.fields.customerId, customerKey: FlagValues.Key }).annotations({
  ...Fields.closed,
  description: "an object with customerId and customerKey"
})

/** The options of a server, each of which has the flag of its name. */
const ServerOptions = Schema.Struct({
  host: Fields.optional(Text.matching(/^[\w.:-]{1,253}$/, "an address or a name of this machine")),
  port: Fields.optional(Fields.wholeNumber(0, 65_535)),
  portFile: Fields.optional(Text.Path),
  log: Fields.optional(Fields.oneOf("none", "json", "pretty")),
  controlToken: Fields.optional(FlagValues.Token),
  tls: Fields.optional(Fields.oneOf("self-signed")),
  tlsCa: Fields.optional(Text.Path),
  tlsCert: Fields.optional(Text.Path),
  tlsKey: Fields.optional(Text.Path),
  reveal: flag,
  gracePeriod: Fields.optional(WaitText),
  requestTimeout: Fields.optional(PositiveWaitText),
  force: flag
})

/** Unknown fields are an error. */
export const Settings = Schema.Struct({
  ...ServerOptions.fields,
  allowedHosts: Fields.optional(
    Schema.Array(
      Schema.compose(Text.matching(/^[\w.-]{1,253}$/, "a host name without a port"), Schema.Lowercase)
    ).annotations(Violation.expecting("a list of host names"))
  ),
  ...SessionOptions.fields("input"),
  customers: Fields.optional(
    uniqueBy(Schema.Array(Customer).annotations(Violation.expecting("a list of customers")), "customerId")
  )
}).annotations({ ...Fields.closed, description: "an object of options" })

export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const decode = Violations.decodeUnknown(Settings)

/** The flags whose name differs from their field's. */
const flagOf: Readonly<Record<string, string>> = {
  ...OptionFlags.names(SessionOptions.all),
  allowedHosts: "allowed-host",
  customers: "customer"
}

const parseCustomer = (text: string) => {
  const [customerId = "", ...rest] = text.split(":")
  return { customerId, customerKey: rest.join(":") }
}

const fromFlags = (args: ParsedArguments.ParsedArguments): Either.Either<Settings, UsageError> =>
  Either.gen(function*() {
    const hosts = ParsedArguments.values(args, "allowed-host")
    const customers = ParsedArguments.values(args, "customer")
    const options = yield* OptionFlags.parse(SessionOptions.all, args, (text) => !RecordedProfile.isFile(text))
    return yield* Either.mapLeft(
      decode({
        ...ParsedArguments.inputOf(args, ServerOptions, Fields.numberOrText),
        ...(hosts.length > 0 && { allowedHosts: hosts }),
        ...options,
        ...(customers.length > 0 && { customers: customers.map(parseCustomer) })
      }),
      ParsedArguments.fromFlagViolations(args, flagOf)
    )
  })

/** Rejects a customer that is both in a flag and in the file, because the flag would replace the key in the file. */
const checkCustomers = (
  args: ParsedArguments.ParsedArguments,
  { customers: flagCustomers = [] }: Settings,
  { customers: fileCustomers = [] }: Settings
): Either.Either<void, UsageError> => {
  const duplicate = flagCustomers.findIndex(({ customerId }) =>
    fileCustomers.some((customer) => customer.customerId === customerId)
  )
  return duplicate === -1 ? Either.void : Either.left(
    ParsedArguments.fromFlagViolations(args, flagOf)([
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
    const file = path === undefined ? {} : yield* readConfigFile(path)
    yield* checkCustomers(args, flags, file)
    const token = (yield* ParsedArguments.controlToken(args)) ?? file.controlToken
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
