/** `idv-mock test-client`: lets a client of the service work through good and bad days, and says what it does wrong. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as OutputFile from "@effect-idv/cli/outputFile"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Progress from "@effect-idv/cli/progress"
import * as Text from "@effect-idv/cli/textField"
import { UsageError } from "@effect-idv/cli/usageError"
import * as Violation from "@effect-idv/core/Violation"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "../clientTest/command.ts"
import type * as Day from "../clientTest/day.ts"
import * as Days from "../clientTest/days.ts"
import * as Endpoint from "../clientTest/endpoint.ts"
import * as Placeholders from "../clientTest/placeholders.ts"
import * as Report from "../clientTest/report.ts"
import * as Run from "../clientTest/run.ts"
import * as Watch from "../clientTest/watch.ts"
import { PositiveWaitText } from "../schema/durationText.ts"
import { optional, withDefault } from "../schema/fields.ts"

/** The client does something wrong. The report lists it. */
export class ClientWrong extends Schema.TaggedError<ClientWrong>("@effect-idv/mock-server/internal/ClientWrong")(
  "ClientWrong",
  { message: Schema.String }
) {}

const Flags = Schema.Struct({
  format: withDefault(FlagValues.oneOf("table", "json", "junit"), "table"),
  output: optional(Text.Path),
  deadline: optional(
    // A number could be seconds or milliseconds.
    Schema.String.pipe(
      Schema.filter((text) => !/^[\d.]*$/.test(text), Violation.expecting("a duration with a unit, such as \"20 s\"")),
      Schema.compose(PositiveWaitText, { strict: false })
    )
  ),
  parallel: withDefault(FlagValues.wholeNumber(1, 64), 4),
  only: Schema.Array(Schema.String.pipe(
    Schema.filter(
      (word) => Days.all.some((day) => day.word === word),
      Violation.expecting("the word of a day, as --list prints them")
    )
  )),
  port: optional(FlagValues.wholeNumber(0, 65_535)),
  url: optional(
    Schema.String.pipe(Schema.filter((text) => URL.canParse(text), Violation.expecting("the address of an endpoint")))
  ),
  customer: withDefault(Text.matching(/^[^:]+:.+$/, "id:key"), "demo-customer:demo-key"),
  env: Schema.Array(Text.matching(/^\w+=/, "NAME=value")),
  header: Schema.Array(Text.matching(/^[\w-]+: */, "name: value"))
})

const fail = (text: string) => new UsageError({ text })

/** Whether a text or a code matches a pattern: `exit=0` or `status=201` for a code, otherwise a regular expression. */
const matcher = (args: ParsedArguments.ParsedArguments, flag: string) => {
  const [word, range] = ParsedArguments.isOn(args, "command")
    ? ["exit", FlagValues.wholeNumber(0, 255)] as const
    : ["status", FlagValues.wholeNumber(100, 599)] as const
  const matchers = ParsedArguments.values(args, flag).map((pattern) => {
    const [, kind, code] = /^(exit|status)=(.*)$/.exec(pattern) ?? []
    if (code !== undefined && (kind !== word || Option.isNone(Schema.decodeOption(range)(code)))) {
      const client = word === "exit" ? "a command has a code from 0 to 255" : "a backend has a status from 100 to 599"
      return Either.left(fail(`--${flag} is invalid: expected a regular expression or ${word}=<code>; ${client}`))
    }
    return code === undefined
      ? Either.map(
        Either.try({
          try: () => new RegExp(pattern, "m"),
          catch: () => fail(`--${flag} is invalid: expected a regular expression or ${word}=<code>`)
        }),
        (regex) => (text: string) => regex.test(text)
      )
      : Either.right((_: string, actual: number | undefined) => actual === Number(code))
  })
  return Either.map(
    Either.all(matchers),
    (all) => (text: string, code: number | undefined) => all.some((matches) => matches(text, code))
  )
}

/** A text that matches both patterns says nothing. */
const outcomesOf = (args: ParsedArguments.ParsedArguments) =>
  Either.map(
    Either.all({ clear: matcher(args, "clear"), review: matcher(args, "review") }),
    ({ clear, review }) => (text: string, code: number | undefined): Day.Outcome => {
      const isClear = clear(text, code)
      return isClear === review(text, code) ? "error" : isClear ? "clear" : "review"
    }
  )

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The flags of which only one way to drive a client makes use. */
const flagsOfWay: Readonly<Record<string, ReadonlyArray<string>>> = {
  env: ["command"],
  parallel: ["command"],
  body: ["url"],
  header: ["url"],
  clear: ["command", "url"],
  review: ["command", "url"],
  customer: ["url", "watch"]
}

/** The way to drive the client, if there is one, and no flag belongs to another one. */
const wayOf = (args: ParsedArguments.ParsedArguments) => {
  const [way, ...others] = ["command", "url", "watch"].filter((flag) => ParsedArguments.isOn(args, flag))
  if (way === undefined || others.length > 0) {
    return fail("Expected one of --command, --url and --watch, to check one person")
  }
  const unused = Object.keys(flagsOfWay).find((flag) =>
    ParsedArguments.isOn(args, flag) && flagsOfWay[flag]?.includes(way) === false
  )
  return unused !== undefined
    ? fail(`--${unused} has no effect with --${way}: expected only flags that have one`)
    : ParsedArguments.isOn(args, "explain") && ParsedArguments.isOn(args, "only")
    ? fail("--only has no effect with --explain: expected one of them")
    : Effect.void
}

