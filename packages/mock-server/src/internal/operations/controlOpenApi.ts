/** The OpenAPI document of the control API: adds the responses of its guard to those of each operation. */
import * as IdvApi from "@effect-idv/core/IdvApi"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"

type Json = Readonly<Record<string, unknown>>

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

const guardResponses = {
  401: problem("The control token is missing or wrong. Only for a server that was started with one"),
  403: problem("The Host header does not name this server, or the request comes from a page of another site"),
  500: problem("The mock server itself failed")
}

/** Paths that need no control token. */
const openPaths = ["/_mock/live", "/_mock/ready"]

const withGuard = (path: string) => (operation: unknown): Json => ({
  ...members(operation),
  responses: {
    ...members(members(operation)["responses"]),
    ...(openPaths.includes(path) ? { 403: guardResponses[403] } : guardResponses)
  }
})

/** The handlers decode requests themselves, so the decode error of the platform is removed too. */
export const transform = (spec: Json): Json => {
  const specWithoutDecodeError = IdvApi.withoutDecodeError(spec)
  return {
    ...specWithoutDecodeError,
    paths: Record.map(
      members(specWithoutDecodeError["paths"]),
      (operations, path) => Record.map(members(operations), withGuard(path))
    )
  }
}
