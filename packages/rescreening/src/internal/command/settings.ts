/** Decodes flags and variables. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Text from "@effect-idv/cli/textField"
import * as UsageError from "@effect-idv/cli/usageError"
import * as Idv from "@effect-idv/core/Idv"
import * as IdvHttp from "@effect-idv/core/IdvHttp"
import * as Violation from "@effect-idv/core/Violation"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as Ledger from "../../Ledger.ts"
import * as People from "../../People.ts"
import * as Run from "../../Run.ts"

const refuse = (text: string) => Effect.fail(new UsageError.UsageError({ text }))

const units: Readonly<Record<string, Duration.Unit>> = { d: "days", h: "hours", m: "minutes", s: "seconds" }

/** A duration as text: `30 seconds`, as Effect writes it, or `30s`. */
const duration = (expected: string, parse: (text: string) => Option.Option<Duration.Duration>) =>
  Schema.transformOrFail(Schema.String, Schema.DurationFromSelf, {
    strict: true,
    decode: (text, _, ast) =>
      Option.match(parse(text), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text)),
        onSome: (value) => ParseResult.succeed(value)
      }),
    encode: (value) => ParseResult.succeed(Duration.format(value))
  }).annotations(Violation.expecting(expected))

const Lease = duration("a duration from 1 second to 1 hour, such as \"30 seconds\" or 30s", (text) => {
  const [, amount, short = ""] = /^(\d{1,6})([dhms])$/.exec(text) ?? []
  const unit = units[short]
  return Duration.decodeUnknown(unit === undefined ? text : `${Number(amount)} ${unit}`).pipe(
    Option.filter(Duration.between({ minimum: "1 second", maximum: "1 hour" }))
  )
})

/** A shorter unit would erase too much: `12m` looks like twelve months. */
const Age = duration("a number of days or weeks, such as 400d or \"57 weeks\"", (text) => {
  const [, amount, week] = /^(\d{1,6}(?:\.\d{1,6})?)(?:d|\s+days?|\s+(week)s?)$/.exec(text) ?? []
  return amount === undefined
    ? Option.none()
    : Option.some(week === undefined ? Duration.days(Number(amount)) : Duration.weeks(Number(amount)))
})

const isPattern = (text: string) => Either.isRight(Either.try(() => new RegExp(text, "u")))
const Pattern = Schema.String.pipe(
  Schema.filter(isPattern),
  Schema.annotations(Violation.expecting("a regular expression"))
)

const ActorName = Text.matching(
  /^[^\p{Cc}\p{Bidi_Control}]{1,256}$/u,
  "1 to 256 characters, without control characters"
)

/** The days of a span in UTC, both inclusive, or its times. */
const Span = Schema.transformOrFail(
  Schema.String,
  Schema.Struct({ from: Schema.Number, to: Schema.Number }),
  {
    strict: true,
    decode: (text, _, ast) => {
      const [from = "", to = ""] = /^(\d{4}-[\d:TZ.-]{5,25})\.\.(\d{4}-[\d:TZ.-]{5,25})$/.exec(text)?.slice(1) ?? []
      const day = /^\d{4}-\d{2}-\d{2}$/
      const isTime = /Z$/
      const millis = (text: string) => day.test(text) || isTime.test(text) ? Date.parse(text) : NaN
      const span = { from: millis(from), to: millis(to) + (day.test(to) ? 86_400_000 - 1 : 0) }
      return span.from <= span.to
        ? ParseResult.succeed(span)
        : ParseResult.fail(new ParseResult.Type(ast, text))
    },
    encode: ({ from, to }) => ParseResult.succeed(`${new Date(from).toISOString()}..${new Date(to).toISOString()}`)
  }
).annotations(
  Violation.expecting(
    "two days or times in UTC, such as 2026-10-03..2026-10-05 or 2026-10-03T09:00:00Z..2026-10-03T10:00:00Z"
  )
)

const fields = {
  "run": Run.Id,
  "concurrency": FlagValues.wholeNumber(1, 1000),
  "lease": Lease,
  "rate": FlagValues.number(0.01, 100_000),
  "unknown": FlagValues.oneOf("review", "rescreen"),
  "stop-after": FlagValues.wholeNumber(1, 1_000_000),
  "max-checks": FlagValues.wholeNumber(1, 1_000_000_000),
  "evidence": FlagValues.oneOf("matches", "all", "none"),
  "valid": Age,
  "class": Run.Id,
  "from-sent": Span,
  "control": Text.Path,
  "control-every": FlagValues.wholeNumber(2, 1_000_000),
  "key-pattern": Pattern,
  "expect-at-least": FlagValues.wholeNumber(1, 100_000_000),
  "again": FlagValues.oneOf("not_screened", "unknown", "both"),
  "reviewer": ActorName,
  "older-than": Age,
  "within": Age,
  "history-older-than": Age,
  "by": ActorName,
  "id": Text.matching(/^[^\p{Cc}\p{Cf}]{1,255}$/u, "the id of a person"),
  "out": Text.Path,
  "ledger": Text.Path
}

type Name = keyof typeof fields

const decode = Violation.decodeUnknown(Schema.partialWith(Schema.Struct(fields), { exact: true }))

