/** The fictional people whom the cases check, and what the mock server finds about them. */
import type { Json } from "../steps.ts"

export interface TestPerson {
  readonly name: string
  /** The date of birth, in the form `dd-mm-yyyy`. */
  readonly dob: string
  /** The result of the mock server, which the reserved last word of the name decides. */
  readonly matchFound: string
}

export const clear: TestPerson = { name: "Zoë Ana Testclear", dob: "01-02-1990", matchFound: "No" }
export const exposed: TestPerson = { name: "Noor Lee Testpep", dob: "14-03-1957", matchFound: "Potential match" }
export const sanctioned: TestPerson = { name: "Max Vale Testsanc", dob: "30-11-1971", matchFound: "Potential match" }
export const cyrillic: TestPerson = { name: "Иван Testclear", dob: "29-02-2000", matchFound: "No" }

/** The body of section 4.2 for a person, with changed fields. A field that is `undefined` is omitted. */
export const bodyOf = (
  { dob, name }: TestPerson,
  changes: { readonly [field: string]: Json | undefined } = {}
): { readonly [field: string]: Json } => {
  const fields: Record<string, Json> = {}
  for (const [field, value] of Object.entries({ entity_type: "person", name, dob, ...changes })) {
    if (value !== undefined) fields[field] = value
  }
  return fields
}

/** What the last word of a name means to the mock server. */
const matchFoundOf = (name: string): string => /\bTest(pep|sanc)$/i.test(name) ? "Potential match" : "No"

/** The person whom a body is about. */
export const of = (body: Json): TestPerson | undefined => {
  if (typeof body !== "object" || body === null || !("name" in body)) return undefined
  const { dob, name } = body
  return typeof name !== "string" || typeof dob !== "string"
    ? undefined
    : { name, dob, matchFound: matchFoundOf(name) }
}
