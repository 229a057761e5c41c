/** The certificate of `serve`: from the files of `--tls-cert` and `--tls-key`, or made for this run. */
import * as InputFile from "@effect-idv/cli/inputFile"
import * as OutputFile from "@effect-idv/cli/outputFile"
import { UsageError } from "@effect-idv/cli/usageError"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { KeyPair } from "../wire/secureServer.ts"
import type { Settings } from "./settings.ts"

const fail = (text: string) => new UsageError({ text })

/** The first line of the file, by which the next run recognizes it. */
const mark = "The CA of one run of idv-mock: set NODE_EXTRA_CA_CERTS to this file"

/** Checks that the CA can be written. Replaces no file that another program wrote. */
const checkCa = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const found = yield* Effect.option(fs.readFileString(path))
    if (found._tag === "Some" && !found.value.startsWith(mark)) {
      return yield* fail(
        "--tls-ca: the file exists and is not a CA of idv-mock, and is not replaced: expected another path"
      )
    }
    yield* OutputFile.check("tls-ca", path)
  })

export interface Tls {
  readonly keyPair?: KeyPair
  /** The CA of a certificate that was made for this run, and the path of its file. */
  readonly ca?: { readonly path: string; readonly certificate: string }
}

/** Writes the CA once the server listens: a start that fails must not replace the CA of a server that runs. */
export const writeCa = ({ ca }: Tls): Effect.Effect<void, UsageError, FileSystem.FileSystem> =>
  ca === undefined ? Effect.void : OutputFile.write("tls-ca", ca.path, `${mark}\n${ca.certificate}`)

/** The certificate that the settings select, if any. */
export const keyPair = (
  { allowedHosts = [], host = "127.0.0.1", tls, tlsCa, tlsCert, tlsKey }: Settings
): Effect.Effect<Tls, UsageError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    if (tls === undefined && tlsCa !== undefined) {
      return yield* fail("--tls-ca needs --tls self-signed")
    }
    if (tls !== undefined) {
      if (tlsCert !== undefined || tlsKey !== undefined) {
        return yield* fail("--tls cannot be used with --tls-cert and --tls-key, which have a certificate already")
      }
      const { make } = yield* Effect.promise(() => import("../wire/selfSigned.ts"))
      const names = new Set(["localhost", "127.0.0.1", "::1", host, ...allowedHosts])
      const { ca, keyPair } = yield* make([...names], yield* Clock.currentTimeMillis)
      const path = tlsCa ?? "idv-mock-ca.pem"
      yield* checkCa(path)
      return { keyPair, ca: { path, certificate: ca } }
    }
    if (tlsCert === undefined && tlsKey === undefined) return {}
    if (tlsKey === undefined) {
      return yield* fail("--tls-key is missing: expected the file with the private key of --tls-cert")
    }
    if (tlsCert === undefined) {
      return yield* fail("--tls-cert is missing: expected the file with the certificate of --tls-key")
    }
    const cert = yield* InputFile.readText("tls-cert", tlsCert)
    return { keyPair: { cert, key: Redacted.make(yield* InputFile.readText("tls-key", tlsKey)) } }
  })
