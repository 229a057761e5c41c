/** A server of Node that speaks TLS. */
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { createPrivateKey, X509Certificate } from "node:crypto"
import type { Server, ServerOptions } from "node:http"
import { createServer } from "node:https"
import { recordSockets } from "./script.ts"

/** A certificate, with those of its issuers after it, and its private key, both in PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: Redacted.Redacted<string>
}

/** Which part is invalid. `TLS_PAIR`: the key belongs to another certificate. */
export type Problem = "TLS_CERT" | "TLS_KEY" | "TLS_PAIR"

const parse = <A>(problem: Problem, make: () => A) => Either.try({ try: make, catch: (): Problem => problem })

export const make = ({ cert, key }: KeyPair, options: ServerOptions): Effect.Effect<Server, Problem> =>
  Either.gen(function*() {
    const certificate = yield* parse("TLS_CERT", () => new X509Certificate(cert))
    const privateKey = yield* parse("TLS_KEY", () => createPrivateKey(Redacted.value(key)))
    if (!certificate.checkPrivateKey(privateKey)) return yield* Either.left<Problem>("TLS_PAIR")
    const server = yield* parse("TLS_CERT", () => createServer({ ...options, cert, key: Redacted.value(key) }))
    recordSockets(server)
    return server
  })
