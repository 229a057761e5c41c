/**
 * The keys that encrypt people and responses in the ledger: AES-256-GCM, with a new nonce for each text. A text is
 * bound to its row, so it cannot be moved to another one unnoticed.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { EncryptionKeyError } from "./RescreeningError.ts"

/**
 * Keys with their ids. The first one encrypts; any of them decrypts.
 *
 * @category models
 * @since 0.1.0
 */
export interface EncryptionKeys {
  readonly keys: ReadonlyArray<{ readonly id: string; readonly key: Redacted.Redacted<Uint8Array> }>
}

/**
 * Parses keys from a text: `<id>:<32 bytes in base64>`, separated by commas, the newest first. To rotate, put a new key
 * first, and remove the old one once no run needs it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (text: Redacted.Redacted): Effect.Effect<EncryptionKeys, EncryptionKeyError> =>
  Effect.gen(function*() {
    const keys: Array<EncryptionKeys["keys"][number]> = []
    for (const part of Redacted.value(text).split(",")) {
      const [, id, base64] = /^\s*([\w-]{1,40}):([A-Za-z\d+/]{43}=)\s*$/.exec(part) ?? []
      if (id === undefined || base64 === undefined || keys.some((key) => key.id === id)) {
        return yield* new EncryptionKeyError({ reason: "malformed" })
      }
      keys.push({ id, key: Redacted.make(Buffer.from(base64, "base64")) })
    }
    return { keys }
  })

/**
 * Reads keys from `IDV_RESCREEN_KEY` of the current `ConfigProvider`, by default an environment variable.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEnv: Effect.Effect<EncryptionKeys, EncryptionKeyError> = Config.option(
  Config.redacted("IDV_RESCREEN_KEY")
).pipe(
  Effect.orElseSucceed(Option.none<Redacted.Redacted>),
  Effect.flatMap(Option.match({
    onNone: () => new EncryptionKeyError({ reason: "missing" }),
    onSome: make
  }))
)

/** The version of the format, the id of the key, and the nonce, tag and text in base64. */
const form = /^1\.([\w-]{1,40})\.([\w+/=]+)$/

const nonceLength = 12

/** Random bytes for many nonces, because each call of `randomBytes` takes longer than the encryption of a person. */
let pool = Buffer.alloc(0)

const nextNonce = () => {
  if (pool.length === 0) pool = randomBytes(nonceLength * 1024)
  const nonce = pool.subarray(0, nonceLength)
  pool = pool.subarray(nonceLength)
  return nonce
}

const tagLength = 16

/**
 * Encrypts a text and binds it to associated data, such as the row of the ledger that stores it.
 *
 * @category encryption
 * @since 0.1.0
 */
export const encrypt = (
  { keys }: EncryptionKeys,
  associatedData: string,
  text: string
): Effect.Effect<string, EncryptionKeyError> =>
  Effect.suspend(() => {
    const [first] = keys
    if (first === undefined) return Effect.fail(new EncryptionKeyError({ reason: "missing" }))
    const nonce = nextNonce()
    const cipher = createCipheriv("aes-256-gcm", Redacted.value(first.key), nonce).setAAD(Buffer.from(associatedData))
    const encrypted = [cipher.update(text, "utf8"), cipher.final()]
    return Effect.succeed(
      `1.${first.id}.${Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]).toString("base64")}`
    )
  })

/**
 * Decrypts a text that {@link encrypt} returned for the same associated data.
 *
 * @category encryption
 * @since 0.1.0
 */
export const decrypt = (
  { keys }: EncryptionKeys,
  associatedData: string,
  encrypted: string
): Effect.Effect<string, EncryptionKeyError> =>
  Effect.suspend(() => {
    const [, id = "", base64 = ""] = form.exec(encrypted) ?? []
    const found = keys.find((key) => key.id === id)
    if (found === undefined) return new EncryptionKeyError({ reason: "unknown_id", ...id === "" ? {} : { id } })
    return Effect.try({
      try: () => {
        const bytes = Buffer.from(base64, "base64")
        const decipher = createDecipheriv("aes-256-gcm", Redacted.value(found.key), bytes.subarray(0, nonceLength))
          .setAAD(Buffer.from(associatedData))
          .setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength))
        return decipher.update(bytes.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8")
      },
      catch: () => new EncryptionKeyError({ reason: "wrong_key", id })
    })
  })
