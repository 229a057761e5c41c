/** The masked exchanges as an HTTP archive (HAR 1.2), which browsers and proxies open. */
import { STATUS_CODES } from "node:http"
import { maskRequestHeaders, maskResponseHeaders } from "../journal/maskedHeaders.ts"
import { maskTarget } from "../journal/maskedTarget.ts"
import type { Exchange } from "./exchange.ts"
import type { Masked } from "./observations.ts"

const headersOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))

const mimeType = (headers: Readonly<Record<string, string>>) => headers["content-type"] ?? ""

/** The header of the length has the one of the masked body, because the real one tells the length of a name. */
const withLength = (headers: Readonly<Record<string, string>>, length: number) =>
  "content-length" in headers ? { ...headers, "content-length": String(length) } : headers

/** One entry. The host is fictional, because a HAR may leave the company. */
export const entry = ({ at, millis, request, response }: Exchange, masked: Masked) => {
  const requestLength = Buffer.byteLength(masked.request.text)
  const responseLength = Buffer.byteLength(masked.response.text)
  const requestHeaders = withLength(maskRequestHeaders(request.headers), requestLength)
  const responseHeaders = withLength(maskResponseHeaders(response.headers), responseLength)
  return {
    startedDateTime: new Date(at - millis).toISOString(),
    time: millis,
    request: {
      method: /^[A-Z]{1,10}$/.test(request.method) ? request.method : "***",
      url: `https://upstream.invalid${maskTarget(request.target)}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: headersOf(requestHeaders),
      queryString: [],
      ...(masked.request.text !== "" && {
        postData: { mimeType: mimeType(requestHeaders), text: masked.request.text }
      }),
      headersSize: -1,
      bodySize: requestLength
    },
    response: {
      status: response.status,
      statusText: STATUS_CODES[response.status] ?? "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: headersOf(responseHeaders),
      content: { size: responseLength, mimeType: mimeType(responseHeaders), text: masked.response.text },
      redirectURL: "",
      headersSize: -1,
      bodySize: responseLength
    },
    cache: {},
    timings: { send: 0, wait: millis, receive: 0 }
  }
}

export type Entry = ReturnType<typeof entry>

export const print = (entries: ReadonlyArray<Entry>, version: string): string =>
  JSON.stringify({ log: { version: "1.2", creator: { name: "idv-mock record", version }, entries } }, null, 2)
