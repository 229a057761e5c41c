/**
 * The request of a step as a curl command that can be pasted into bash, and the commands that show an observation. Secrets
 * and the test persons of the user are variables, such as `$TOKEN`. The suite's own fictional people are shown.
 */
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
    const variable = Templates.variableOf(name)
    if (variable !== undefined) return Option.some(mark(Templates.shellOf(variable, change)))
    if (name === "name" && person?.variable !== undefined) {
      return Option.some(mark(Templates.shellOf(`${person.variable}_NAME`, change)))
    }
    const part = Object.entries(ofPerson ?? {}).find(([placeholder]) => placeholder === name)?.[1]
    return part === undefined
      ? Option.orElseSome(values(name, change), () => "")
      : Option.some(mark(Templates.shellOfPart(part, change)))
  }
  /** A text inside double quotes of the shell. */
  const inline = (text: string): string =>
    partsOf(text).map((part, i) => i % 2 === 1 ? expressions[Number(part)] : part.replaceAll(/["$`\\]/g, "\\$&")).join(
      ""
    )
  const encode = (text: string) => mark(`$(printf %s "${inline(text)}" | base64 -w0)`)
  const quoted = (text: string): string =>
    partsOf(text).map((part, i) =>
      i % 2 === 1
        ? `"${expressions[Number(part)]}"`
        : part === "" && text !== ""
        ? ""
        : /[\n\r\t]/.test(part)
        ? `$'${
          part.replaceAll(/['\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")
        }'`
        : `'${part.replaceAll("'", "'\\''")}'`
    ).join("")

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

/** Of how many requests a report shows the commands. */
const maxShown = 3

/**
 * The commands of the exchanges that show an observation, and of a short sequence those before them too: a response may be
 * wrong because of an earlier request.
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
  const shown = [all, fewest].find(({ length }) => length <= maxShown) ?? [last]
  return { cause: causeOf(last), curl: shown.map(({ curl }) => curl).join("\n") }
}
