/** A refusal as people and programs read it (RFC 9457). */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"

export const response = (
  status: number,
  title: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.unsafeJson({ type: "about:blank", title, status, detail }, {
    status,
    contentType: "application/problem+json",
    headers
  })
