/** `idv-mock record`: a proxy between an app and the service, which writes a profile that plays this service. */
import * as FlagValues from "@effect-idv/cli/flagValues"
import * as HttpClients from "@effect-idv/cli/httpClient"
import * as OutputFile from "@effect-idv/cli/outputFile"
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import * as Text from "@effect-idv/cli/textField"
import { UsageError } from "@effect-idv/cli/usageError"
import * as AccessToken from "@effect-idv/core/AccessToken"
import * as AmlCredential from "@effect-idv/core/AmlCredential"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Path from "@effect/platform/Path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import * as Har from "../record/har.ts"
import * as Observations from "../record/observations.ts"
import * as ProfileFile from "../record/profileFile.ts"
import * as Pseudonyms from "../record/pseudonyms.ts"
import * as Upstream from "../record/upstream.ts"
import { optional, withDefault } from "../schema/fields.ts"
import type * as Request from "../wire/request.ts"
import * as UpstreamFlags from "./upstreamFlags.ts"

const Flags = Schema.Struct({
  port: withDefault(FlagValues.wholeNumber(0, 65_535), 4011),
  output: withDefault(Text.Path, "observed.yaml"),
  har: optional(Text.Path)
})

/** The largest number of exchanges in a HAR, which are the first ones. */
const maxEntries = 10_000

/** A request without credentials, which shows whether the service is there. It is neither recorded nor billed. */
const probe = (upstream: Upstream.Upstream, target: string) =>
  Upstream.send(upstream, {
    method: "GET",
    target,
    headers: Headers.empty,
    headersProblem: Option.none(),
    body: new Uint8Array(),
    isWhole: true,
    isSecure: false
  })

const portOf = (server: HttpServer.HttpServer): number => server.address._tag === "TcpAddress" ? server.address.port : 0

/** What a person reads after the recording. */
const writtenText = (exchanges: number, entries: number, output: string, har: string | undefined) =>
  [
    `${Text.printable(output)}: the profile of ${
      Text.plural(exchanges, "exchange")
    }. To play it: idv-mock serve --profile ` +
    Text.printable(output),
    ...(har === undefined ? [] : [`${Text.printable(har)}: ${Text.plural(entries, "masked exchange")}`])
  ].join("\n")

/** A claim with the words that were seen, such as `aml.success.status: 202 (3 times)`. */
const wordsOf = (claim: string, words: Readonly<Record<string, number>>): string =>
  `${claim}: ${Object.entries(words).map(([word, count]) => `${word} (${Text.plural(count, "time")})`).join(", ")}`

export const record = (
  args: ParsedArguments.ParsedArguments,
  version: string,
  isTerminal: boolean
): Effect.Effect<void, UsageError | Upstream.UpstreamFailed, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const upstream = yield* UpstreamFlags.read(args)
    const { har, output, port } = yield* ParsedArguments.read(args, Flags)
    yield* OutputFile.checkNew("output", output)
    if (har !== undefined) {
      yield* OutputFile.checkNew("har", har)
      const path = yield* Path.Path
      if (path.resolve(har) === path.resolve(output)) {
        return yield* new UsageError({ text: "--har is invalid: expected another path than that of --output" })
      }
    }
    for (const path of [AccessToken.path, AmlCredential.path]) {
      yield* Effect.catchIf(probe(upstream, path), ({ problem }) => problem === "closed", () => Effect.void)
    }

    const files = { output, ...(har !== undefined && { har }) }
    let isListening = false
    const recording = Observations.make(Pseudonyms.make())
    const entries: Array<Har.Entry> = []
    const reported = new Set<string>()
    const reportOnce = ({ message, problem }: Upstream.UpstreamFailed, request: Request.Request) =>
      Effect.suspend(() => {
        const operation = Upstream.operationOf(request.target)
        if (problem === "closed" && operation !== "other") recording.addClosed(operation, request)
        if (reported.has(message)) return Effect.void
        reported.add(message)
        return Console.error(`idv-mock record: ${message}`)
      })

    const write = Effect.gen(function*() {
      if (!isListening) return
      const { aml, token, unplayable } = recording.observations()
      if (aml.exchanges + token.exchanges === 0) {
        return yield* Console.error(
          `idv-mock record: no exchange was recorded, so ${Text.printable(output)} is not written`
        )
      }
      for (const [claim, words] of Object.entries(unplayable)) {
        yield* Console.error(
          `idv-mock record: the mock server cannot play ${wordsOf(claim, words)} (see unplayable in the file)`
        )
      }
      yield* OutputFile.write("output", output, yield* ProfileFile.print(recording))
      if (har !== undefined) yield* OutputFile.write("har", har, Har.print(entries, version))
      const exchanges = aml.exchanges + token.exchanges
      yield* Console.log(
        isTerminal
          ? writtenText(exchanges, entries.length, output, har)
          : JSON.stringify({ event: "written", exchanges, ...files })
      )
    }).pipe(Effect.catchAll(({ message }) => Console.error(`idv-mock record: ${message}`)))
    // Added before the server, so that it runs after the last response.
    yield* Effect.addFinalizer(() => write)

    const client = yield* HttpClient.HttpClient
    const app = Upstream.proxy(upstream, (exchange) => {
      const masked = recording.add(exchange)
      if (har !== undefined && entries.length < maxEntries) entries.push(Har.entry(exchange, masked))
    }, reportOnce).pipe(Effect.provideService(HttpClient.HttpClient, client))
    const announce = Effect.flatMap(HttpServer.HttpServer, (server) => {
      isListening = true
      const url = `http://127.0.0.1:${portOf(server)}`
      return Console.log(
        isTerminal
          ? `The proxy listens on ${url}: use it as the address of both endpoints in the app.\n` +
            `Ctrl-C stops it and writes ${Text.printable(output)}.`
          : JSON.stringify({ event: "recording", url, ...files })
      )
    })
    yield* Layer.launch(
      Layer.merge(
        HttpMiddleware.withTracerDisabledWhen(HttpServer.serve(app), () => true),
        Layer.effectDiscard(announce)
      ).pipe(
        Layer.provide(NodeHttpServer.layerServer(() => createServer(), { host: "127.0.0.1", port })),
        Layer.mapError(() => new UsageError({ text: "--port cannot be opened: expected a free port of this machine" }))
      )
    )
  }).pipe(Effect.scoped, Effect.provide(HttpClients.layer))
