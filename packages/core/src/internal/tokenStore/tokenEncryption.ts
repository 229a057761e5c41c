/** Encrypts stored tokens with AES-256-GCM of the Web Crypto API, which every runtime has. */
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Transport from "../wire/transport.ts"

/** Why a stored text cannot be read. */
export type Unreadable = "version" | "key" | "corrupt"

/** `name` is where the text is stored: a text that was copied from another name cannot be decrypted. */
export interface Encryption {
  readonly encrypt: (text: string, name: string) => Effect.Effect<string>
  readonly decrypt: (text: string, name: string) => Effect.Effect<string, Unreadable>
}

const keyLength = 32
const ivLength = 12

/** No token is longer: its response has at most 1 MiB. A longer text would delay the caller past its deadline. */
const maxLength = 2 ** 21

/** The version of the stored format, of the encryption and the record together. */
const version = "1"

const keyDescription = "32 random bytes as base64, such as `openssl rand -base64 32` prints"

const bytesOf = (text: string): Uint8Array => Either.getOrElse(Encoding.decodeBase64(text), () => new Uint8Array())

/** The id of a key, and its bytes as base64. */
export const Key = Schema.Struct({
  id: Schema.String.pipe(
    Schema.pattern(/^[\w-]{1,64}$/, { description: "a name of 1 to 64 letters, digits, hyphens and underscores" })
  ),
  key: Schema.RedactedFromSelf(
    Schema.String.annotations({ description: keyDescription }).pipe(
      Schema.filter((text) => bytesOf(text).length === keyLength, { description: keyDescription })
    )
  ).annotations({ description: keyDescription })
}).annotations({ description: "a key, as { id, key }" })

type Key = typeof Key.Type

const importKey = ({ id, key }: Key) =>
  Effect.map(
    Effect.promise(() =>
      crypto.subtle.importKey("raw", bytesOf(Redacted.value(key)), "AES-GCM", false, ["encrypt", "decrypt"])
    ),
    (key) => ({ id, key })
  )

const toBytes = (text: string) => new TextEncoder().encode(text)

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
            `${version}.${id}.${Encoding.encodeBase64Url(Transport.concat([iv, new Uint8Array(ciphertext)]))}`
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
