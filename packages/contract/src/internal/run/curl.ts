/**
 * The request of a step as a curl command that can be pasted into bash, and the commands that show an observation. Secrets
 * and the test persons of the user are variables, such as `$TOKEN`. The suite's own fictional people are shown.
 */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { StepExchange } from "../exchange.ts"
import type { Observation } from "../model.ts"
import { read, type Reading, readsAll, usualWords } from "../readings/readings.ts"
import type { AmlStep, ServiceStep, Step, TokenStep } from "../steps.ts"
import { personOf, type Target, withShownAddresses } from "../target.ts"
import * as Templates from "../templates.ts"
import * as Requests from "./requests.ts"

/** Marks where a text of the shell stands: the number of an expression between two characters that no request has. */
const [start, end] = ["\ue000", "\ue001"]

const marks = /\ue000(\d+)\ue001/

/** The parts of a text: at even places they are literal, at odd places numbers of expressions. */
const partsOf = (text: string): ReadonlyArray<string> => text.split(marks)

/** The expressions of bash for the date of birth of the user's person, by placeholder. */
const dateOf = (variable: string): Readonly<Record<string, string>> => ({
  dob: `$${variable}_DOB`,
  day: `\${${variable}_DOB:0:2}`,
  month: `\${${variable}_DOB:3:2}`,
  year: `\${${variable}_DOB:6:4}`
})

