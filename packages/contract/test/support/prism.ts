/** Prism as a proxy that checks every request and response against the OpenAPI document, or as a mock of it. */
import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Context, Deferred, Effect, Layer, Stream } from "effect"
import { createRequire } from "node:module"
import { eventually, orHang } from "../../../core/test/support/eventually.ts"
import { MockServer } from "../../../mock-server/src/index.ts"

const program = createRequire(import.meta.url).resolve("@stoplight/prism-cli")

export interface Service {
  readonly url: string
  /** The printed lines so far. */
  readonly log: Effect.Effect<ReadonlyArray<string>>
}

export class Prism extends Context.Tag("Prism")<Prism, Service>() {}

export const isRequest = (line: string): boolean => line.includes("Request received")

/** Whether Prism reports a wrong request or response, or its own failure. */
export const isViolation = (line: string): boolean => /✖|⚠|violation|error|warn/i.test(line)

const start = (command: "mock" | "proxy", ...words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const options = ["--errors", "--host", "127.0.0.1", "--port", "0"]
    const process = yield* Command.start(Command.make("node", program, command, ...words, ...options))
    const lines: Array<string> = []
    const listening = yield* Deferred.make<string>()
    yield* Stream.merge(process.stdout, process.stderr).pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => {
        lines.push(line)
        const [, url] = /listening on (\S+)/.exec(line) ?? []
        return url === undefined ? Effect.void : Deferred.succeed(listening, url)
      }),
      Effect.forkScoped
    )
    const url = yield* orHang(
      Deferred.await(listening),
      () => `waited for the address of Prism, and saw ${lines.join("\n")}`
    )
    return Prism.of({ url, log: Effect.sync(() => Array.from(lines)) })
  })

/** A mock that responds with the examples of the document. */
export const mock = (document: string) => start("mock", document)

/** A proxy in front of the mock server of the context. It replaces the address of the mock server. */
export const layer = (document: string) =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const { options, url: upstream } = yield* MockServer.MockServer
    const prism = yield* start("proxy", document, upstream)
    const { url } = prism
    return Layer.merge(
      Layer.succeed(Prism, prism),
      Layer.succeed(MockServer.MockServer, { url, options: { ...options, authUrl: url, baseUrl: url } })
    )
  })).pipe(Layer.provide(NodeContext.layer))

/** The lines from an index on, once `count` of them are wanted ones. Prism prints with a delay. */
export const linesFrom = (from: number, isWanted: (line: string) => boolean, count: number) =>
  eventually(
    `${count} lines of Prism that ${isWanted.name}`,
    Effect.map(Effect.flatMap(Prism, ({ log }) => log), (lines) => lines.slice(from)),
    (lines) => lines.filter(isWanted).length >= count
  )
