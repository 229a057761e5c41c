/** The flags of each command. */
import { booleanFlag, controlToken, repeatableFlag, valueFlag } from "@effect-idv/cli/commandLine"
import * as SessionOptions from "../operations/sessionOptions.ts"
import * as OptionFlags from "./optionFlags.ts"

export const server = [
  valueFlag("url", "url", "Address of the mock server (default: http://127.0.0.1:4010)"),
  controlToken
]

export const session = [valueFlag("customer", "id", "Customer of the session (default: demo-customer)"), ...server]

export const changeSession = [...OptionFlags.flags(SessionOptions.changeable), ...session]

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
  ...OptionFlags.flags(SessionOptions.all),
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

export const mcp = [
  valueFlag("url", "url", "Address of a running mock server (default: none, the command starts a server)"),
  valueFlag("port", "number", "Port of the server that the command starts (default: a free one)"),
  controlToken
]

export const testClient = [
  valueFlag(
    "command",
    "command",
    "Command that checks one person, such as \"python check.py {name} {date_of_birth}\". No shell runs it"
  ),
  valueFlag(
    "url",
    "url",
    "Address of a running backend that checks one person for each POST. It must use the port below"
  ),
  valueFlag(
    "body",
    "text",
    "Body of this POST, JSON or a form, with placeholders (default: name and date_of_birth as JSON)"
  ),
  repeatableFlag(
    "header",
    "name: value",
    "Header of this POST, with placeholders, such as \"Idempotency-Key: {uuid}\""
  ),
  booleanFlag("watch", "Name each person, and ask you what the client says"),
  valueFlag(
    "port",
    "number",
    "Port of the mock server, whose page shows the running test (default: 4010; with --command a free one)"
  ),
  valueFlag("customer", "id:key", "Customer of a backend, and with --watch (default: demo-customer:demo-key)"),
  repeatableFlag(
    "clear",
    "pattern",
    "What the client says if a person is clear: a regular expression, exit=0 or status=201"
  ),
  repeatableFlag("review", "pattern", "What the client says about a potential match. Anything else is an error"),
  repeatableFlag("env", "name=value", "Variable of the client, with placeholders, such as IDV_API_KEY={customer_key}"),
  booleanFlag("explain", "Check three persons, and show what the client does and how it is understood"),
  booleanFlag("list", "List the days"),
  repeatableFlag("only", "day", "Only this day"),
  valueFlag(
    "deadline",
    "duration",
    "Longest wait for one check (default: 65 seconds; with --url 35 seconds, with --watch 10 minutes)"
  ),
  valueFlag("parallel", "number", "How many checks run at once (default: 4)"),
  valueFlag("format", "form", "Format of the report (default: table)", ["table", "json", "junit"]),
  valueFlag("output", "file", "File to write the report to, instead of printing it")
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
  repeatableFlag(
    "person",
    "person",
    "Test person of the service and the promised result: \"Name|1990-02-01|Potential match\" or \"Name|1990-02-01|No\""
  ),
  valueFlag("persons", "file", "File of such test persons: a YAML list, each with name, dob and match_found"),
  valueFlag(
    "checks",
    "number",
    "Largest number of checks that the service may bill (default: 12). It receives up to five times as many requests"
  ),
  valueFlag("spacing", "duration", "Pause between two requests to the service (default: 500 millis)")
]