/** Fails if the client does not receive a person. */
const checkPlaceholders = (flag: string, texts: ReadonlyArray<string>) => {
  const missing = Placeholders.missing(texts)
  return missing === undefined ? Effect.void : fail(`--${flag} is invalid: expected the placeholder ${missing}`)
}

const doorOf = (args: ParsedArguments.ParsedArguments, { env, header, url, ...flags }: typeof Flags.Type) =>
  Effect.gen(function*() {
    const line = ParsedArguments.value(args, "command")
    const isWatch = ParsedArguments.isOn(args, "watch")
    yield* wayOf(args)
    const outcomeOf = yield* outcomesOf(args)
    const [customerId, customerKey] = splitAt(flags.customer, ":")
    const shared = { port: flags.port ?? 4010, customer: { customerId, customerKey } }
    if (isWatch) return yield* Watch.door(shared)
    if (url !== undefined) {
      const body = ParsedArguments.value(args, "body") ?? `{"name":"{name}","date_of_birth":"{date_of_birth}"}`
      yield* checkPlaceholders("body", [url, body, ...header])
      if (Endpoint.isJsonBody(body) && Either.isLeft(Either.try(() => JSON.parse(body.replaceAll(/\{\w+\}/g, "1"))))) {
        return yield* fail("--body is invalid: expected JSON with each placeholder in a text, or a form")
      }
      return yield* Endpoint.door({
        ...shared,
        url,
        body,
        headers: header.map((text) => splitAt(text.replace(/: */, ":"), ":")),
        outcomeOf
      })
    }
    const words = Placeholders.words(line ?? "")
    if (Option.isNone(words) || words.value.length === 0) {
      return yield* fail("--command is invalid: expected a program and its words, with closed quotation marks")
    }
    if (words.value.some((word) => /^[|&;<>]+$/.test(word))) {
      return yield* fail("--command is invalid: expected no pipe and no redirection, because no shell runs the command")
    }
    yield* checkPlaceholders("command", [...words.value, ...env])
    const variables = Object.fromEntries(env.map((text) => splitAt(text, "=")))
    return Command.door({ words: words.value, variables, outcomeOf, port: flags.port ?? 0 })
  })

const list = [{ word: "first-run", title: "The first requests, always" }, ...Days.all].map(({ title, word }) =>
  `${word.padEnd(18)}${title}`
).join("\n")

export const testClient = (args: ParsedArguments.ParsedArguments) =>
  Effect.gen(function*() {
    if (ParsedArguments.isOn(args, "list")) return yield* Console.log(list)
    const flags = yield* ParsedArguments.read(args, Flags)
    const isExplained = ParsedArguments.isOn(args, "explain")
    const door = yield* doorOf(args, flags)
    const [hasClear, hasReview, isWatch] = ["clear", "review", "watch"].map((flag) => ParsedArguments.isOn(args, flag))
    if (!isExplained && !hasClear && !isWatch) {
      return yield* fail(
        "--clear is missing: expected what the client says about a person who is clear, as a regular expression or " +
          "exit=0. --explain shows what it says"
      )
    }
    if (flags.output !== undefined) yield* OutputFile.check("output", flags.output)
    // The days of a backend run one after another. A person needs longer.
    const patience = flags.deadline ??
      Duration.seconds(isWatch ? 600 : door.customer === undefined ? 65 : 35)
    const days = isExplained ? [] : Days.all.filter(({ word }) => flags.only.length === 0 || flags.only.includes(word))
    const progress = yield* Progress.make(process.stderr, days.length, "days")
    const report = yield* Run.run(door, {
      days,
      patience,
      concurrency: flags.parallel,
      onDay: () => progress.advance
    }).pipe(
      Effect.ensuring(progress.clear),
      Effect.tapErrorTag("NotDriven", ({ explanation }) =>
        explanation === "" ? Effect.void : isExplained ? Console.log(explanation) : Console.error(explanation)),
      // Without a pattern, the user asks which one to choose.
      Effect.catchTag("NotDriven", (error) =>
        isExplained && !(hasClear && hasReview) && error.proposal !== undefined ? Console.log(error.proposal) : error),
      Effect.catchTag("MockServerError", ({ message }) =>
        fail(`${message}. --port selects another port`))
    )
    if (report === undefined) {
      return
    }
    if (isExplained) {
      return yield* Console.log(report.explanation)
    }
    if (
      report.days.every(({ verdict }, index) =>
        index === 0 || verdict === "not tested"
      )
    ) {
      return yield* fail(`No day was tested: ${report.days.at(-1)?.reason}`)
    }
    const text = Report[flags.format](report)
    if (flags.output === undefined) {
      yield* Console.log(text)
    } else {
      yield* OutputFile.write("output", flags.output, text)
      yield* Console.log(Report.summary(report))
    }
    if (Report.isWrong(report)) {
      return yield* new ClientWrong({ message: `idv-mock test-client: ${Report.summary(report)}` })
    }
  }).pipe(Effect.scoped, Effect.provide([NodeHttpClient.layerUndici, NodeTerminal.layer]))