/** The values of the flags of a command, checked all at once before anything else happens. */
export const flags = (args: ParsedArguments.ParsedArguments, required: ReadonlyArray<Name> = []) =>
  Effect.gen(function*() {
    const missing = required.find((name) => ParsedArguments.values(args, name).length === 0)
    if (missing !== undefined) return yield* refuse(`--${missing} is missing`)
    const names = Object.keys(fields)
    return yield* Effect.mapError(
      decode(Object.assign({}, ...names.map((name) => ParsedArguments.field(args, name)))),
      ParsedArguments.fromFlagViolations(args)
    )
  })

export type Flags = Effect.Effect.Success<ReturnType<typeof flags>>

export const changes = (flags: Flags): Run.Changes => ({
  rate: flags.rate,
  unknown: flags.unknown,
  stopAfter: flags["stop-after"],
  ...(flags["max-checks"] === undefined ? {} : { maxChecks: flags["max-checks"] })
})

export const planOptions = (
  args: ParsedArguments.ParsedArguments,
  flags: Flags,
  where: { readonly service: string; readonly environment: string }
) => ({
  run: flags.run ?? "",
  ...where,
  class: flags.class,
  fourEyes: ParsedArguments.isOn(args, "four-eyes"),
  ...(flags.valid === undefined ? {} : { decisionsValidDays: Duration.toDays(flags.valid) }),
  ...changes(flags),
  evidence: flags.evidence,
  expectAtLeast: flags["expect-at-least"],
  ...(flags["control-every"] === undefined ? {} : { controlEvery: flags["control-every"] }),
  isPart: flags["from-sent"] !== undefined,
  keysOnPage: !ParsedArguments.isOn(args, "hide-keys"),
  profileAddress: ParsedArguments.isOn(args, "ignore-profile-address") ? "ignored" as const : "compared" as const
})

/**
 * The host and path of the address, and the customer, so that a run never mixes two accounts; and the label of the
 * evidence, so that it never mixes sandbox and production, even at one address.
 */
export const where = Effect.gen(function*() {
  const baseUrl = yield* Config.string("IDV_BASE_URL")
  const { host, pathname } = yield* Effect.try({
    try: () => new URL(baseUrl),
    catch: () => ConfigError.InvalidData(["IDV_BASE_URL"], "should be a URL")
  })
  const customer = yield* Config.string("IDV_CUSTOMER_ID")
  const environment = yield* Config.withDefault(Config.string("IDV_ENVIRONMENT"), "")
  return { service: `${host}${pathname.replace(/\/+$/, "")} ${customer}`, environment }
})

/** {@link where}, or nothing without these variables: an auditor may have none. */
export const whereIfSet = Effect.flatMap(
  Config.option(Config.string("IDV_BASE_URL")),
  Option.match({ onNone: () => Effect.succeed({}), onSome: () => where })
)

/** Fails with all invalid variables at once, before anything is sent. */
export const checkIdv = Effect.scoped(Layer.build(Layer.provide(Idv.layerEnv(), IdvHttp.layerEnv())))

/**
 * The client with the variables that {@link checkIdv} accepted. It has as many checks in flight as the worker, so that
 * none of them waits after the ledger stored it as sent.
 */
export const layerIdv = (concurrency: number) =>
  Layer.provide(Idv.layerEnv({ concurrency }), IdvHttp.layerEnv({ connections: concurrency }))

/** What decrypts evidence, if IDV_RESCREEN_KEY is set. */
export const optionalPeople = Effect.flatMap(
  Config.option(Config.redacted("IDV_RESCREEN_KEY")),
  Option.match({
    onNone: () => Effect.succeed(undefined),
    onSome: () => Effect.provide(People.People, People.layerEnv)
  })
)

type Place =
  | { readonly file: string; readonly url?: undefined }
  | { readonly url: Redacted.Redacted; readonly file?: undefined }

/** Where the ledger is: in the file of `--ledger`, otherwise at `DATABASE_URL`, otherwise in `defaultFile`. */
export const place = (flags: Flags, defaultFile?: string) =>
  Effect.gen(function*(): Effect.fn.Return<Place, UsageError.UsageError | ConfigError.ConfigError> {
    if (flags.ledger !== undefined) return { file: flags.ledger }
    const url = yield* Config.option(Config.redacted("DATABASE_URL"))
    if (Option.isSome(url)) {
      // The URL may contain a password.
      const value = Redacted.value(url.value)
      if (/^postgres(ql)?:\/\//.test(value)) return { url: url.value }
      const path = Option.liftThrowable(() => fileURLToPath(value))()
      return Option.isSome(path) ? { file: path.value } : yield* Effect.fail(
        ConfigError.InvalidData(["DATABASE_URL"], "should start with postgres://, postgresql:// or file:")
      )
    }
    return defaultFile === undefined
      ? yield* refuse("The ledger is missing: set DATABASE_URL to postgres://…, or --ledger to a file")
      : { file: defaultFile }
  })

/** Only commands that plan create a file. */
export const layerLedger = (flags: Flags, options: { readonly creates?: boolean; readonly file?: string } = {}) =>
  Layer.unwrapEffect(
    Effect.map(
      place(flags, options.file),
      ({ file, url }) =>
        url === undefined ? Ledger.layerSqlite({ file, creates: options.creates === true }) : Ledger.layerPg({ url })
    )
  )
