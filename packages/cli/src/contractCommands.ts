/** The commands about the contract: their flags and help, and their modules, which load only when a command runs. */
import type { Command } from "commander"
import * as Effect from "effect/Effect"
import * as CommandLine from "./commandLine.ts"
import { booleanFlag, controlToken, repeatableFlag, valueFlag } from "./commandLine.ts"
import type { ParsedArguments } from "./parsedArguments.ts"
import type { Invoked } from "./verify.ts"

const contract = valueFlag(
  "claims",
  "file",
  "File of claims (default: contract/claims.yaml of the contract package)"
)

const verifyFlags = [
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
  contract,
  valueFlag("format", "form", "Format of the report (default: table)", ["table", "json", "junit", "github"]),
  valueFlag("output", "file", "File to write the report to, instead of printing it"),
  valueFlag(
    "har",
    "file",
    "File to write the requests and responses to as HAR, without secrets and personal data. Not overwritten"
  ),
  valueFlag(
    "observations",
    "file",
    "File to write the observations to; pass it to the next run with --claims. An existing file is not overwritten"
  ),
  repeatableFlag(
    "person",
    "person",
    "Test person of the sandbox and the promised result: \"Name|1990-02-01|Potential match\" or \"Name|1990-02-01|No\""
  ),
  valueFlag("persons", "file", "File of such test persons: a YAML list, each with name, dob and match_found"),
  booleanFlag("dry-run", "Print what a sandbox would receive, and what would not be tested and why. Sends nothing"),
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
    "Fail on this verdict: violated, lenient or drift; may be repeated (default: violated, and drift from a mock server or from observations of --claims)"
  ),
  booleanFlag("strict", "Fail also if the target accepts requests that the service document does not show"),
  booleanFlag("wait-for-expiry", "Wait an hour, to see whether a sandbox refuses a token after it"),
  booleanFlag(
    "wrong-keys",
    "Send a sandbox more than 2 wrong credentials and 12 bad tokens, which may lock the customer out, and its key where it may be logged"
  )
]

const claimsFlags = [
  repeatableFlag("level", "level", "Only claims of this level: documented, observed, assumed or unknown"),
  valueFlag("format", "form", "Output format (default: table)", ["table", "json"]),
  contract
]

export const addVerify = (program: Command, invoke: CommandLine.Invoke): Command =>
  CommandLine.addCommand(
    program,
    "verify",
    "Check whether a server follows the contract. With --target sandbox it checks the real service: addresses and " +
      "credentials can be the variables IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY. It sends " +
      `only fictional people and those of --person, and each check may be billed. ${CommandLine.network}`,
    verifyFlags,
    invoke
  )

export const addClaims = (program: Command, name: string, invoke: CommandLine.Invoke): Command =>
  CommandLine.addCommand(
    program,
    name,
    "Show the claims of the contract, and the cases and scenarios that test each",
    claimsFlags,
    invoke
  ).helpCommand(false)

export const addDiff = (parent: Command, invoke: CommandLine.Invoke): Command =>
  CommandLine.addCommand(
    parent,
    "diff <old> <new>",
    "Compare two files of claims: the claims that were added, removed or changed. The command fails if a change may " +
      "break consumers",
    [valueFlag("format", "form", "Output format (default: table)", ["table", "json"])],
    invoke
  )

export const verify = (args: ParsedArguments, invoked: Invoked) =>
  Effect.flatMap(Effect.promise(() => import("./verify.ts")), ({ verify }) => verify(args, invoked))

export const claims = (args: ParsedArguments) =>
  Effect.flatMap(Effect.promise(() => import("./claims.ts")), ({ claims }) => claims(args))

/** `name` is the name of the command, for its errors. */
export const diff = (args: ParsedArguments, name: string) =>
  Effect.flatMap(Effect.promise(() => import("./contractDiff.ts")), ({ diff }) => diff(args, name))
