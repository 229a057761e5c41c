/** The settings of `serve`, from flags and from a file. Both have the same schema. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Secrets from "@effect-idv/cli/secrets"
import * as Text from "@effect-idv/cli/textField"
import { fromFlagViolations, fromViolations, UsageError } from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
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
import * as KnownFields from "../schema/knownFields.ts"
import { uniqueBy } from "../schema/uniqueIds.ts"
import * as OptionFlags from "./optionFlags.ts"
import * as RecordedProfile from "./recordedProfile.ts"

const maxBytes = 1_048_576

const fail = (problem: string) => new UsageError({ text: `--config: the file ${problem}` })

const reasons: Record<string, string> = {
  NotFound: "does not exist",
  PermissionDenied: "is not readable by this user"
}

const readError = (error: PlatformError) =>
  fail(error._tag === "SystemError" ? reasons[error.reason] ?? "cannot be read" : "cannot be read")

/** Violations of the file as a usage error. */
const invalidFile = fromViolations((field) => `--config: ${field === "" ? "the file" : field}`)

const readConfigFile = <A>(
  path: string,
  decode: (json: unknown) => Either.Either<A, UsageError>
): Effect.Effect<A, UsageError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { size, type } = yield* Effect.mapError(fs.stat(path), readError)
    if (type === "Directory") return yield* fail("is a directory: expected a JSON file")
    if (size > maxBytes) return yield* fail("is too large: expected at most 1 MiB")
    const bytes = yield* Effect.mapError(fs.readFile(path), readError)
    const json = yield* Effect.mapError(JsonText.parse(bytes), ({ violations }) => invalidFile(violations))
    return yield* decode(json)
  })

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
  ...SessionOptions.fields("input"),
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

/** The flags whose field has the same name in camelCase, by the form of their values. */
const flags = {
  text: ["host", "port-file", "log", "tls", "tls-ca", "tls-cert", "tls-key"],
  number: ["port", "grace-period", "request-timeout"],
  switch: ["reveal", "force"]
}

const fieldOf = (flag: string): string => flag.replaceAll(/-./g, (letter) => letter.slice(1).toUpperCase())

const flagOf: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(flags).flat().map((flag) => [fieldOf(flag), flag])),
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
    const { field, isOn, values } = ParsedArguments
    const hosts = values(args, "allowed-host")
    const customers = values(args, "customer")
    const options = yield* OptionFlags.parse(SessionOptions.all, args, (text) => !RecordedProfile.isFile(text))
    return yield* Either.mapLeft(
      decode({
        ...Object.assign({}, ...flags.text.map((flag) => field(args, flag, String, fieldOf(flag)))),
        ...Object.assign({}, ...flags.number.map((flag) => field(args, flag, Fields.numberOrText, fieldOf(flag)))),
        ...Object.fromEntries(flags.switch.filter((flag) => isOn(args, flag)).map((flag) => [flag, true])),
        ...(hosts.length > 0 && { allowedHosts: hosts }),
        ...options,
        ...(customers.length > 0 && { customers: customers.map(parseCustomer) })
      }),
      fromFlagViolations(args, flagOf)
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
    fromFlagViolations(args, flagOf)([
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
      yield* readConfigFile(path, (json) => Either.mapLeft(decode(json), invalidFile))
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
