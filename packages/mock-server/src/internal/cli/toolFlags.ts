/** The flags of `mcp`, `record` and `diff`. */
import { controlToken, many, on, one } from "./flags.ts"

export const mcpFlags = [
  one("url", "url", "Address of a running mock server (default: none, the command starts a server)"),
  one("port", "number", "Port of the server that the command starts (default: a free one)"),
  controlToken
]

const upstreamFlags = [
  one("upstream-auth", "url", "Address of the service's token endpoint without /oauth/service"),
  one(
    "upstream-base",
    "url",
    "Address of the service's API without /api/aml. One of the two addresses counts for both"
  ),
  one("deadline", "duration", "Longest wait for a response of the service (default: 10 seconds)"),
  on("allow-insecure", "Send keys, tokens and names over http: beyond loopback too, where others can read them")
]

export const recordFlags = [
  ...upstreamFlags,
  one("port", "number", "Port of the proxy (default: 4011). 0 selects a free one"),
  one("output", "file", "File to write the observations and the profile to (default: observed.yaml). Not overwritten"),
  one("har", "file", "File to write the masked exchanges to, as an HTTP archive. Not overwritten")
]

export const diffFlags = [
  ...upstreamFlags,
  one("customer-id", "id", "Customer id (default: IDV_CUSTOMER_ID)"),
  one("customer-key", "key", "Customer key (default: IDV_CUSTOMER_KEY). Flags are visible in the process list"),
  many("profile", "variant", "Profile of the mock server, as for serve: a preset, option=variant or a recorded file"),
  one("checks", "number", "Number of checks, which the service may bill (default: 10)"),
  one("spacing", "duration", "Pause between two requests to the service (default: 500 millis)")
]
