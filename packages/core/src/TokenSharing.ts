/**
 * Shares one token between the processes that use the same credentials: the option `sharing` of the client. Make it with
 * `TokenStoreSql` or `TokenStoreRedis`, or with {@link make} over a store of your own. Without it each process has its own
 * token.
 *
 * - The store is read when a token is acquired, and not while a valid one is cached.
 * - One process leads and sends the token request. The others wait for its token, and send their own request if it does
 *   not come.
 * - The store is never the reason for a failure. If it fails or hangs, the process sends its own request, by default
 *   after at most 200 ms.
 * - Stored tokens are encrypted with AES-256-GCM. The names under which they are stored contain hashes only.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as OptionSchemas from "./internal/schema/options.ts"
import type * as Internal from "./internal/token/sharing.ts"
import * as SharedAcquisition from "./internal/tokenStore/sharedAcquisition.ts"
import * as SharingOptions from "./internal/tokenStore/sharingOptions.ts"
import * as TokenEncryption from "./internal/tokenStore/tokenEncryption.ts"
import type { TokenStore } from "./TokenStore.ts"

/**
 * How a token provider shares its token.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sharing extends Internal.Sharing {}

/**
 * A key of AES-256.
 *
 * @category models
 * @since 0.1.0
 */
export interface Key {
  /** A name for the key, of letters, digits, hyphens and underscores, such as `2026-11`. It is stored in clear text. */
  readonly id: string
  /** 32 random bytes as base64, such as `openssl rand -base64 32` prints. */
  readonly key: Redacted.Redacted<string>
}

/**
 * The options of all stores.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The key that encrypts and decrypts. All processes that share a token need it. */
  readonly encryptionKey: Key
  /**
   * A second key, which only decrypts. To rotate the keys without additional token requests, deploy three times: set it
   * to the new key, then exchange the two keys, and after an hour remove the old key.
   *
   * @default undefined
   */
  readonly decryptionKey?: Key | undefined
  /**
   * How long the operations of the store may delay a caller. After that the process sends its own request. The time in
   * which this process waits for the CPU or for the leading process does not count.
   *
   * @default "200 millis"
   */
  readonly deadline?: Duration.DurationInput | undefined
}

/**
 * Shares tokens through a store. `ConfigError` names every invalid option, and contains no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (store: TokenStore, options: Options): Effect.Effect<Sharing, ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const { deadline, decryptionKey, encryptionKey } = yield* SharingOptions.check(options)
    const keys = [encryptionKey, ...decryptionKey === undefined ? [] : [decryptionKey]] as const
    return SharedAcquisition.make({ encryption: yield* TokenEncryption.make(keys), store, deadline })
  })

/**
 * {@link make} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeConfig = (
  store: TokenStore,
  config: Config.Config.Wrap<Options>
): Effect.Effect<Sharing, ConfigError.ConfigError> =>
  Effect.flatMap(OptionSchemas.load(config, SharingOptions.check), (options) => make(store, options))
