/** A token store in memory, in the time of the `Clock`, whose operations fail, hang or return garbage on demand. */
import type { TokenProvider } from "@effect-idv/core"
import type * as TokenStore from "@effect-idv/core/TokenStore"
import { Clock, Duration, Effect, Either, Encoding, Option } from "effect"
import * as SharedAcquisition from "../../src/internal/tokenStore/sharedAcquisition.ts"
import type { Encryption } from "../../src/internal/tokenStore/tokenEncryption.ts"
import type * as Service from "./service.ts"
import * as Tokens from "./tokens.ts"

export type Operation = keyof TokenStore.TokenStore
export type Fault = "down" | "dies" | "hangs" | "garbage"

export const operations: ReadonlyArray<Operation> = ["read", "tryLead", "compareAndPut", "compareAndDelete"]
export const faults: ReadonlyArray<Fault> = ["down", "dies", "hangs", "garbage"]

const results: Record<Fault, Effect.Effect<never, Error>> = {
  down: Effect.fail(new Error("canary")),
  dies: Effect.die("canary"),
  hangs: Effect.never,
  garbage: Effect.fail(new Error("garbage"))
}

/** Several processes share the store. Each has a `connect` of its own. */
export const make = () => {
  const values = new Map<string, string>()
  const leads = new Map<string, { readonly owner: object; readonly until: number }>()
  const calls: Array<Operation> = []
  /**
   * A `connect` with faults, with a time that each operation takes before it happens, and with `die`, after which its
   * lead ends at its time to live.
   */
  const connect = (faults: { [operation in Operation]?: Fault | undefined } = {}, latencyMillis = 0) => {
    let isDead = false
    const operation = <A, R>(name: Operation, effect: Effect.Effect<A, unknown, R>, garbage: A) =>
      Effect.suspend((): Effect.Effect<A, unknown, R> => {
        calls.push(name)
        const fault = faults[name]
        if (isDead) return Effect.never
        if (fault === "garbage") return Effect.succeed(garbage)
        if (fault !== undefined) return results[fault]
        return latencyMillis === 0 ? effect : Effect.delay(effect, latencyMillis)
      })
    const replace = (name: string, previous: Option.Option<string>, next: string | undefined) =>
      Effect.sync(() => {
        if (values.get(name) !== Option.getOrUndefined(previous)) return false
        if (next === undefined) values.delete(name)
        else values.set(name, next)
        return true
      })
    const service: TokenStore.TokenStore = {
      read: (name) =>
        operation("read", Effect.sync(() => Option.fromNullable(values.get(name))), Option.some("garbage")),
      compareAndPut: ({ name, next, previous }) => operation("compareAndPut", replace(name, previous, next), false),
      compareAndDelete: (name, value) =>
        operation("compareAndDelete", replace(name, Option.some(value), undefined), false),
      tryLead: (name, ttl) =>
        operation(
          "tryLead",
          Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const lead = leads.get(name)
            if (lead !== undefined && lead.until > now) return false
            const owner = {}
            leads.set(name, { owner, until: Infinity })
            yield* Effect.addFinalizer(() =>
              Effect.gen(function*() {
                if (leads.get(name)?.owner !== owner) return
                if (!isDead) leads.delete(name)
                else leads.set(name, { owner, until: (yield* Clock.currentTimeMillis) + Duration.toMillis(ttl) })
              })
            )
            return true
          }),
          false
        )
    }
    return { service, faults, die: Effect.sync(() => isDead = true) }
  }
  return { values, leads, calls, connect }
}

export type Store = ReturnType<typeof make>

/** Hides nothing, and takes no time: the `TestClock` does not wait for the Web Crypto API. */
export const readable: Encryption = {
  encrypt: (text) => Effect.succeed(`1.readable.${Encoding.encodeBase64Url(text)}`),
  decrypt: (text) =>
    Effect.suspend(() => {
      const [version, key, sealed = ""] = text.split(".")
      if (version !== "1") return Effect.fail(sealed === "" ? "corrupt" : "version")
      return key === "readable"
        ? Either.mapLeft(Encoding.decodeBase64UrlString(sealed), () => "corrupt" as const)
        : Effect.fail("key")
    })
}

/** A provider that shares its token in the store. */
export const provider = (
  service: ReturnType<typeof Service.make>,
  store: TokenStore.TokenStore,
  options: Partial<TokenProvider.Options> = {}
) => {
  const sharing = SharedAcquisition.make({ store, encryption: readable, deadline: Duration.millis(200) })
  return Tokens.make(service, { ...options, sharing: Effect.succeed(sharing) })
}
