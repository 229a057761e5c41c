/** Placeholders, such as `{name}`, in commands, variables and bodies. */
import * as Option from "effect/Option"
import { randomUUID } from "node:crypto"
import type { Person, Service } from "./day.ts"

const valuesOf = ({ authUrl, baseUrl, customerId, customerKey }: Service, { dateOfBirth, name }: Person) => {
  const [year = "", month = "", day = ""] = dateOfBirth.split("-")
  return {
    name,
    date_of_birth: dateOfBirth,
    dob: `${day}-${month}-${year}`,
    year,
    month,
    day,
    auth_url: authUrl,
    base_url: baseUrl,
    customer_id: customerId,
    customer_key: customerKey,
    uuid: randomUUID()
  }
}

/** For the help. */
export const help = "{name}, {date_of_birth} (yyyy-mm-dd), {dob} (dd-mm-yyyy), {year}, {month}, {day}, {auth_url}, " +
  "{base_url}, {customer_id}, {customer_key} and {uuid} (another one for each check)"

/** Replaces the placeholders of a text. `encode` makes a value fit into the text. Other braces stay. */
export const fill = (service: Service, person: Person, encode: (value: string) => string = (value) => value) =>
(
  text: string
): string => {
  const values = new Map(Object.entries(valuesOf(service, person)))
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => {
    const value = values.get(name)
    return value === undefined ? all : encode(value)
  })
}

/** What the texts of a client lack, if they do not receive a whole person. */
export const missing = (texts: ReadonlyArray<string>): string | undefined => {
  const has = (...names: ReadonlyArray<string>) =>
    texts.some((text) => names.some((name) => text.includes(`{${name}}`)))
  return !has("name") ? "{name}" : has("date_of_birth", "dob", "year") ? undefined : "{date_of_birth} or {dob}"
}

/** The words of a command line with the quotation marks of a shell, and nothing else of one. None if a quote is open. */
export const words = (line: string): Option.Option<ReadonlyArray<string>> => {
  const word = /\s*((?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+)/y
  const found: Array<string> = []
  while (word.lastIndex < line.trimEnd().length) {
    const [, text] = word.exec(line) ?? []
    if (text === undefined) return Option.none()
    found.push(text.replaceAll(
      /\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"/g,
      (_, escaped?: string, single?: string, double?: string) =>
        escaped ?? single ?? (double ?? "").replaceAll(/\\(["\\$`])/g, "$1")
    ))
  }
  return Option.some(found)
}
