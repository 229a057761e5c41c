/** The services that are programs of their own, in other languages: correct, or with one of their faults. */
import { Command, HttpClient, HttpClientRequest } from "@effect/platform"
import { Chunk, Data, Effect, Redacted, Schema, Stream } from "effect"
import { fileURLToPath } from "node:url"

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url))

export const names = ["python", "java"] as const
export type Name = typeof names[number]

const listed = (name: string, dob: string) => ({ name, dob, matchFound: "Potential match" as const })
const notListed = (name: string, dob: string) => ({ name, dob, matchFound: "No" as const })

/** How each service starts, and the persons whose results its author promises. */
export const programs = {
  python: {
    program: "python3",
    needs: "Python 3 (python3)",
    options: [path("python/service.py")],
    persons: [
      listed("Mirela Testpep", "09-02-1951"),
      listed("Tomás Ferreira Testsanction", "23-11-1968"),
      notListed("Giulia Conti", "17-05-1983")
    ]
  },
  java: {
    program: "java",
    needs: "a JDK 17 or later (java)",
    options: ["-XX:TieredStopAtLevel=1", path("java/Service.java")],
    persons: [
      listed("Aurelio Bianchi-Testpep", "03-08-1947"),
      listed("Nadia Khoury", "19-12-1972"),
      notListed("Síle Ní Bhraonáin", "28-02-1990")
    ]
  }
} satisfies Record<Name, object>

const commandOf = (name: Name, ...words: ReadonlyArray<string>) => {
  const { options, program } = programs[name]
  return Command.make(program, ...options, ...words)
}

const Announcement = Schema.parseJson(Schema.Struct({ url: Schema.String, id: Schema.String, key: Schema.String }))

const FaultList = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String }))

/** A service does not start on this machine, because its language is missing or for another reason. */
export class NotStarted
  extends Data.TaggedError("NotStarted")<{ readonly needs: string; readonly isMissing: boolean }>
{}

/** The faults of a service, by id. Its error output is that of this command. */
export const faults = (name: Name) =>
  commandOf(name, "--list").pipe(
    Command.stderr("inherit"),
    Command.string,
    Effect.flatMap(Schema.decode(FaultList)),
    Effect.mapError((error) =>
      new NotStarted({
        needs: programs[name].needs,
        isMissing: error._tag === "SystemError" && error.reason === "NotFound"
      })
    )
  )

/** A service until the scope closes: its address and its customer, and how its clock is moved. */
export const serving = (name: Name, fault?: string) =>
  Effect.gen(function*() {
    const process = yield* Command.start(
      // The service ends with its standard input.
      commandOf(name, ...(fault === undefined ? [] : ["--fault", fault])).pipe(Command.stdin("pipe"))
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
