/**
 * The request of a step as a curl command that can be pasted into bash, and the commands that show an observation. Secrets
 * and the test persons of the user are variables, such as `$TOKEN`. The suite's own fictional people are shown.
 */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { StepExchange } from "../exchange.ts"
import type { Observation, Target } from "../model.ts"
import * as Persons from "../persons.ts"
import { read, type Reading, usualWords } from "../readings/readings.ts"
import type { AmlStep, ServiceStep, TokenStep } from "../steps.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as Templates from "../templates.ts"
import * as Requests from "./requests.ts"

/** Marks where a text of the shell stands: the number of an expression between two characters that no request has. */
const [start, end] = ["\ue000", "\ue001"]

const marks = /\ue000(\d+)\ue001/

/** The parts of a text: at even places they are literal, at odd places numbers of expressions. */
const partsOf = (text: string): ReadonlyArray<string> => text.split(marks)

/** The expressions of bash for the user's person, by placeholder. */
const ofUser = (variable: string) => ({
  name: `$${variable}_NAME`,
  dob: `$${variable}_DOB`,
  day: `\${${variable}_DOB:0:2}`,
  month: `\${${variable}_DOB:3:2}`,
  year: `\${${variable}_DOB:6:4}`
})

/** A character that a terminal does not show, for bash. */
const codeOf = (character: string): string =>
  ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[character] ??
    `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`

const rendered = (step: TokenStep | AmlStep, target: Target): string => {
  const expressions: Array<string> = []
  const mark = (expression: string) => `${start}${expressions.push(expression) - 1}${end}`
  const person = step.to === "aml" ? Persons.of(target, step.person) : undefined
  const ofPerson = person?.variable === undefined ? undefined : ofUser(person.variable)
  const shown = ofPerson === undefined
    ? person ?? { name: "", dob: "" }
    : { name: mark(ofPerson.name), dob: mark(ofPerson.dob) }
  const personValues = Requests.personValues(shown)
  const values = Templates.ofValues({
    ...{ id: "", key: "", otherId: "", otherKey: "", secondId: "", secondKey: "", token: "" },
    ...personValues,
    form: personValues.form.replaceAll("%EE%80%80", start).replaceAll("%EE%80%81", end)
  })
  const fillOne: Templates.Fill = (name, change) => {
    const variable = name === "token" && step.to === "aml" && step.token !== undefined
      ? `TOKEN_${step.token + 1}`
      : Templates.variableOf(name)
    if (variable !== undefined) return Option.some(mark(Templates.shellOf(variable, change)))
    if (name === "name" && person?.variable !== undefined) {
      return Option.some(mark(Templates.shellOf(`${person.variable}_NAME`, change)))
    }
    const part = Object.entries(ofPerson ?? {}).find(([placeholder]) => placeholder === name)?.[1]
    return part === undefined
      ? Option.orElseSome(values(name, change), () => "")
      : Option.some(mark(Templates.shellOfPart(part, change)))
  }
  const quoted = (text: string): string =>
    partsOf(text).map((part, i) =>
      i % 2 === 1
        ? `"${expressions[Number(part)]}"`
        : part === "" && text !== ""
        ? ""
        : /[\p{Cc}\p{Cf}]/u.test(part)
        ? `$'${part.replaceAll(/['\\]/g, "\\$&").replaceAll(/[\p{Cc}\p{Cf}]/gu, codeOf)}'`
        : `'${part.replaceAll("'", "'\\''")}'`
    ).join("")
  // No argument of a program can have a NUL, but a format can.
  const encode = (text: string) => {
    const pieces = text.split("\0")
    const format = pieces.map(() => "%s").join("\\0")
    return mark(
      `$(printf ${pieces.length === 1 ? format : `'${format}'`} ${pieces.map(quoted).join(" ")} | base64 -w0)`
    )
  }

  const filled = Requests.filled(
    step,
    TargetOptions.shown(target),
    (template) => Templates.fill(template, fillOne, encode)
  )
  if (Option.isNone(filled)) return ""
  const { body, contentType, headers, method, query, url } = filled.value
  const all = Object.entries({ ...headers, ...(body !== undefined && { "content-type": contentType ?? "" }) })
  return [
    `curl -i ${method === "HEAD" ? "-I" : `-X ${method}`} ${quoted(query === undefined ? url : `${url}?${query}`)}`,
    ...all.map(([name, value]) =>
      `-H ${quoted(value === "" ? `${name}${name === "content-type" ? ":" : ";"}` : `${name}: ${value}`)}`
    ),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`])
  ].join(" ")
}

export const of = (step: ServiceStep, target: Target): string =>
  step.to === "profile" ? "curl -i \"$AML_PROFILE\"" : rendered(step, target)

/** The fewest exchanges that show the same, found by leaving out ever smaller parts, the earlier ones first. */
const fewestOf = (
  exchanges: ReadonlyArray<StepExchange>,
  shows: (exchanges: ReadonlyArray<StepExchange>) => boolean
): ReadonlyArray<StepExchange> => {
  let kept = exchanges
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < kept.length;) {
      const fewer = kept.toSpliced(start, size)
      if (fewer.length > 0 && shows(fewer)) kept = fewer
      else start += size
    }
  }
  return kept
}

/** The status or the cause of an exchange, in words for a report. */
const causeOf = ({ exchange }: StepExchange): string =>
  exchange._tag === "Response" ? `HTTP ${exchange.status}` : exchange.cause

/** A report shows the commands of at most this number of requests, and of all that were sent at the same time. */
const maxShown = 5

const minute = 60_000

const receivedAt = ({ exchange }: StepExchange): number => exchange._tag === "Response" ? exchange.receivedAt : NaN

/** The commands in their order, those of requests that were sent at the same time in one line. */
const commandsOf = (shown: Arr.NonEmptyReadonlyArray<StepExchange>, before: number): ReadonlyArray<string> => {
  const groups = Arr.groupWith(shown, (one, two) => one.together !== undefined && one.together === two.together)
  return [
    ...(before === 0 ? [] : [before === 1 ? "# after another request" : `# after ${before} other requests`]),
    ...groups.flatMap((group, index) => {
      const pause = receivedAt(group[0]) - receivedAt(groups[index - 1]?.at(-1) ?? group[0])
      const commands = group.map(({ curl }) => curl).join(" & ")
      return [
        ...(pause >= minute ? [`# ${Duration.format(Duration.seconds(Math.round(pause / 1000)))} later`] : []),
        group.length === 1 ? commands : `${commands} & wait`
      ]
    })
  ]
}

/**
 * The commands of the exchanges that show an observation, and of a sequence those before them too: a response may be wrong
 * because of an earlier request.
 */
export const detailsOf = (
  reading: Reading,
  observed: string,
  exchanges: ReadonlyArray<StepExchange>,
  isSequence: boolean
): Pick<Observation, "cause" | "curl"> => {
  const fewest = observed === usualWords[reading]
    ? exchanges.slice(-1)
    : fewestOf(exchanges, (some) => read(reading, some) === observed)
  const last = fewest.at(-1)
  if (last === undefined) return {}
  const all = isSequence ? exchanges.slice(0, exchanges.indexOf(last) + 1) : fewest
  const kept = all.slice(-maxShown)
  const shown = exchanges.filter((exchange) =>
    kept.some((one) => one === exchange || one.together !== undefined && one.together === exchange.together)
  )
  return Arr.isNonEmptyReadonlyArray(shown)
    ? { cause: causeOf(last), curl: commandsOf(shown, all.filter((one) => !shown.includes(one)).length).join("\n") }
    : {}
}
