/** Responses of the mock server that a day needs, as faults. */
import type { Fault } from "../../Fault.ts"
import type { Person, Step } from "./day.ts"

type FaultObject = Exclude<typeof Fault.Encoded, string>

type What = FaultObject["what"]

type Faults = NonNullable<Step["faults"]>

type Attributes = Readonly<Record<string, unknown>>

/** The body of a check, with fields that replace those of a correct one. */
const credential = (
  { dateOfBirth, name }: Person,
  now: Date,
  attributes: Attributes = {},
  top: Attributes = {}
): string =>
  JSON.stringify({
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "Mock server",
    issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
    cred_version: "1.0",
    credentials: {
      attributes: {
        name,
        birth_year: dateOfBirth.slice(0, 4),
        searched_on: now.toISOString().slice(0, 19).replace("T", " "),
        match_found: "No",
        aml_profile: "https://service.invalid/aml-profiles/1",
        ...attributes
      }
    },
    ...top
  })

const json = "application/json"

/** A response with a status instead of that of the service. */
export const status = (
  on: "aml" | "token",
  what: Omit<Extract<What, { readonly kind: "status" }>, "kind">,
  first?: number
): FaultObject => ({
  on,
  what: { kind: "status", ...what },
  ...(first !== undefined && { when: { kind: "first", n: first } })
})

const problem = (status: number) =>
  JSON.stringify({ type: "about:blank", title: "The check failed", status, detail: "No result is available" })

/** The response of a service that fails or refuses. */
export const failure = (code: number): FaultObject =>
  status("aml", { status: code, body: problem(code), contentType: "application/problem+json" })

/** A complete 200 with this body. */
export const body = (text: string, contentType = json): Faults => () => [
  status("aml", { status: 200, body: text, contentType })
]

/** A credential with other fields. */
export const altered = (attributes: Attributes, top: Attributes = {}, code = 200): Faults => (person, now) => [
  status("aml", { status: code, body: credential(person, now, attributes, top), contentType: json })
]

/** A credential that ends after its `match_found`. */
export const cutCredential: Faults = (person, now) => {
  const text = credential(person, now)
  return [status("aml", { status: 200, body: text.slice(0, text.indexOf("\"aml_profile\"")), contentType: json })]
}

/** A token response late enough that the token requests of simultaneous checks overlap. */
export const lateToken: Faults = () => [
  { on: "token", what: { kind: "latency", distribution: { kind: "fixed", delay: "500 millis" } } }
]
