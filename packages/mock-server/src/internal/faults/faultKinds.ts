/** The kinds of faults, in words, and the endpoints that each makes sense on. */
export const table = {
  latency: { on: ["token", "aml"], description: "The answer comes late: by a fixed time, or by one of a distribution" },
  status: { on: ["token", "aml"], description: "Another status, with a body and a Retry-After of your choice" },
  reset: {
    on: ["token", "aml"],
    description: "The connection is reset, before the headers or in the middle of the body"
  },
  fin: {
    on: ["token", "aml"],
    description: "The connection is closed early, before the headers or in the middle of the body"
  },
  truncation: {
    on: ["token", "aml"],
    description: "The body is shorter than its Content-Length, then the connection is closed"
  },
  badChunk: {
    on: ["token", "aml"],
    description: "The body is chunked, and its second chunk has a size that is no number"
  },
  falseGzip: {
    on: ["token", "aml"],
    description: "The answer says Content-Encoding: gzip, and its body is not compressed"
  },
  duplicateLength: { on: ["token", "aml"], description: "The answer has two headers Content-Length that disagree" },
  randomBytes: { on: ["token", "aml"], description: "Random bytes in place of an HTTP answer" },
  malformedJson: { on: ["token", "aml"], description: "The body is cut, and is no JSON" },
  invalidUtf8: { on: ["token", "aml"], description: "A text of the body has a byte that is not UTF-8" },
  empty: { on: ["token", "aml"], description: "The body is empty" },
  html: {
    on: ["token", "aml"],
    description: "A page in HTML with the status of the answer, as a gateway or a login gives it"
  },
  drip: { on: ["token", "aml"], description: "The body comes a few bytes at a time" },
  hang: {
    on: ["token", "aml"],
    description: "Nothing more comes, before the headers or from the middle of the body on"
  },
  oversize: { on: ["token", "aml"], description: "The body is valid JSON, and far too long" },
  somebodyElse: {
    on: ["aml"],
    description: "A valid credential with the name and the year of birth of another person"
  },
  unknownMatch: { on: ["aml"], description: "A match_found that the document does not list" },
  tokenExpiry: {
    on: ["token", "aml"],
    description: "The token that is issued, or that comes with the check, is expired"
  },
  tokenRevocation: {
    on: ["token", "aml"],
    description: "The token that is issued, or that comes with the check, is revoked"
  },
  quota: { on: ["token", "aml"], description: "So many requests in a window of time; 429 for those above" }
} as const