/** The expression of bash for a name inside a JSON string, and inside a string of such JSON if `strings` is 2. */
const nameIn = (strings: number, variable: string, name: string): string =>
  strings === 0 || !/["\\]/.test(name)
    ? `$${variable}`
    : `$(printf %s "${nameIn(strings - 1, variable, name)}" | sed 's/["\\\\]/\\\\&/g')`

/** A character that a terminal does not show, for bash. */
const codeOf = (character: string): string =>
  ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[character] ??
    `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`

const noValues: Templates.Values = {
  ...{ id: "", key: "", otherId: "", otherKey: "", secondId: "", secondKey: "", token: "" },
  ...Requests.personValues({ name: "", dob: "" })
}

const rendered = (step: TokenStep | AmlStep, target: Target): string => {
  const expressions: Array<string> = []
  const mark = (expression: string) => `${start}${expressions.push(expression) - 1}${end}`
  const person = step.to === "aml" ? personOf(target, step.person) : undefined
  /** Fills in what the user's person has, whose name is inside so many strings of JSON. */
  const ofUser = (variable: string, strings: number, name: Templates.Name, change: string | undefined) => {
    const [nameVariable, date] = [`${variable}_NAME`, dateOf(variable)]
    const part = date[name]
    if (part !== undefined) return Option.some(mark(Templates.shellOfPart(part, change)))
    const isJson = change === "json"
    if (name === "name" && change !== undefined && !isJson) {
      return Option.some(mark(Templates.shellOf(nameVariable, change)))
    }
    const depth = (name === "check" ? 1 : strings) + (isJson ? 1 : 0)
    const shown = { name: mark(nameIn(depth, nameVariable, person?.name ?? "")), dob: mark(`$${variable}_DOB`) }
    return Templates.ofValues({
      ...noValues,
      name: shown.name,
      check: Requests.personValues(shown).check,
      form: `entity_type=person&name=${mark(Templates.shellOf(nameVariable, "percent"))}&dob=${shown.dob}`
    })(name, change)
  }
  const fillIn = (strings: number): Templates.Fill => (name, change) => {
    const variable = name === "token" && step.to === "aml" && step.token !== undefined
      ? `TOKEN_${step.token + 1}`
      : Requests.variableOf(step, target, name)
    if (variable !== undefined) return Option.some(mark(Templates.shellOf(variable, change)))
    const filled = person?.variable === undefined
      ? Templates.ofValues({ ...noValues, ...(person !== undefined && Requests.personValues(person)) })(name, change)
      : ofUser(person.variable, strings, name, change)
    return Option.orElseSome(filled, () => "")
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
    withShownAddresses(target),
    (template) => Templates.fill(template, fillIn(0), encode),
    (template) => Templates.fill(template, fillIn(1), encode)
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

/** A report shows the commands of at most this number of requests, and of all that are needed or were sent at their time. */
const maxShown = 5

const minute = 60_000

const isOfOneTime = (one: StepExchange, other: StepExchange): boolean =>
  one.together !== undefined && one.together === other.together

const receivedAt = ({ exchange }: StepExchange): number => exchange._tag === "Response" ? exchange.receivedAt : NaN

/** The exchanges that had the same time, or one that was alone. */
type Group = Arr.NonEmptyReadonlyArray<StepExchange>

/** The commands of groups in their order, those of one group in one line. Comments say where others were. */
const commandsOf = (groups: ReadonlyArray<Group>, isShown: (group: Group) => boolean): ReadonlyArray<string> => {
  let [last, hidden]: [StepExchange | undefined, number] = [undefined, 0]
  return groups.flatMap((group) => {
    if (!isShown(group)) {
      hidden += group.length
      return []
    }
    const pause = receivedAt(group[0]) - receivedAt(last ?? group[0])
    const commands = group.map(({ curl }) => curl).join(" & ")
    const lines = [
      ...(hidden === 0 ? [] : [hidden === 1 ? "# after another request" : `# after ${hidden} other requests`]),
      ...(pause >= minute ? [`# ${Duration.format(Duration.seconds(Math.round(pause / 1000)))} later`] : []),
      group.length === 1 ? commands : `${commands} & wait`
    ]
    ;[last, hidden] = [Arr.lastNonEmpty(group), 0]
    return lines
  })
}

/** The exchanges up to the first one with which they show something. */
const upToFirst = (
  exchanges: ReadonlyArray<StepExchange>,
  shows: (exchanges: ReadonlyArray<StepExchange>) => boolean
): ReadonlyArray<StepExchange> =>
  exchanges.slice(0, exchanges.findIndex((_, i) => shows(exchanges.slice(0, i + 1))) + 1)

/**
 * The commands of the exchanges that show an observation. A response may be wrong because of an earlier request, so those of a
 * sequence begin with its first one, unless the request that shows it did so `alone` too.
 */
export const detailsOf = (
  reading: Reading,
  observed: string,
  exchanges: ReadonlyArray<StepExchange>,
  isSequence: boolean,
  alone: (step: Step) => ReadonlyArray<StepExchange>
): Pick<Observation, "cause" | "curl"> => {
  const shows = (some: ReadonlyArray<StepExchange>) => read(reading, some) === observed
  const fewest = observed === usualWords[reading]
    ? exchanges.slice(-1)
    : fewestOf(isSequence && readsAll(reading) ? upToFirst(exchanges, shows) : exchanges, shows)
  const last = fewest.at(-1)
  if (last === undefined || !Arr.isNonEmptyReadonlyArray(exchanges)) return {}
  const isAlone = isSequence && fewest.length === 1 && shows(alone(last.step))
  const all = Arr.groupWith(isAlone ? [last] as const : exchanges, isOfOneTime)
  const isNeeded = (group: Group) => group.some((one) => fewest.includes(one))
  const groups = isSequence ? all.slice(0, all.findLastIndex(isNeeded) + 1) : all.filter(isNeeded)
  const shown = new Set<Group>(groups.filter(isNeeded))
  for (const group of groups.toReversed()) {
    if (Array.from(shown).flat().length < maxShown) shown.add(group)
  }
  const curl = commandsOf(groups, (group) => shown.has(group)).join("\n")
  // The token of a response of the run is none of those that a sequence requests.
  return { cause: causeOf(last), curl: isSequence ? curl : curl.replaceAll(/\$TOKEN_\d+/g, "$$TOKEN") }
}
