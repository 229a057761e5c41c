/**
 * Screens a handful of people: with the service of the `IDV_*` variables if there are any, else
 * with the mock server, started inside this process on a free port.
 */
import { AmlClient, AmlCredential, Idv, Person, TokenMetrics } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import Table from "cli-table3"
import { Array as Arr, Cause, ConfigError, ConfigProvider, Console, Data, Effect, HashSet, Layer, Metric } from "effect"
import { parseArgs } from "node:util"

interface Input {
  readonly name: string
  readonly dateOfBirth: string
}

const fictional: ReadonlyArray<Input> = [
  { name: "Ada Testclear", dateOfBirth: "1990-02-01" },
  { name: "Zoë Testpep", dateOfBirth: "1957-03-14" },
  { name: "Иван Testsanc", dateOfBirth: "1971-11-30" },
  { name: "Eve Nosuchday", dateOfBirth: "1990-02-31" }
]

const usage = "Usage: demo [--name \"Zoë Testpep\" --dob 1957-03-14] …, a --dob for each --name"

const next = `
Next:
  npx -y pnpm@10.34.9 demo --name "Zoë Testpep" --dob 1957-03-14   screens whom you like
  npx -y pnpm@10.34.9 mock                                         starts the mock server on port 4010
  packages/examples/src/quickstart.ts                              is this program, to copy from
With IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY it uses your service.`

/** What went wrong, in a line. */
class QuickstartError extends Data.TaggedError("QuickstartError")<{ readonly message: string }> {}

const people = Effect.try({
  try: () =>
    parseArgs({ options: { name: { type: "string", multiple: true }, dob: { type: "string", multiple: true } } })
      .values,
  catch: () => new QuickstartError({ message: usage })
}).pipe(
  Effect.filterOrFail(
    ({ dob = [], name = [] }) => dob.length === name.length,
    () => new QuickstartError({ message: usage })
  ),
  Effect.map(({ dob = [], name = [] }) =>
    name.length === 0 ? fictional : Arr.zipWith(name, dob, (name, dateOfBirth) => ({ name, dateOfBirth }))
  )
)

/** One row. Input that is refused is an answer; a failure of the service is not. */
const screen = Effect.fn("screen")(function*(input: Input) {
  const aml = yield* AmlClient.AmlClient
  const result = yield* Person.make(input).pipe(
    Effect.flatMap(aml.check),
    Effect.map(AmlCredential.match({
      onNo: () => "No",
      onPotentialMatch: () => "Potential match: a person should review"
    })),
    Effect.catchTag("AmlInputRejected", ({ issues }) => Effect.succeed(`Refused: ${issues.join("; ")}`)),
    Effect.map((text) => ({ text, failed: false })),
    Effect.catchAll((error) => Effect.succeed({ text: `Not screened: ${error.message}`, failed: true }))
  )
  return { ...input, ...result }
})

/** Names come from outside, and a terminal obeys control characters. */
const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\uFFFD")

const screenAll = Effect.fn("quickstart")(function*(people: ReadonlyArray<Input>) {
  const rows = yield* Effect.forEach(people, screen, { concurrency: 10 })

  const table = new Table({
    head: ["Name", "Date of birth", "On a list?"],
    colWidths: [20, 15, 64],
    wordWrap: true,
    style: { head: [], border: [] }
  })
  for (const { dateOfBirth, name, text } of rows) table.push([printable(name), printable(dateOfBirth), text])
  yield* Console.log(table.toString())

  const { count } = yield* Metric.value(TokenMetrics.requests)
  yield* Console.log(`${rows.length} asked about, ${count} token request${count === 1 ? "" : "s"}.`)
  yield* Console.log(next)

  const failed = rows.filter((row) => row.failed).length
  if (failed > 0) return yield* new QuickstartError({ message: `${failed} of ${rows.length} were not screened.` })
})

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) =>
    Console.log(`No IDV_* variable is set: this is the mock server, in this process, at ${url}.`)
  ),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** Any variable that starts with `IDV_` asks for the service: a misspelt one never ends at the mock. */
const layer = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? Idv.layerEnv : layerMock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)

const report = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Console.error(
    ConfigError.isConfigError(error) ? Idv.describeConfigError(error) : error instanceof Error ? error.message : error
  )
}

people.pipe(
  Effect.flatMap((people) => Effect.provide(screenAll(people), layer)),
  Effect.tapErrorCause(report),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
