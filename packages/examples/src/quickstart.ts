/**
 * Screens a handful of people: with the service of the `IDV_*` variables if there are any, else
 * with the mock server, started inside this process on a free port.
 */
import { AmlClient, AmlCredential, Idv, Person, TokenProvider } from "@effect-idv/core"
import { MockServer } from "@effect-idv/mock-server"
import { Command, Options } from "@effect/cli"
import { NodeContext, NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import Table from "cli-table3"
import { Array as Arr, Config, ConfigError, Console, Data, Effect, Layer, Metric, Option } from "effect"

const fictional = [
  { name: "Ada Testclear", dateOfBirth: "1990-02-01" },
  { name: "Zoë Testpep", dateOfBirth: "1957-03-14" },
  { name: "Иван Testsanc", dateOfBirth: "1971-11-30" },
  { name: "Eve Nosuchday", dateOfBirth: "1990-02-31" }
]

type Input = (typeof fictional)[number]

/** What the user got wrong, in a line; or that somebody could not be screened. */
class QuickstartError extends Data.TaggedError("QuickstartError")<{ readonly message: string }> {}

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

const program = Effect.fn("quickstart")(function*(people: ReadonlyArray<Input>) {
  const rows = yield* Effect.forEach(people, screen, { concurrency: 10 })

  const table = new Table({ head: ["Name", "Date of birth", "On a list?"], style: { head: [], border: [] } })
  for (const { dateOfBirth, name, text } of rows) table.push([name, dateOfBirth, text])
  yield* Console.log(table.toString())

  const { count } = yield* Metric.value(TokenProvider.requests)
  yield* Console.log(`${rows.length} asked about, ${count} token request${count === 1 ? "" : "s"}.`)
  yield* Console.log(next)

  const failed = rows.filter((row) => row.failed).length
  if (failed > 0) return yield* new QuickstartError({ message: `${failed} of ${rows.length} were not screened.` })
})

const next = `
Next:
  npx -y pnpm@10.34.9 demo --name "Zoë Testpep" --dob 1957-03-14   screens whom you like
  npx -y pnpm@10.34.9 mock                                         starts the mock server on port 4010
  packages/examples/src/quickstart.ts                              is this program, to copy from
With IDV_AUTH_URL, IDV_BASE_URL, IDV_CUSTOMER_ID and IDV_CUSTOMER_KEY it uses your service.`

const variables = ["AUTH_URL", "BASE_URL", "CUSTOMER_ID", "CUSTOMER_KEY", "ALLOW_INSECURE"].map((name) =>
  Config.option(Config.string(`IDV_${name}`))
)

const layerMock = MockServer.MockServer.pipe(
  Effect.tap(({ url }) =>
    Console.log(`No IDV_* variable is set: this is the mock server, in this process, at ${url}.`)
  ),
  Effect.map(({ options }) => Idv.layer(options)),
  Layer.unwrapEffect,
  Layer.provide(MockServer.layerTest)
)

/** The service of the environment as soon as one variable is set: a typing error never ends at the mock. */
const layer = Config.all(variables).pipe(
  Effect.map((values) => values.some(Option.isSome) ? Idv.layerEnv : layerMock),
  Layer.unwrapEffect,
  Layer.provide(NodeHttpClient.layerUndici)
)

const people = Options.all({
  names: Options.text("name").pipe(
    Options.withDescription("The full name of a person. Repeat it, with --dob, for more people."),
    Options.repeated
  ),
  dobs: Options.text("dob").pipe(
    Options.withDescription("The date of birth of that person, as 1990-02-01."),
    Options.repeated
  )
})

const command = Command.make("demo", { people }, ({ people: { dobs, names } }) =>
  names.length === dobs.length
    ? program(names.length === 0 ? fictional : Arr.zipWith(names, dobs, (name, dateOfBirth) => ({ name, dateOfBirth })))
      .pipe(Effect.provide(layer))
    : new QuickstartError({ message: "Every --name needs a --dob, and every --dob a --name." }))

/** A line for each option or variable that cannot be used. */
const describe = (error: ConfigError.ConfigError): string =>
  ConfigError.reduceWithContext<void, string>(error, undefined, {
    andCase: (_, left, right) => `${left}\n${right}`,
    orCase: (_, left, right) => `${left}\n${right}`,
    invalidDataCase: (_, path, message) => `${path.join(".")} ${message}`,
    missingDataCase: (_, path, message) => `${path.join(".")} is missing: it ${message}`,
    sourceUnavailableCase: (_, path, message) => `${path.join(".")} ${message}`,
    unsupportedCase: (_, path, message) => `${path.join(".")} ${message}`
  })

Command.run(command, { name: "demo", version: "0.0.0" })(process.argv).pipe(
  Effect.tapErrorTag("QuickstartError", ({ message }) => Console.error(message)),
  Effect.tapErrorTag("MockServerError", ({ message }) => Console.error(message)),
  Effect.tapError((error) => ConfigError.isConfigError(error) ? Console.error(describe(error)) : Effect.void),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
