/**
 * The source from which workers load a person: encrypted in the ledger, or your own effect, without storage.
 *
 * @since 0.1.0
 */
import { AmlInputRejected } from "@effect-idv/core/AmlError"
import * as Person from "@effect-idv/core/Person"
import * as Violation from "@effect-idv/core/Violation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as EncryptionKeys from "./EncryptionKeys.ts"
import * as PersonText from "./internal/people/personText.ts"
import { EncryptionKeyError } from "./RescreeningError.ts"
import type * as Run from "./Run.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** The kind is stored with the run. A worker with the other kind cannot work on the run. */
  readonly kind: Run.Run["people"]
  /** Returns the text that the ledger stores for a person, or `null` to store nothing. */
  readonly store: (
    run: string,
    key: string,
    person: Person.Person
  ) => Effect.Effect<string | null, EncryptionKeyError>
  /** Loads the person before each check. */
  readonly load: (
    run: string,
    key: string,
    stored: string | null
  ) => Effect.Effect<Person.Person, AmlInputRejected | EncryptionKeyError>
  /** Encrypts evidence; fails with `missing` if there is no key. */
  readonly encrypt: (run: string, key: string, text: string) => Effect.Effect<string, EncryptionKeyError>
  /** Decrypts evidence. */
  readonly decrypt: (run: string, key: string, encrypted: string) => Effect.Effect<string, EncryptionKeyError>
}

/**
 * @category tags
 * @since 0.1.0
 */
export class People extends Context.Tag("@effect-idv/rescreening/People")<People, Service>() {}

/** Binds a stored text to its row. Its parts are unambiguous, because neither a run nor a key contains a line break. */
const associatedData = (kind: "person" | "evidence", run: string, key: string) => `${kind}\n${run}\n${key}`

const decodeStored = Violation.decodeUnknown(Schema.parseJson(PersonText.PersonText))

const evidence = (keys: EncryptionKeys.EncryptionKeys) => ({
  encrypt: (run: string, key: string, text: string) =>
    EncryptionKeys.encrypt(keys, associatedData("evidence", run, key), text),
  decrypt: (run: string, key: string, encrypted: string) =>
    EncryptionKeys.decrypt(keys, associatedData("evidence", run, key), encrypted)
})

/**
 * Stores people encrypted in the ledger, and deletes them once they have a result.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEncrypted = (keys: EncryptionKeys.EncryptionKeys): Layer.Layer<People> =>
  Layer.succeed(People, {
    kind: "encrypted",
    store: (run, key, person) =>
      Effect.suspend(() =>
        EncryptionKeys.encrypt(keys, associatedData("person", run, key), JSON.stringify(PersonText.encode(person)))
      ),
    load: (run, key, encrypted) =>
      Effect.gen(function*() {
        const text = yield* EncryptionKeys.decrypt(keys, associatedData("person", run, key), encrypted ?? "")
        const stored = yield* Effect.mapError(
          decodeStored(text),
          () => new EncryptionKeyError({ reason: "wrong_key" })
        )
        return yield* PersonText.decode(stored)
      }),
    ...evidence(keys)
  })

/**
 * {@link layerEncrypted} with the keys of `IDV_RESCREEN_KEY`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEnv: Layer.Layer<People, EncryptionKeyError> = Layer.unwrapEffect(
  Effect.map(EncryptionKeys.fromEnv, layerEncrypted)
)

const notFound = new AmlInputRejected({ issues: [new Person.Issue({ field: "name", code: "empty" })] })

/**
 * Stores no name and no date of birth. `lookup` returns both for a key before each check. If it returns `undefined`,
 * the row ends as `not_screened`. `lookup` cannot fail, so it must retry by itself.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLookup = <R>(
  lookup: (key: string) => Effect.Effect<Redacted.Redacted<Person.Input> | undefined, never, R>,
  options?: {
    /** The keys that encrypt the responses. A run whose policy stores responses requires them. */
    readonly keys?: EncryptionKeys.EncryptionKeys | undefined
  }
): Layer.Layer<People, never, R> =>
  Layer.effect(
    People,
    Effect.map(Effect.context<R>(), (context) =>
      People.of({
        kind: "lookup",
        store: () => Effect.succeed(null),
        load: (_, key) =>
          Effect.flatMap(
            Effect.provide(lookup(key), context),
            (input) => input === undefined ? Effect.fail(notFound) : Person.make(Redacted.value(input))
          ),
        ...evidence(options?.keys ?? { keys: [] })
      }))
  )
