/** The kinds of faults: a sentence for each, and the operations that it applies to. */

const both = ["token", "aml"] as const
const aml = ["aml"] as const

export const table = {
  latency: {
    on: both,
    description: "The response is late, by a fixed time or by a random time from a distribution"
  },
  status: { on: both, description: "A response with another status, and optionally a body and a Retry-After" },
  reset: { on: both, description: "The connection is reset, before the headers or in the middle of the body" },
  fin: { on: both, description: "The connection is closed early, before the headers or in the middle of the body" },
  truncation: {
    on: both,
    description: "The body is shorter than its Content-Length, and then the connection is closed"
  },
  badChunk: { on: both, description: "The body is chunked, and the size of its second chunk is not a number" },
  falseGzip: { on: both, description: "The response has Content-Encoding: gzip, and its body is not compressed" },
  duplicateLength: { on: both, description: "The response has two Content-Length headers with different values" },
  randomBytes: { on: both, description: "Random bytes instead of an HTTP response" },
  malformedJson: { on: both, description: "The body is cut off and is not valid JSON" },
  invalidUtf8: { on: both, description: "A string in the body has a byte that is not UTF-8" },
  empty: { on: both, description: "The body is empty" },
  html: {
    on: both,
    description: "An HTML page with the status of the response, as a gateway or a login page returns"
  },
  drip: { on: both, description: "The body arrives a few bytes at a time" },
  hang: {
    on: both,
    description: "The response stops and the connection stays open, before the headers or in the middle of the body"
  },
  oversize: { on: both, description: "The body is valid JSON and far too long" },
  somebodyElse: {
    on: aml,
    description: "A valid credential with the name and the year of birth of another person"
  },
  unknownMatch: { on: aml, description: "A match_found that the service document does not list" },
  tokenExpiry: { on: both, description: "The token that is issued, or that the request carries, is expired" },
  tokenRevocation: { on: both, description: "The token that is issued, or that the request carries, is revoked" },
  quota: {
    on: both,
    description: "At most a number of requests per window of time; further requests receive a 429"
  }
} as const
