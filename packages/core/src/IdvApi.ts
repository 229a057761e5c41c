/**
 * Declares both endpoints of the service as one `HttpApi`, from which the OpenAPI document is generated. The client does
 * not import it, so a program that only checks does not load the server of `@effect/platform`.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpApiSecurity from "@effect/platform/HttpApiSecurity"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as AccessToken from "./AccessToken.ts"
import * as AmlCredential from "./AmlCredential.ts"
import * as Person from "./Person.ts"

/**
 * The customer id and key in the `Authorization` header of the token request (service document, section 5).
 *
 * @category security
 * @since 0.1.0
 */
export class CustomerCredentials extends HttpApiMiddleware.Tag<CustomerCredentials>()(
  "@effect-idv/core/IdvApi/CustomerCredentials",
  { security: { customer: HttpApiSecurity.basic } }
) {}

/**
 * The access token in the `Authorization` header of every API request (service document, section 5).
 *
 * @category security
 * @since 0.1.0
 */
export class Bearer extends HttpApiMiddleware.Tag<Bearer>()(
  "@effect-idv/core/IdvApi/Bearer",
  { security: { accessToken: HttpApiSecurity.bearer } }
) {}

/**
 * `POST {auth_url}/oauth/service` (service document, section 4.1). The errors are an assumption.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const token = HttpApiEndpoint.post("token", AccessToken.path)
  .setPayload(AccessToken.Request.pipe(HttpApiSchema.withEncoding({ kind: "UrlParams" })))
  .addSuccess(AccessToken.Response)
  .addError(AccessToken.ErrorResponse, { status: 401 })
  .middleware(CustomerCredentials)
  .annotate(OpenApi.Identifier, "getAccessToken")
  .annotate(OpenApi.Summary, "Get an access token, valid for one hour from the request")

/**
 * `POST {base_url}/api/aml` (service document, section 4.2). The content type of the body and the status are
 * assumptions.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const aml = HttpApiEndpoint.post("aml", AmlCredential.path)
  .setPayload(Person.RequestBody)
  .addSuccess(AmlCredential.AmlCredential)
  .middleware(Bearer)
  .annotate(OpenApi.Identifier, "checkPerson")
  .annotate(OpenApi.Summary, "Screen a person for political exposure and sanctions")

type Json = Readonly<Record<string, unknown>>

const members = (value: unknown): Json => Predicate.isRecord(value) ? value : {}

const decodeError = "HttpApiDecodeError"
const decodeErrorRef = `#/components/schemas/${decodeError}`

const isDecodeError = (schema: unknown): boolean => Predicate.isRecord(schema) && schema["$ref"] === decodeErrorRef

const withoutDecodeErrorSchemas = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.filter((member: unknown) => !isDecodeError(member)).map(withoutDecodeErrorSchemas)
    : Predicate.isRecord(value)
    ? Record.map(value, withoutDecodeErrorSchemas)
    : value

/**
 * Removes `HttpApiDecodeError` from an OpenAPI document. `HttpApi` adds this error to each operation, because its own
 * server sends it for a request that it cannot decode. Use this function as the `OpenApi.Transform` of an API whose
 * server never sends it.
 *
 * @category openapi
 * @since 0.1.0
 */
export const withoutDecodeError = (spec: Json): Json => {
  const components = members(spec["components"])
  return {
    ...spec,
    paths: Record.map(members(spec["paths"]), (item) =>
      Record.map(members(item), (operation) => ({
        ...members(operation),
        responses: Record.filter(
          members(withoutDecodeErrorSchemas(members(operation)["responses"])),
          (response) => !JSON.stringify(response).includes(`"${decodeErrorRef}"`)
        )
      }))),
    components: {
      ...components,
      schemas: Record.filter(
        members(components["schemas"]),
        (_, name) => ![decodeError, "Issue", "PropertyKey"].includes(name)
      )
    }
  }
}

/**
 * Both endpoints of the service.
 *
 * @category api
 * @since 0.1.0
 */
export class IdvApi extends HttpApi.make("idv")
  .add(
    HttpApiGroup.make("authentication").add(token).annotate(OpenApi.Description, "Service document, sections 4.1 and 5")
  )
  .add(HttpApiGroup.make("screening").add(aml).annotate(OpenApi.Description, "Service document, section 4.2"))
  .annotate(OpenApi.Title, "Identity Verification Service: Authentication and AML Screening Interface")
  .annotate(OpenApi.License, { name: "MIT", url: "https://opensource.org/license/mit" })
  .annotate(OpenApi.Transform, withoutDecodeError)
{}
