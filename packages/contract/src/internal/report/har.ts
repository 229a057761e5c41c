/** The requests of a run as a HAR 1.2 file, without secrets and personal data. */
import type { MaskedExchange } from "../maskedExchange.ts"
import type { RunInfo } from "../results.ts"

const nameAndValue = ([name, value]: readonly [string, string]) => ({ name, value })

const queryOf = (url: string) => URL.canParse(url) ? Array.from(new URL(url).searchParams, nameAndValue) : []

const contentTypeOf = (headers: ReadonlyArray<readonly [string, string]>): string =>
  headers.find(([name]) => name === "content-type")?.[1] ?? "application/octet-stream"

const requestOf = ({ body, headers, method, url }: MaskedExchange["request"]) => ({
  method,
  url,
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: headers.map(nameAndValue),
  queryString: queryOf(url),
  ...(body !== undefined && { postData: { mimeType: contentTypeOf(headers), text: body } }),
  headersSize: -1,
  bodySize: -1
})

/** HAR has no form for a request without a response. Browsers write the status 0. */
const responseOf = ({ failure, response }: MaskedExchange) => ({
  status: response?.status ?? 0,
  statusText: failure ?? "",
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: (response?.headers ?? []).map(nameAndValue),
  content: {
    size: response?.size ?? 0,
    mimeType: response?.mediaType ?? "application/octet-stream",
    ...(response?.body !== undefined && { text: response.body })
  },
  redirectURL: "",
  headersSize: -1,
  bodySize: -1
})

const entryOf = (exchange: MaskedExchange) => ({
  startedDateTime: new Date(exchange.startedAt).toISOString(),
  time: exchange.millis,
  request: requestOf(exchange.request),
  response: responseOf(exchange),
  cache: {},
  timings: { send: 0, wait: exchange.millis, receive: 0 }
})

export const make = (exchanges: ReadonlyArray<MaskedExchange>, { version = "unknown" }: RunInfo = {}): string =>
  JSON.stringify(
    {
      log: {
        version: "1.2",
        creator: { name: "@effect-idv/contract", version },
        entries: exchanges.map(entryOf),
        comment: "Secrets, names, dates of birth and unknown fields are hidden"
      }
    },
    null,
    2
  )
