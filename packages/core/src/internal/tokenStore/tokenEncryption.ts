/** Encrypts stored tokens with AES-256-GCM of the Web Crypto API, which every runtime has. */
import type * as Arr from "effect/Array"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ConfigErrors from "../schema/configErrors.ts"

/** An encryption key before the check: from JavaScript, or partly loaded from `Config`. */
export interface UncheckedKey {
  readonly id?: string | undefined
  readonly key?: Redacted.Redacted<string> | undefined
}

export interface UncheckedOptions {
  readonly encryptionKey?: UncheckedKey | undefined
  readonly decryptionKey?: UncheckedKey | undefined
}

/** Why a stored text cannot be read. */
export type Unreadable = "version" | "key" | "corrupt"

/** `name` is where the text is stored: a text that was copied from another name cannot be decrypted. */
export interface Encryption {
  readonly encrypt: (text: string, name: string) => Effect.Effect<string>
  readonly decrypt: (text: string, name: string) => Effect.Effect<string, Unreadable>
}

export interface Key {
  readonly id: string
  readonly bytes: Uint8Array
}

const keyLength = 32
const ivLength = 12

/** No token is longer: its response has at most 1 MiB. A longer text would delay the caller past its deadline. */
const maxLength = 2 ** 21

/** The version of the stored format, of the encryption and the record together. */
const version = "1"

const checkKey = (field: string, key: UncheckedKey | undefined) =>
  ConfigErrors.all({
    id: typeof key?.id === "string" && /^[\w-]{1,64}$/.test(key.id)
      ? Either.right(key.id)
      : Either.left(
        ConfigError.InvalidData([field, "id"], "should be a name of 1 to 64 letters, digits, hyphens and underscores")
      ),
    bytes: checkBytes([field, "key"], key?.key)
  })

const checkBytes = (path: Array<string>, key: unknown): Either.Either<Uint8Array, ConfigError.ConfigError> =>
  Option.liftPredicate(key, Redacted.isRedacted).pipe(
    Option.map(Redacted.value),
    Option.filter((text) => typeof text === "string"),
    Option.flatMap((text) => Either.getRight(Encoding.decodeBase64(text))),
    Option.filter(({ length }) => length === keyLength),
    Either.fromOption(() =>
      ConfigError.InvalidData(path, "should be 32 random bytes as base64, such as `openssl rand -base64 32` prints")
    )
  )

/** Returns the keys, with the encrypting one at the start, or one error with every invalid field. */
export const check = (
  { decryptionKey, encryptionKey }: UncheckedOptions
): Either.Either<Arr.NonEmptyReadonlyArray<Key>, ConfigError.ConfigError> =>
  Either.flatMap(
    ConfigErrors.all({
      first: checkKey("encryptionKey", encryptionKey),
      second: decryptionKey === undefined ? Either.right(undefined) : checkKey("decryptionKey", decryptionKey)
    }),
    ({ first, second }) =>
      first.id === second?.id
        ? Either.left(ConfigError.InvalidData(["decryptionKey", "id"], "should differ from the id of encryptionKey"))
        : Either.right(second === undefined ? [first] : [first, second])
  )

const importKey = ({ bytes, id }: Key) =>
  Effect.map(
    Effect.promise(() => crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"])),
    (key) => ({ id, key })
  )

const toBytes = (text: string) => new TextEncoder().encode(text)

/** The bytes of `iv` followed by those of the ciphertext, which ends with the authentication tag. */
const concat = (iv: Uint8Array, ciphertext: ArrayBuffer) => {
  const all = new Uint8Array(iv.length + ciphertext.byteLength)
  all.set(iv)
  all.set(new Uint8Array(ciphertext), iv.length)
  return all
}

/** The first key encrypts, and all decrypt. */
export const make = (keys: Arr.NonEmptyReadonlyArray<Key>): Effect.Effect<Encryption> =>
  Effect.map(
    Effect.forEach(keys, importKey),
    (keys) => {
      /** The version, the key id and the name are authenticated too: decryption fails if one of them was changed. */
      const parameters = (iv: Uint8Array, keyId: string, name: string) => ({
        name: "AES-GCM",
        iv,
        additionalData: toBytes(`${version}.${keyId}.${name}`)
      })
      const encrypt: Encryption["encrypt"] = (text, name) =>
        Effect.promise(() => {
          const [{ id, key }] = keys
          const iv = crypto.getRandomValues(new Uint8Array(ivLength))
          return crypto.subtle.encrypt(parameters(iv, id, name), key, toBytes(text)).then((ciphertext) =>
            `${version}.${id}.${Encoding.encodeBase64Url(concat(iv, ciphertext))}`
          )
        })
      const decrypt: Encryption["decrypt"] = Effect.fnUntraced(function*(text, name) {
        if (text.length > maxLength) return yield* Effect.fail("corrupt" as const)
        const [, textVersion, keyId = "", sealed = ""] = /^(\d+)\.([\w-]+)\.([\w-]+)$/.exec(text) ?? []
        if (textVersion === undefined) return yield* Effect.fail("corrupt" as const)
        if (textVersion !== version) return yield* Effect.fail("version" as const)
        const found = keys.find(({ id }) => id === keyId)
        if (found === undefined) return yield* Effect.fail("key" as const)
        const bytes = yield* Either.mapLeft(Encoding.decodeBase64Url(sealed), () => "corrupt" as const)
        const iv = bytes.slice(0, ivLength)
        const opened = yield* Effect.tryPromise({
          try: () => crypto.subtle.decrypt(parameters(iv, keyId, name), found.key, bytes.slice(ivLength)),
          // Also the case of a different key with the same id.
          catch: () => "corrupt" as const
        })
        return new TextDecoder().decode(opened)
      })
      return { encrypt, decrypt }
    }
  )
