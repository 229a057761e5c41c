/** How the tables of probes become cases: one case for a class, its first row the one that finds most. */
import type { Case, Probe } from "../model.ts"
import type { Reading } from "../readings/readings.ts"
import type { AmlStep, Json, Step, TokenStep } from "../steps.ts"

/** The documented body of a token request, and the same as JSON. */
export const form = "grant_type=client_credentials"
export const json = "{\"grant_type\":\"client_credentials\"}"

/** The header of a distributed trace. */
export const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

/** The token request of section 4.1 with these changes. */
export const token = (changes: Omit<TokenStep, "to"> = {}): TokenStep => ({ to: "token", ...changes })

/** The check of section 4.2 with these changes. */
export const check = (changes: Omit<AmlStep, "to"> = {}): AmlStep => ({ to: "aml", ...changes })

/** A check of an invented person. A mock server finds those whose name ends in Testpep or Testsanc. */
export const person = (name: string, dob = "14-03-1957"): AmlStep => check({ person: { name, dob } })

/** The documented body with changed fields. A field that is `undefined` is omitted. */
export const bodyWith = (changes: { readonly [field: string]: Json | undefined }): Json => {
  const fields: Record<string, Json> = {}
  for (const [field, value] of Object.entries({ entity_type: "person", name: "{name}", dob: "{dob}", ...changes })) {
    if (value !== undefined) fields[field] = value
  }
  return fields
}

/** A row of a table: what the request is, and the request. */
export type Row<Changes> = readonly [title: string, changes: Changes]

/** A table with at least one row. */
export type Rows<Changes> = readonly [Row<Changes>, ...ReadonlyArray<Row<Changes>>]

/** Why a sandbox is not asked whether invented people are on a list. */
export const noOtherListed = "the document does not say which names are on a list"

/** Why a sandbox receives no test of its limits. */
export const mayBlock = "the document shows no limits, and a test of them may block the customer"

type Options = Partial<Pick<Case, "worth" | "needsOwnCustomer" | "notOnSandbox" | "dependsOn" | "firstIfIgnored">>

/** A case whose probes are sequences of requests. */
export const sequences = (
  id: string,
  claim: string,
  reading: Reading,
  [[title, steps], ...rest]: Rows<ReadonlyArray<Step>>,
  options: Options = {}
): Case => {
  const more = rest.map(([title, steps]): Probe => ({ title, steps }))
  return { id, claim, title, steps, reading, ...(more.length > 0 && { more }), ...options }
}

/** The cases with a further field or parameter, which a service may ignore or refuse. */
export const extraField = { firstIfIgnored: "aml.extra-field" }
export const extraParameter = { firstIfIgnored: "token.parameters" }

/** A case that reads the responses of the whole run, and then those of further probes. */
export const ofRun = (
  id: string,
  claim: string,
  reading: Reading,
  title: string,
  more: ReadonlyArray<Row<ReadonlyArray<Step>>> = []
): Case => sequences(id, claim, reading, [[title, []], ...more])

/** A table of single requests. */
export const ofOne = <Changes>(
  step: (changes: Changes) => Step,
  [first, ...rest]: Rows<Changes>
): Rows<ReadonlyArray<Step>> => {
  const row = ([title, changes]: Row<Changes>) => [title, [step(changes)]] as const
  return [row(first), ...rest.map(row)]
}

/** A request with this Authorization header. */
export const header = (title: string, authorization: string | null) => [title, { authorization }] as const

/** A request without an Authorization header, and with these changes. */
export const elsewhere = <Changes extends object>(title: string, changes: Changes) =>
  [title, { ...changes, authorization: null }] as const

/** How an endpoint refuses the request of another case: a case for each reading. */
export const refusals = (
  { id: dependsOn, steps }: Case,
  rows: ReadonlyArray<readonly [id: string, claim: string, title: string, reading: Reading]>
): ReadonlyArray<Case> =>
  rows.map(([id, claim, title, reading]) =>
    sequences(`${dependsOn.split(".")[0]}.${id}`, claim, reading, [[title, steps]], { dependsOn })
  )

/** Token requests that should receive no token. */
export const noToken = (id: string, claim: string, rows: Rows<Omit<TokenStep, "to">>, options?: Options): Case =>
  sequences(`token.${id}`, claim, "token withheld", ofOne(token, rows), options)

const withheld = (id: string, claim: string, rows: Rows<ReadonlyArray<Step>>, options?: Options): Case =>
  sequences(`aml.${id}`, claim, "credential withheld", rows, options)

/** Checks that should receive no credential. */
export const noCredential = (id: string, claim: string, rows: Rows<Omit<AmlStep, "to">>, options?: Options): Case =>
  withheld(id, claim, ofOne(check, rows), options)

/** Checks with another value of a field, which should receive no credential. */
export const wrongField = (id: string, claim: string, field: string, rows: Rows<Json>, options?: Options): Case =>
  withheld(id, claim, ofOne((value) => check({ body: bodyWith({ [field]: value }) }), rows), options)

/** Checks without a field, whose value may be under other names, and should receive no credential. */
export const misnamedField = (
  id: string,
  claim: string,
  rows: Rows<{ readonly [field: string]: Json | undefined }>,
  options?: Options
): Case => withheld(id, claim, ofOne((changes) => check({ body: bodyWith(changes) }), rows), options)
