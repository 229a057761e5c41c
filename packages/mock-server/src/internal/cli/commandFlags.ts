/** The flags of each command. */
import { booleanFlag, controlToken, repeatableFlag, valueFlag } from "./flags.ts"

export const server = [
  valueFlag("url", "url", "Address of the mock server (default: http://127.0.0.1:4010)"),
  controlToken
]

export const session = [valueFlag("customer", "id", "Customer of the session (default: demo-customer)"), ...server]

export const serve = [
  valueFlag(
    "config",
    "file",
    "JSON file with these options in camelCase, and customers, faults, testPersons and profile. Flags take precedence"
  ),
  valueFlag(
    "host",
    "address",
    "Address to listen on (default: 127.0.0.1). Beyond loopback, a control token is required"
  ),
  valueFlag("port", "number", "Port to listen on (default: 4010). 0 selects a free one"),
  valueFlag(
    "port-file",
    "file",
    "File that contains the port number while the server listens. An old file is removed first"
  ),
  valueFlag("log", "form", "Print a line for each exchange (default: none)", ["none", "json", "pretty"]),
  controlToken,
  repeatableFlag("allowed-host", "name", "Further host name of the control API, such as that of a container"),
  valueFlag("seed", "number", "Seed that makes tokens and random faults reproducible"),
  repeatableFlag(
    "profile",
    "variant",
    "Preset (default, strict or hostile), option=variant such as tokenStatus=201, or a file of idv-mock record"
  ),
  repeatableFlag("fault", "fault", "Fault to inject, such as aml:hang"),
  repeatableFlag(
    "customer",
    "id:key",
    "Further customer. Flags are visible in the process list: prefer the file of --config"
  ),
  valueFlag("tls", "kind", "Speak TLS with a certificate for this run, which the CA in --tls-ca issued", [
    "self-signed"
  ]),
  valueFlag("tls-ca", "file", "File to write this CA to, for NODE_EXTRA_CA_CERTS (default: idv-mock-ca.pem)"),
  valueFlag("tls-cert", "file", "Speak TLS with the certificate in this PEM file. It needs --tls-key"),
  valueFlag("tls-key", "file", "PEM file with the private key of --tls-cert"),
  booleanFlag("reveal", "Keep names and secrets in the journal unmasked"),
  valueFlag(
    "grace-period",
    "duration",
    "Longest wait for pending responses when the server stops (default: 5 seconds)"
  ),
  valueFlag("request-timeout", "duration", "Longest time for a request to arrive (default: 30 seconds)"),
  booleanFlag("force", "Start even if NODE_ENV is production")
]

export const journal = [
  valueFlag("operation", "name", "Only requests to this operation", ["token", "aml", "other"]),
  valueFlag("status", "number", "Only responses with this status, such as 401"),
  valueFlag("rule", "name", "Only responses of this rule, such as aml.token-expired"),
  valueFlag("fault", "name", "Only requests for which a fault with this id or kind fired"),
  booleanFlag("unexpected", "Only requests that the service document does not allow"),
  booleanFlag("unmatched", "Show the unmatched requests, which belong to no session, instead of those of a customer"),
  booleanFlag("json", "Print complete entries, one JSON object per line"),
  booleanFlag("clear", "Delete all entries of the session, and print none"),
  ...session
]

const evidence = valueFlag(
  "evidence",
  "file",
  "File of claims (default: contract/evidence.yaml of the contract package)"
)

export const verify = [
  valueFlag(
    "auth-url",
    "url",
    "Address of the token endpoint without /oauth/service (default: IDV_AUTH_URL; for a mock server, else " +
      "http://127.0.0.1:4010)"
  ),
  valueFlag(
    "base-url",
    "url",
    "Address of the API without /api/aml (default: IDV_BASE_URL). If you give only one of the two addresses, it is " +
      "used for both"
  ),
  valueFlag("target", "kind", "Kind of the target: a mock server, or a sandbox of the service (default: mock)", [
    "mock",
    "sandbox"
  ]),
  valueFlag("customer-id", "id", "Customer id (default: IDV_CUSTOMER_ID; for a mock server, else a test customer)"),
  valueFlag(
    "customer-key",
    "key",
    "Customer key (default: IDV_CUSTOMER_KEY). Prefer the variable: flags are visible in the process list"
  ),
  booleanFlag("allow-insecure", "Send key, token and names over http: beyond loopback too, where others can read them"),
  valueFlag("control-url", "url", "Address of the mock server's control API (default: the address of the API)"),
  controlToken,
  evidence,
  valueFlag("format", "form", "Format of the report (default: table)", ["table", "json", "junit", "github"]),
  valueFlag("output", "file", "File to write the report to, instead of printing it"),
  valueFlag("har", "file", "File to write the requests and responses to as HAR, without secrets and personal data"),
  valueFlag(
    "observations",
    "file",
    "File to write the observations to; pass it to the next run with --evidence. An existing file is not overwritten"
  ),
  valueFlag(
    "budget",
    "number",
    "Largest number of requests to a sandbox (default: 60), a fifth of which may be checks that it bills. The remaining cases are not tested"
  ),
  valueFlag(
    "spacing",
    "duration",
    "Pause between two requests to a sandbox, such as \"500 millis\" (default), or a number of milliseconds"
  ),
  valueFlag(
    "deadline",
    "duration",
    "Longest wait for a response, such as \"10 seconds\" (default), or a number of milliseconds"
  ),
  repeatableFlag("case", "id", "Only this case; may be repeated"),
  repeatableFlag(
    "fail-on",
    "verdict",
    "Fail on this verdict: violated, lenient or drift; may be repeated (default: violated, and for a mock server drift)"
  ),
  booleanFlag("strict", "Fail also if the target accepts requests that the service document does not show"),
  booleanFlag("wait-for-expiry", "Wait an hour, to see whether a sandbox refuses a token after it"),
  booleanFlag(
    "wrong-keys",
    "Also send wrong keys of the customer to a sandbox, which may lock the customer out, and its key where it may be logged"
  )
]

export const contract = [
  repeatableFlag("level", "level", "Only claims of this level: documented, observed, assumed or unknown"),
  valueFlag("format", "form", "Output format (default: table)", ["table", "json"]),
  evidence
]

export const mcp = [
  valueFlag("url", "url", "Address of a running mock server (default: none, the command starts a server)"),
  valueFlag("port", "number", "Port of the server that the command starts (default: a free one)"),
  controlToken
]

const upstream = [
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

export const record = [
  ...upstream,
  valueFlag("port", "number", "Port of the proxy (default: 4011). 0 selects a free one"),
  valueFlag(
    "output",
    "file",
    "File to write the observations and the profile to (default: observed.yaml). Not overwritten"
  ),
  valueFlag("har", "file", "File to write the masked exchanges to, as an HTTP archive. Not overwritten")
]

export const diff = [
  ...upstream,
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
