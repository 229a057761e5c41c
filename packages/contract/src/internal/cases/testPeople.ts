/** Who is asked about: fictional people, and what the mock server finds of them. */
import type { Json } from "./requestSpec.ts"

/**
 * - `dob`: in the form `dd-mm-yyyy`.
 * - `matchFound`: by the last word of the name, which is reserved.
 */
export interface Subject {
  readonly name: string
  readonly dob: string
  readonly matchFound: string
}

export const clear: Subject = { name: "Zoë Ana Testclear", dob: "01-02-1990", matchFound: "No" }
export const exposed: Subject = { name: "Noor Lee Testpep", dob: "14-03-1957", matchFound: "Potential match" }
export const sanctioned: Subject = { name: "Max Vale Testsanc", dob: "30-11-1971", matchFound: "Potential match" }
export const cyrillic: Subject = { name: "Иван Testclear", dob: "29-02-2000", matchFound: "No" }

const subjects = [clear, exposed, sanctioned, cyrillic]

/** The body of section 4.2, with other fields where `changes` has them. `undefined` leaves one out. */
export const about = (
  { dob, name }: Subject,
  changes: { readonly [field: string]: Json | undefined } = {}
): { readonly [field: string]: Json } => {
  const fields: Record<string, Json> = {}
  for (const [field, value] of Object.entries({ entity_type: "person", name, dob, ...changes })) {
    if (value !== undefined) fields[field] = value
  }
  return fields
}

/** Whom a body asks about. */
export const of = (body: Json): Subject | undefined =>
  typeof body === "object" && body !== null && "name" in body
    ? subjects.find(({ name }) => name === body["name"])
    : undefined
