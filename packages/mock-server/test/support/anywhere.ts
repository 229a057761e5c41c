/**
 * Checks one person with `fetch` only. It is bundled with all of core for any runtime: a page, a worker, or Node without
 * its own globals.
 */
import { AmlCheck, AmlClient, Idv, Person, Violation } from "@effect-idv/core"
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted, Schema } from "effect"

export * as Core from "@effect-idv/core"

/** The result of a check as text, because it leaves the runtime. */
export interface Outcome {
  readonly matchFound: string
  readonly sha256: string
  readonly body: string
  readonly verified: string
  readonly tampered: string
  readonly unreachable: string
}

const reasonOf = (evidence: AmlCheck.AmlCheck) =>
  Effect.match(AmlCheck.verify(evidence), { onFailure: ({ reason }) => reason, onSuccess: () => "verified" })

const program = (options: Idv.Options, name: string) =>
  Effect.gen(function*() {
    const check = Effect.gen(function*() {
      const aml = yield* AmlClient.AmlClient
      return yield* aml.check(yield* Person.make({ name, dateOfBirth: "1957-03-14" }))
    })
    const fetching = (options: Idv.Options) => Layer.provide(Idv.layer(options), FetchHttpClient.layer)
    const evidence = yield* Effect.provide(check, fetching(options))
    const stored = yield* Schema.encode(Schema.parseJson(AmlCheck.AmlCheck))(evidence)
    const read = yield* Violation.decodeUnknown(Schema.parseJson(AmlCheck.AmlCheck))(stored)
    const nowhere = yield* Effect.flip(
      Effect.provide(check, fetching({ ...options, authUrl: "http://127.0.0.1:1", tokenPolicy: { attempts: 1 } }))
    )
    const { credentials: { attributes } } = evidence.credential
    const outcome: Outcome = {
      matchFound: attributes.matchFound,
      sha256: evidence.sha256,
      body: new TextDecoder().decode(read.body && Redacted.value(read.body)),
      verified: yield* reasonOf(read),
      tampered: yield* reasonOf({ ...read, sha256: evidence.sha256.replace(/^./, "x") }),
      unreachable: nowhere.message
    }
    return outcome
  })

/** Checks a person with this name against the service at an address. */
export const run = (url: string, customerId: string, customerKey: string, name: string): Promise<Outcome> =>
  Effect.runPromise(
    program({ authUrl: url, baseUrl: url, customerId, customerKey: Redacted.make(customerKey) }, name)
  )
