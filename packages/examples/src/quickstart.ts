/**
 * Screens a few people. Uses the service that the `IDV_*` variables configure, or, if none is set, a
 * mock server that it starts in this process on a free port.
 */
import { AmlCheck, AmlClient, Idv, Metrics, Person } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import Table from "cli-table3"
import { Array as Arr, Cause, ConfigError, ConfigProvider, Console, Data, Effect, HashSet, Layer, Metric } from "effect"
import { parseArgs } from "node:util"

interface Input {
  readonly name: string
  readonly dateOfBirth: string
}

const testPersons: ReadonlyArray<Input> = [
  { name: "Ada Testclear", dateOfBirth: "1990-02-01" },
  { name: "Zoë Testpep", dateOfBirth: "1957-03-14" },
  { name: "Иван Testsanc", dateOfBirth: "1971-11-30" },
  { name: "Eve Nosuchday", dateOfBirth: "1990-02-31" }
]

const usage = "Usage: demo [--name \"Zoë Testpep\" --dob 1957-03-14] …, with one --dob for each --name"

const nextSteps = `
Next:
  npx -y pnpm@10.34.9 demo --name "Zoë Testpep" --dob 1957-03-14   screens a person of your choice
  npx -y pnpm@10.34.9 mock                                         starts the mock server on port 4010
  packages/examples/src/quickstart.ts                              is the source of this program
To use your service, set IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY.`

/** An error that the program prints as one line. */
class QuickstartError extends Data.TaggedError("QuickstartError")<{ readonly message: string }> {}

const parsedPeople = Effect.try({
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
    name.length === 0 ? testPersons : Arr.zipWith(name, dob, (name, dateOfBirth) => ({ name, dateOfBirth }))
  )
)

/** Returns one row of the table. `failed` is true if the service failed, and false for rejected input. */
const screen = Effect.fn("screen")(function*(input: Input) {
  const aml = yield* AmlClient.AmlClient
  const result = yield* Person.make(input).pipe(
    Effect.flatMap(aml.check),
    Effect.map(AmlCheck.match({
      onNo: () => "No",
      onDoubtfulNo: ({ warnings }) => `No, but doubtful: a person should review (${warnings.join("; ")})`,
      onPotentialMatch: () => "Potential match: a person should review"
    })),
    Effect.catchTag("AmlInputRejected", ({ issues }) => Effect.succeed(`Rejected: ${issues.join("; ")}`)),
    Effect.map((text) => ({ text, failed: false })),
    Effect.catchAll((error) => Effect.succeed({ text: `Not screened: ${error.message}`, failed: true }))
  )
  return { ...input, ...result }
})

/** Replaces control characters, because names are untrusted and a terminal executes escape sequences. */
const withoutControlCharacters = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\uFFFD")

const plural = (count: number, singular: string, plural: string) => `${count} ${count === 1 ? singular : plural}`

const screenAll = Effect.fn("quickstart")(function*(people: ReadonlyArray<Input>) {
  const rows = yield* Effect.forEach(people, screen, { concurrency: 10 })

  const table = new Table({
    head: ["Name", "Date of birth", "On a list?"],
    colWidths: [20, 15, 64],
    wordWrap: true,
    style: { head: [], border: [] }
  })
  for (const { dateOfBirth, name, text } of rows) {
    table.push([withoutControlCharacters(name), withoutControlCharacters(dateOfBirth), text])
  }
  yield* Console.log(table.toString())

  const { count } = yield* Metric.value(Metrics.tokenRequests)
  yield* Console.log(
    `${plural(rows.length, "person", "people")}, ${plural(count, "token request", "token requests")}.`
  )
  yield* Console.log(nextSteps)

  const failed = rows.filter((row) => row.failed).length
  if (failed > 0) return yield* new QuickstartError({ message: `${failed} of ${rows.length} were not screened.` })
})

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) => Console.log(`No IDV_* variable is set: the mock server runs in this process at ${url}.`)),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** Uses the mock server only if no variable starts with `IDV_`, so that a misspelt variable is an error. */
const layer = ConfigProvider.fromEnv({ pathDelim: "_" }).flattened.enumerateChildren(["IDV"]).pipe(
  Effect.map((names) => HashSet.size(names) > 0 ? Idv.layerEnv() : layerMock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)

const printError = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Console.error(
    ConfigError.isConfigError(error) ? Idv.describeConfigError(error) : error instanceof Error ? error.message : error
  )
}

parsedPeople.pipe(
  Effect.flatMap((people) => Effect.provide(screenAll(people), layer)),
  Effect.tapErrorCause(printError),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
