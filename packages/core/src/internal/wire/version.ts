/** This package and its version, for the evidence. The workflow `release` writes it with the version of the manifest. */
export const client = "@effect-idv/core 0.0.0"

/** The `User-Agent` of each request, unless a client that wraps the `HttpClient` sets another. */
export const userAgent = `effect-idv/${client.split(" ")[1]}`
