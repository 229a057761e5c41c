/** A certificate for one run of the server, and the CA that issued it. The key of the CA is dropped at once. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { isIP } from "node:net"
import { generate } from "selfsigned"
import type { KeyPair } from "./secureServer.ts"

const day = 86_400_000

/** Valid from a day before `now`, for clients whose clock is late. `now` is in milliseconds since 1970. */
const validity = (now: number) => ({ notBeforeDate: new Date(now - day), notAfterDate: new Date(now + 90 * day) })

const named = (commonName: string) => [{ name: "commonName", value: commonName }]

const curve = { keyType: "ec", algorithm: "sha256" } as const

/** Returns a certificate for the names and addresses, its key, and the certificate of its CA in PEM. */
export const make = (
  names: ReadonlyArray<string>,
  now: number
): Effect.Effect<{ readonly ca: string; readonly keyPair: KeyPair }> =>
  Effect.gen(function*() {
    const ca = yield* Effect.promise(() =>
      generate(named("idv-mock CA of one run"), {
        ...curve,
        ...validity(now),
        extensions: [
          { name: "basicConstraints", cA: true, critical: true },
          { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true }
        ]
      })
    )
    const leaf = yield* Effect.promise(() =>
      generate(named("idv-mock"), {
        ...curve,
        ...validity(now),
        ca: { cert: ca.cert, key: ca.private },
        extensions: [
          { name: "basicConstraints", cA: false },
          { name: "keyUsage", digitalSignature: true },
          { name: "extKeyUsage", serverAuth: true },
          {
            name: "subjectAltName",
            altNames: names.map((name) => isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })
          }
        ]
      })
    )
    return { ca: ca.cert, keyPair: { cert: leaf.cert, key: Redacted.make(leaf.private) } }
  })
