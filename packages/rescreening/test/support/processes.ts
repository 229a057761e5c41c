/** Runs `idv-rescreen` as processes, against a mock server that records the people it screens. */
import { Fault, MockServer } from "@effect-idv/mock-server"
import { Command } from "@effect/platform"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import * as Program from "../../../mock-server/test/support/program.ts"
import { key } from "./people.ts"

const bin = Program.bundled(new URL("../../src/bin.ts", import.meta.url))

export type Variables = { readonly [name: string]: string | undefined }

const text = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(stream))

export const start = (args: ReadonlyArray<string>, variables: Variables, input?: string) =>
  Effect.flatMap(bin, (program) => startProgram(program, args, variables, input))

/** A process until the scope closes, and what it printed and how it ended; -1 after a signal. */
export const startProgram = (program: string, args: ReadonlyArray<string>, variables: Variables, input?: string) =>
  Effect.gen(function*() {
    const child = yield* Command.start(
      Command.make("node", program, ...args).pipe(
        Command.env({ DATABASE_URL: undefined, ...variables }),
        input === undefined ? Command.stdin("inherit") : Command.feed(input)
      )
    )
    const end = yield* Effect.forkScoped(
      Effect.all({
        stdout: text(child.stdout),
        stderr: text(child.stderr),
        exitCode: Effect.orElseSucceed(Effect.map(child.exitCode, Number), () => -1)
      }, { concurrency: "unbounded" })
    )
    const signal = (signal: NodeJS.Signals) => Effect.ignore(Effect.try(() => process.kill(child.pid, signal)))
    return { end, signal }
  })

export const run = (args: ReadonlyArray<string>, variables: Variables, input?: string) =>
  Effect.scoped(Effect.flatMap(start(args, variables, input), ({ end }) => end))

/** A request for a check. */
export interface ReceivedCheck {
  readonly name: string
}

const Body = Schema.decodeSync(Schema.parseJson(Schema.Struct({ name: Schema.String })))

export const service = (faults: ReadonlyArray<typeof Fault.Fault.Encoded> = []) =>
  Effect.gen(function*() {
    const received: Array<ReceivedCheck> = []
    const decoded = yield* Effect.forEach(faults, (fault) => Schema.decode(Fault.Fault)(fault))
    const context = yield* Layer.build(MockServer.layer({
      port: 0,
      reveal: true,
      faults: decoded,
      onExchange: ({ operation, request }) =>
        Effect.sync(() => {
          if (operation === "aml") received.push(Body(request.body))
        })
    }))
    const { url } = Context.get(context, MockServer.MockServer)
    const variables: Variables = {
      IDV_AUTH_URL: url,
      IDV_BASE_URL: url,
      IDV_CUSTOMER_ID: "demo-customer",
      IDV_CUSTOMER_KEY: "demo-key",
      IDV_RESCREEN_KEY: key("k1", 1)
    }
    return { received, variables, name: `${new URL(url).host} demo-customer` }
  })
