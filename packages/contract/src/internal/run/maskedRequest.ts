/** The request of a step as a HAR shows it: placeholders in the place of secrets, names and dates. */
import * as Option from "effect/Option"
import type { MaskedRequest } from "../maskedExchange.ts"
import type { Target } from "../model.ts"
import type { ServiceStep } from "../steps.ts"
import * as TargetOptions from "../targetOptions.ts"
import * as Templates from "../templates.ts"
import * as Requests from "./requests.ts"

const person: Readonly<Record<string, string>> = {
  ...Requests.personValues({ name: "$NAME", dob: "DD-MM-YYYY" }),
  form: "entity_type=person&name=$NAME&dob=DD-MM-YYYY"
}

/** `{token|chop}` becomes `<$TOKEN, chop>`. */
const fillOne: Templates.Fill = (name, change) => {
  const variable = Templates.variableOf(name)
  const shown = variable === undefined ? person[name] ?? "" : `$${variable}`
  return Option.some(change === undefined ? shown : `<${shown}, ${change}>`)
}

const fill = (template: string) => Templates.fill(template, fillOne, (text) => `base64(${text})`)

/** A literal date of a template may be a part of the date of birth, as in a request with another format. */
const withoutYears = (text: string): string =>
  text.replaceAll(/(?:18|19|20)\d\d/g, "YYYY").replaceAll(/[^\x20-\x7e]/g, "?")

/** The address of the page at `aml_profile` may hold a name. */
const profileRequest: MaskedRequest = { method: "GET", url: "$AML_PROFILE", headers: [] }

export const of = (step: ServiceStep, target: Target): MaskedRequest => {
  const filled = step.to === "profile" ? Option.none() : Requests.filled(step, TargetOptions.shown(target), fill)
  if (Option.isNone(filled)) return profileRequest
  const { body, contentType, headers, method, query, url } = filled.value
  return {
    method,
    url: url + (query === undefined ? "" : `?${withoutYears(query)}`),
    headers: [
      ...Object.entries(headers),
      ...(contentType === undefined ? [] : [["content-type", contentType] as const])
    ],
    ...(body !== undefined && { body: withoutYears(body) })
  }
}
