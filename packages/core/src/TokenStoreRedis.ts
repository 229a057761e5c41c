/**
 * Stores the shared token in Redis or Valkey, over `ioredis`. The process that leads holds a key with a time to live,
 * and renews it. If the process dies, the key expires within two seconds.
 *
 * Every command and script uses one key, so a cluster works too. The server needs a version of 2.6.12 or later, and the
 * commands `GET`, `SET`, `DEL`, `PEXPIRE` and `EVAL` for keys that begin with `idv-token-`, and `INFO`.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Cluster, Redis, type RedisOptions } from "ioredis"
import * as OptionSchemas from "./internal/schema/options.ts"
import * as Lead from "./internal/tokenStore/lead.ts"
import * as RedisUrl from "./internal/tokenStore/redisUrl.ts"
import * as SharingOptions from "./internal/tokenStore/sharingOptions.ts"
import * as TokenSharing from "./TokenSharing.ts"
import type { TokenStore } from "./TokenStore.ts"

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends TokenSharing.Options {
  /**
   * The address, such as `redis://host:6379/0`, or `rediss://` for TLS. A URL with a user name or a password must be
   * `Redacted`.
   */
  readonly url: string | Redacted.Redacted<string>
}

/**
 * The options of the client that {@link make} creates, for a client of your own. Without a connection a command fails
 * at once: if the client sent it later, it could take a lead that nobody uses any more. A connection whose server gives
 * no reply for 2 s is replaced.
 *
 * @category constants
 * @since 0.1.0
 */
export const clientOptions = {
  autoResendUnfulfilledCommands: false,
  connectTimeout: Lead.patienceMillis,
  disableClientInfo: true,
  enableOfflineQueue: false,
  // Up to an hour passes between two commands, and a firewall may drop an idle connection without a word.
  keepAlive: 30_000,
  maxRetriesPerRequest: 0,
  // After a failover the connection may lead to a server that has become a replica.
  reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  socketTimeout: Lead.patienceMillis
} as const satisfies RedisOptions

const decodeValue = Schema.decodeUnknown(Schema.NullOr(Schema.String))
const decodeStored = Schema.decodeUnknown(Schema.NullOr(Schema.Literal("OK")))
const decodeChanged = Schema.decodeUnknown(Schema.Literal(0, 1))

/** Runs the command if the value is still the first argument. Returns 1 if it was, otherwise 0. */
const ifUnchanged = (command: string) =>
  `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end redis.call(${command}) return 1`

const replaceScript = ifUnchanged(`"SET", KEYS[1], ARGV[2], "PX", ARGV[3]`)
const deleteScript = ifUnchanged(`"DEL", KEYS[1]`)
const renewScript = ifUnchanged(`"PEXPIRE", KEYS[1], ARGV[2]`)

const toMillis = (ttl: Duration.Duration) => Math.max(1, Math.ceil(Duration.toMillis(ttl)))

