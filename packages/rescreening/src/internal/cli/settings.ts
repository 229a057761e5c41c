/** Decodes flags and variables. */
import * as Idv from "@effect-idv/core/Idv"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { fileURLToPath } from "node:url"
import * as Ledger from "../../Ledger.ts"
import type * as Rescreening from "../../Rescreening.ts"
import * as WorkSettings from "../workSettings.ts"
import type { Flags } from "./program.ts"
import { UsageError } from "./usageError.ts"

export const text = (flags: Flags, name: string): string | undefined => {
  const value = flags[name]
  return typeof value === "string" ? value : undefined
}

const refuse = (text: string) => Effect.fail(new UsageError({ text }))

const number = (flags: Flags, name: string, flag: string) =>
  Effect.suspend(() => {
    const value = text(flags, name)
    if (value === undefined) return Effect.succeed(undefined)
    const parsed = Number(value)
    return value.trim() === "" || !Number.isFinite(parsed) || parsed <= 0
      ? refuse(`${flag} should be a number over 0`)
      : Effect.succeed(parsed)
  })

const choice = <A extends string>(flags: Flags, name: string, choices: ReadonlyArray<A>) =>
  Effect.suspend((): Effect.Effect<A | undefined, UsageError> => {
    const value = text(flags, name)
    if (value === undefined) return Effect.succeed(undefined)
    const found = choices.find((choice) => choice === value)
    return found === undefined ? refuse(`--${name} should be ${choices.join(" or ")}`) : Effect.succeed(found)
  })

export const again = (flags: Flags) =>
  Effect.suspend((): Effect.Effect<ReadonlyArray<"not_screened" | "unknown">, UsageError> => {
    switch (text(flags, "again")) {
      case undefined:
        return Effect.succeed([])
      case "not_screened":
        return Effect.succeed(["not_screened"])
      case "unknown":
        return Effect.succeed(["unknown"])
      case "both":
        return Effect.succeed(["not_screened", "unknown"])
      default:
        return refuse("--again should be not_screened, unknown or both")
    }
  })

const units: Readonly<Record<string, Duration.Unit>> = { d: "days", h: "hours", m: "minutes", s: "seconds" }

/** `30 seconds`, as Effect writes it, or `30s`. */
export const duration = (flags: Flags, name: string, flag: string) =>
  Effect.suspend((): Effect.Effect<Duration.Duration | undefined, UsageError> => {
    const value = text(flags, name)
    if (value === undefined) return Effect.succeed(undefined)
    const [, amount, short] = /^(\d{1,6})([dhms])$/.exec(value) ?? []
    const unit = units[short ?? ""]
    const found = Duration.decodeUnknown(unit === undefined ? value : `${Number(amount)} ${unit}`)
    return Option.match(found, {
      onNone: () => refuse(`${flag} should be a duration, such as "30 seconds" or 30s`),
      onSome: (duration) => Effect.succeed(duration)
    })
  })

/** The age of `erase` in days or weeks. A shorter unit would erase too much: `12m` looks like twelve months. */
export const olderThan = (flags: Flags): Effect.Effect<Duration.Duration, UsageError> => {
  const [, amount, week] = /^(\d{1,6}(?:\.\d{1,6})?)(?:d|\s+days?|\s+(week)s?)$/.exec(text(flags, "olderThan") ?? "") ??
    []
  return amount === undefined
    ? refuse("--older-than should be a number of days or weeks, such as 400d or \"57 weeks\"")
    : Effect.succeed(week === undefined ? Duration.days(Number(amount)) : Duration.weeks(Number(amount)))
}

export const keyPattern = (flags: Flags) => {
  const value = text(flags, "keyPattern")
  return value === undefined ? Effect.succeed(undefined) : Either.try({
    try: () => new RegExp(value, "u"),
    catch: () => new UsageError({ text: "--key-pattern is not a regular expression" })
  })
}

/**
 * The host and path of the address, and the customer, so that a run never mixes sandbox and production, or two accounts.
 */
export const service = Effect.gen(function*() {
  const baseUrl = yield* Config.string("IDV_BASE_URL")
  const { host, pathname } = yield* Effect.try({
    try: () => new URL(baseUrl),
    catch: () => ConfigError.InvalidData(["IDV_BASE_URL"], "should be a URL")
  })
  const customer = yield* Config.string("IDV_CUSTOMER_ID")
  return `${host}${pathname.replace(/\/+$/, "")} ${customer}`
})

/** Fails with all invalid variables at once, before anything is sent. */
export const checkIdv = Effect.scoped(Layer.build(Layer.provide(Idv.layerEnv(), NodeHttpClient.layerUndici)))

/**
 * The client with the variables that {@link checkIdv} accepted. It has as many checks in flight as the worker, so that
 * none of them waits after the ledger stored it as sent.
 */
export const layerIdv = (concurrency: number) =>
  Layer.provide(Idv.layerEnv({ concurrency }), NodeHttpClient.layerUndici)

export const planOptions = (flags: Flags, service: string) =>
  Effect.gen(function*() {
    const options: Rescreening.PlanOptions = {
      run: text(flags, "run") ?? "",
      service,
      rate: yield* number(flags, "rate", "--rate"),
      unknown: yield* choice(flags, "unknown", ["review", "rescreen"]),
      evidence: yield* choice(flags, "evidence", ["digest", "response"]),
      stopAfter: yield* number(flags, "stopAfter", "--stop-after"),
      keysOnPage: flags["hideKeys"] !== true,
      profileAddress: flags["ignoreProfileAddress"] === true ? "ignored" : "compared"
    }
    return options
  })

export const workOptions = (flags: Flags, run: string, service: string) =>
  Effect.gen(function*() {
    const settings = yield* WorkSettings.decode({
      concurrency: yield* number(flags, "concurrency", "--concurrency"),
      lease: yield* duration(flags, "lease", "--lease")
    })
    return { run, service, ...settings }
  })

const databaseUrlForm = "should start with postgres://, postgresql:// or file:"

/** The ledger of `--ledger`, otherwise of `DATABASE_URL`, otherwise in `file`. */
export const layerLedger = (flags: Flags, file?: string) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const chosen = text(flags, "ledger")
    if (chosen !== undefined) return Ledger.layerSqlite({ file: chosen })
    const url = yield* Config.option(Config.redacted("DATABASE_URL"))
    if (Option.isSome(url)) {
      // The URL may contain a password.
      const value = Redacted.value(url.value)
      if (/^postgres(ql)?:\/\//.test(value)) return Ledger.layerPg({ url: url.value })
      const path = Option.liftThrowable(() => fileURLToPath(value))()
      return Option.isSome(path)
        ? Ledger.layerSqlite({ file: path.value })
        : yield* Effect.fail(ConfigError.InvalidData(["DATABASE_URL"], databaseUrlForm))
    }
    return file === undefined
      ? yield* refuse("The ledger is missing: set DATABASE_URL to postgres://…, or --ledger to a file")
      : Ledger.layerSqlite({ file })
  }))
