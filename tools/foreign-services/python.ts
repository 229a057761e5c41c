/** The service in Python, which is a program of its own: correct, or with one of its faults. */
import { Command, HttpClient, HttpClientRequest } from "@effect/platform"
import { Chunk, Effect, Redacted, Schema, Stream } from "effect"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("python/service.py", import.meta.url))

const Announcement = Schema.parseJson(Schema.Struct({ url: Schema.String, id: Schema.String, key: Schema.String }))

const FaultList = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String }))

/** Its faults, by id. Fails if there is no Python. */
export const faults = Command.string(Command.make("python3", program, "--list")).pipe(
  Effect.flatMap(Schema.decode(FaultList))
)

/** The persons whose results its author promises. */
export const persons = [
  { name: "Mirela Testpep", dob: "09-02-1951", matchFound: "Potential match" as const },
  { name: "Tomás Ferreira Testsanction", dob: "23-11-1968", matchFound: "Potential match" as const },
  { name: "Giulia Conti", dob: "17-05-1983", matchFound: "No" as const }
]

/** The service until the scope closes: its address and its customer, and how its clock is moved. */
export const serving = (fault?: string) =>
  Effect.gen(function*() {
    const process = yield* Command.start(
      Command.make("python3", program, ...(fault === undefined ? [] : ["--fault", fault])).pipe(
        // The service ends with its standard input.
        Command.stdin("pipe")
      )
    )
    const lines = yield* process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1), Stream.runCollect)
    const { id, key, url } = yield* Schema.decode(Announcement)(Chunk.join(lines, ""))
    const client = yield* HttpClient.HttpClient
    return {
      authUrl: url,
      baseUrl: url,
      customerId: id,
      customerKey: Redacted.make(key),
      clock: (millis: number) =>
        client.execute(HttpClientRequest.bodyText(HttpClientRequest.post(`${url}/clock`), String(millis))).pipe(
          Effect.scoped,
          Effect.orDie,
          Effect.asVoid
        )
    }
  })
