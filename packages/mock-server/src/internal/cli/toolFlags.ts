/** The flags of `mcp`, `record` and `diff`. */
import { booleanFlag, controlToken, repeatableFlag, valueFlag } from "./flags.ts"

export const mcpFlags = [
  valueFlag("url", "url", "Address of a running mock server (default: none, the command starts a server)"),
  valueFlag("port", "number", "Port of the server that the command starts (default: a free one)"),
  controlToken
]

const upstreamFlags = [
  valueFlag("upstream-auth", "url", "Address of the service's token endpoint without /oauth/service"),
  valueFlag(
    "upstream-base",
    "url",
    "Address of the service's API without /api/aml. One of the two addresses counts for both"
  ),
  valueFlag("deadline", "duration", "Longest wait for a response of the service (default: 10 seconds)"),
  booleanFlag(
    "allow-insecure",
    "Send keys, tokens and names over http: beyond loopback too, where others can read them"
  )
]

export const recordFlags = [
  ...upstreamFlags,
  valueFlag("port", "number", "Port of the proxy (default: 4011). 0 selects a free one"),
  valueFlag(
    "output",
    "file",
    "File to write the observations and the profile to (default: observed.yaml). Not overwritten"
  ),
  valueFlag("har", "file", "File to write the masked exchanges to, as an HTTP archive. Not overwritten")
]

export const diffFlags = [
  ...upstreamFlags,
  valueFlag("customer-id", "id", "Customer id (default: IDV_CUSTOMER_ID)"),
  valueFlag("customer-key", "key", "Customer key (default: IDV_CUSTOMER_KEY). Flags are visible in the process list"),
  repeatableFlag(
    "profile",
    "variant",
    "Profile of the mock server, as for serve: a preset, option=variant or a recorded file"
  ),
  valueFlag("checks", "number", "Number of checks, which the service may bill (default: 10)"),
  valueFlag("spacing", "duration", "Pause between two requests to the service (default: 500 millis)")
]
