/**
 * The refusals in the OpenAPI document of the control plane: those of its guard beside those of its
 * operations, and not the one that every `HttpApi` has, which no request comes to.
 */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

type Json = Readonly<Record<string, unknown>>

const unreachable = { error: "HttpApiDecodeError", parts: ["Issue", "PropertyKey"] }

const isUnreachable = (schema: unknown): boolean =>
  Predicate.isRecord(schema) && schema["$ref"] === `#/components/schemas/${unreachable.error}`

const without = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.filter((member: unknown) => !isUnreachable(member)).map(without)
    : Predicate.isRecord(value)
    ? Record.map(value, without)
    : value

const members = (value: unknown): Json => Predicate.isRecord(value) ? value : {}

const problem = (description: string) => ({
  description,
  content: {
    "application/problem+json": {
      schema: {
        type: "object",
        required: ["type", "title", "status", "detail"],
        properties: {
          type: { type: "string" },
          title: { type: "string" },
          status: { type: "integer" },
          detail: { type: "string" }
        }
      }
    }
  }
})

const guarded = {
  401: problem("The control token is missing or wrong, if the server has one"),
  403: problem("The host is not the server's own, or the page is one of another site"),
  500: problem("The mock server itself is broken")
}

const open = ["/_mock/live", "/_mock/ready"]

const refusing = (path: string) => (operation: unknown): Json => ({
  ...members(operation),
  responses: {
    ...Record.filter(
      members(without(members(operation)["responses"])),
      (response) => !JSON.stringify(response).includes(unreachable.error)
    ),
    ...(open.includes(path) ? { 403: guarded[403] } : guarded)
  }
})

export const transform = (spec: Json): Json => {
  const components = members(spec["components"])
  return {
    ...spec,
    paths: Record.map(members(spec["paths"]), (operations, path) => Record.map(members(operations), refusing(path))),
    components: {
      ...components,
      schemas: Record.filter(
        members(components["schemas"]),
        (_, name) => name !== unreachable.error && !unreachable.parts.includes(name)
      )
    }
  }
}
