/** `idv-mock serve`: runs a server until it is interrupted. */
import type { ParsedArguments } from "@effect-idv/cli/parsedArguments"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Writable } from "node:stream"
import * as MockServer from "../../MockServer.ts"
import * as Announcement from "./announcement.ts"
import * as EntryLine from "./entryLine.ts"
import * as Output from "./output.ts"
import * as PortFile from "./portFile.ts"
import * as Settings from "./settings.ts"
import * as TlsFiles from "./tlsFiles.ts"

const isColorAllowed = Config.nonEmptyString("NO_COLOR").pipe(
  Config.option,
  Effect.orElseSucceed(Option.none),
  Effect.map(Option.isNone)
)

export interface Stdout extends Writable {
  readonly isTTY?: boolean
}

export const serve = (args: ParsedArguments, stdout: Stdout) =>
  Effect.gen(function*() {
    const settings = yield* Settings.read(args)
    const { log = "none", portFile } = settings
    const tls = yield* TlsFiles.keyPair(settings)
    if (portFile !== undefined) yield* PortFile.remove(portFile)
    const line = log === "json" ? EntryLine.json : EntryLine.pretty(stdout.isTTY === true && (yield* isColorAllowed))
    const output = yield* Output.make(stdout)
    const announce = Effect.flatMap(MockServer.MockServer, (server) =>
      Effect.gen(function*() {
        yield* TlsFiles.writeCa(tls)
        if (portFile !== undefined) yield* PortFile.write(portFile, Announcement.portOf(server))
        output.begin(
          stdout.isTTY === true && log !== "json"
            ? Announcement.text(server, settings, tls)
            : Announcement.jsonLine(server, settings, tls)
        )
      }))
    yield* Layer.scopedDiscard(announce).pipe(
      Layer.provide(MockServer.layer({
        ...Settings.options(settings),
        ...(tls.keyPair && { tls: tls.keyPair }),
        ...(log !== "none" && { onExchange: (entry) => Effect.sync(() => output.print(line(entry))) })
      })),
      Layer.launch
    )
  }).pipe(Effect.scoped)