/**
 * Makes the store over a client of yours, such as one of a cluster or with Sentinel. Create it with
 * {@link clientOptions}, listen to its errors, and close it yourself.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 * import * as TokenSharing from "@effect-idv/core/TokenSharing"
 * import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
 * import { Config, Effect } from "effect"
 * import { Redis } from "ioredis"
 *
 * const sentinels = [{ host: "10.0.0.1", port: 26379 }, { host: "10.0.0.2", port: 26379 }]
 *
 * const client = Effect.acquireRelease(
 *   Effect.sync(() => new Redis({ ...TokenStoreRedis.clientOptions, sentinels, name: "main" }).on("error", () => {})),
 *   (client) => Effect.sync(() => client.disconnect())
 * )
 *
 * const encryptionKey = { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }
 *
 * Idv.layerEnv({
 *   sharing: Effect.flatMap(client, (client) =>
 *     TokenSharing.makeConfig(TokenStoreRedis.makeStore(client), { encryptionKey }))
 * })
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeStore = (client: Redis | Cluster): TokenStore => {
  const run = (script: string, name: string, ...values: ReadonlyArray<string | number>) =>
    Effect.tryPromise(() => client.eval(script, 1, name, ...values)).pipe(
      Effect.flatMap(decodeChanged),
      Effect.map((changed) => changed === 1)
    )

  const putFirst = (name: string, value: string, ttl: Duration.Duration) =>
    Effect.tryPromise(() => client.set(name, value, "PX", toMillis(ttl), "NX")).pipe(
      Effect.flatMap(decodeStored),
      Effect.map((stored) => stored === "OK")
    )

  const tryLead: TokenStore["tryLead"] = (name, ttl) =>
    Lead.hold(ttl, (owner) => {
      const lock = `${name}-lead`
      return {
        begin: putFirst(lock, owner, ttl),
        renew: run(renewScript, lock, owner, toMillis(ttl)),
        end: run(deleteScript, lock, owner)
      }
    })

  return {
    read: (name) =>
      Effect.tryPromise(() => client.get(name)).pipe(
        Effect.flatMap(decodeValue),
        Effect.map(Option.fromNullable)
      ),
    compareAndPut: ({ name, next, previous, ttl }) =>
      Option.match(previous, {
        onNone: () => putFirst(name, next, ttl),
        onSome: (previous) => run(replaceScript, name, previous, next, toMillis(ttl))
      }),
    compareAndDelete: (name, value) => run(deleteScript, name, value),
    tryLead
  }
}

/** The error code of Node.js, or the code in an error of Redis, such as `WRONGPASS`. The rest may be a secret. */
const codeOf = (error: unknown): string | undefined => {
  if (Cause.isUnknownException(error)) return codeOf(error.error)
  const code = Predicate.hasProperty(error, "code") ? error.code : undefined
  if (typeof code === "string") return code
  return error instanceof Error ? /(?:^|: )([A-Z]{3,}) /.exec(error.message)?.[1] : undefined
}

const warnUnavailable = (code: string | undefined) =>
  Effect.logWarning("The Redis server of the token store is not available yet", { code })

/** Connects, and reconnects by itself. A server that is down does not prevent the start. */
const connect = (address: RedisUrl.RedisAddress) =>
  Effect.gen(function*() {
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => new Redis({ ...clientOptions, ...address, lazyConnect: true })),
      (client) => Effect.sync(() => client.disconnect())
    )
    let lastError: unknown
    // Without a listener the client prints its errors. If an error makes a command fail, that is counted and logged.
    client.on("error", (error: unknown) => {
      lastError = error
    })
    yield* Lead.warmUp(Effect.tryPromise(() => client.connect()), makeStore(client), (error) =>
      warnUnavailable(codeOf(lastError) ?? codeOf(error)))
    return client
  })

const check = (options: Partial<Options>) =>
  OptionSchemas.all({ address: RedisUrl.check(options.url), sharing: SharingOptions.check(options) })

/**
 * Shares tokens in Redis: the option `sharing` of the client. It does not fail if the server is down. `ConfigError` names
 * every invalid option, and contains no value.
 *
 * @example
 * import { Idv } from "@effect-idv/core"
 * import * as TokenStoreRedis from "@effect-idv/core/TokenStoreRedis"
 * import { Config } from "effect"
 *
 * Idv.layerEnv({
 *   sharing: TokenStoreRedis.makeConfig({
 *     url: Config.redacted("REDIS_URL"),
 *     encryptionKey: { id: Config.string("TOKEN_KEY_ID"), key: Config.redacted("TOKEN_KEY") }
 *   })
 * })
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, Scope.Scope> =>
  Effect.gen(function*() {
    const { address } = yield* check(options)
    return yield* TokenSharing.make(makeStore(yield* connect(address)), options)
  })

/**
 * {@link make} with options from `Config`. `ConfigError` names every missing or invalid option, and contains no value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeConfig = (
  config: Config.Config.Wrap<Options>
): Effect.Effect<TokenSharing.Sharing, ConfigError.ConfigError, Scope.Scope> =>
  Effect.flatMap(OptionSchemas.load(config, check), make)
