import type { AmlClient } from "@effect-idv/core"
import { Idv } from "@effect-idv/core"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Redacted } from "effect"
import { vi } from "vitest"
import * as Ada from "./support/ada.ts"
import * as OAuthServers from "./support/oauthServers.ts"
import * as Service from "./support/service.ts"

const settings: OAuthServers.Settings = { customerId: "acme-bank", customerKey: "s3cret-key_1.2", seconds: 3600 }

const provide =
  ({ url }: OAuthServers.OAuthServer, options: Partial<Idv.Options> = {}) =>
  (effect: Effect.Effect<void, unknown, AmlClient.AmlClient>) =>
    effect.pipe(
      Effect.provide(Idv.layer({
        ...Service.options,
        authUrl: url,
        baseUrl: url,
        customerId: settings.customerId,
        customerKey: Redacted.make(settings.customerKey),
        ...options
      })),
      Effect.provide(NodeHttpClient.layerUndici)
    )

const servers = [
  ["oidc-provider, which is certified", OAuthServers.oidcProvider],
  ["oauth2-mock-server", OAuthServers.oauth2MockServer]
] as const

describe.each(servers)("Against %s", (_, start) => {
  it.scopedLive("acquires a token once and uses it", () =>
    Effect.gen(function*() {
      const server = yield* start(settings)
      yield* Effect.gen(function*() {
        deepStrictEqual(
          yield* Effect.replicateEffect(Ada.result, 5, { concurrency: "unbounded" }),
          Array(5).fill("No")
        )
        strictEqual(server.issued.length, 1)
      }).pipe(provide(server))
    }))

  it.scopedLive("a wrong key is rejected with its code, and not sent again", () =>
    Effect.gen(function*() {
      const server = yield* start(settings)
      yield* Effect.gen(function*() {
        const errors = yield* Effect.replicateEffect(Effect.flip(Ada.result), 5)
        for (const error of errors) {
          assert.deepInclude(error, { _tag: "TokenRejected", status: 401, code: "invalid_client" })
        }
        strictEqual(server.issued.length, 0)
      }).pipe(provide(server, { customerKey: Redacted.make("wrong") }))
    }))

  it.scopedLive("an expiring token is replaced before it expires", () =>
    Effect.gen(function*() {
      const server = yield* start(settings)
      const wallClock = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(Date, "now")),
        (wallClock) => Effect.sync(() => wallClock.mockRestore())
      )
      yield* Effect.gen(function*() {
        strictEqual(yield* Ada.result, "No")
        const later = Date.now() + settings.seconds * 1000
        wallClock.mockReturnValue(later)
        strictEqual(yield* Ada.result, "No")
        strictEqual(server.issued.length, 2)
        deepStrictEqual(server.rejected, [])
      }).pipe(provide(server))
    }))

  it.scopedLive("a token that the server revokes is replaced after a 401", () =>
    Effect.gen(function*() {
      const server = yield* start(settings)
      yield* Effect.gen(function*() {
        strictEqual(yield* Ada.result, "No")
        yield* server.forget
        strictEqual(yield* Ada.result, "No")
        strictEqual(server.issued.length, 2)
      }).pipe(provide(server))
    }))
})

describe("Against oidc-provider, which decodes id and key as in RFC 6749", () => {
  it.scopedLive("a key with % and + is accepted with the rfc6749 encoding, and rejected with the plain one", () =>
    Effect.gen(function*() {
      const customerKey = "50%+2B= & :x"
      const server = yield* OAuthServers.oidcProvider({ ...settings, customerKey })
      const options = { customerKey: Redacted.make(customerKey) }
      yield* Effect.map(Ada.result, (matchFound) => strictEqual(matchFound, "No")).pipe(
        provide(server, { ...options, basicEncoding: "rfc6749" })
      )
      yield* Effect.map(Effect.flip(Ada.result), ({ _tag }) => strictEqual(_tag, "TokenRejected")).pipe(
        provide(server, options)
      )
    }))
})
