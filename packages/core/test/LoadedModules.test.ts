import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

/** The files that an import loads. */
const loadedBy = (module: string) =>
  Effect.promise(() =>
    build({
      entryPoints: [fileURLToPath(new URL(`../src/${module}.ts`, import.meta.url))],
      bundle: true,
      // Keeps the imports whose results nothing uses.
      treeShaking: false,
      format: "esm",
      metafile: true,
      packages: "external",
      platform: "node",
      write: false
    }).then(({ metafile }) =>
      Object.entries(metafile.inputs).flatMap(([path, { imports }]) => [
        path.replace(/^.*src\//, ""),
        ...imports.filter(({ external }) => external === true).map(({ path }) => path)
      ])
    )
  )

const ofSharing = /^(TokenStore\w*\.ts|TokenSharing\.ts|internal\/tokenStore\/.*)$/

describe("The index of core", () => {
  it.live("loads neither the token stores, nor their encryption, nor the transport over Undici, nor optional peers", () =>
    Effect.gen(function*() {
      const loaded = yield* loadedBy("index")
      assertTrue(loaded.includes("TokenProvider.ts"))
      deepStrictEqual(
        loaded.filter((name) => ofSharing.test(name) || /^(IdvHttp\.ts|ioredis|undici|@effect\/sql)/.test(name)),
        []
      )
    }))

  it.live("is loaded without the peers of one store by the other", () =>
    Effect.gen(function*() {
      const [sql, redis] = [yield* loadedBy("TokenStoreSql"), yield* loadedBy("TokenStoreRedis")]
      assertTrue(sql.some((name) => name.startsWith("@effect/sql")) && redis.includes("ioredis"))
      assertTrue(!sql.includes("ioredis") && !redis.some((name) => name.startsWith("@effect/sql")))
    }))
})

/** The packages in a bundle, with their sizes. The mock server belongs to no program in production. */
const bundled = (program: string) =>
  Effect.promise(() =>
    build({
      entryPoints: [fileURLToPath(new URL(`../../examples/src/${program}.ts`, import.meta.url))],
      bundle: true,
      external: ["@effect-idv/mock-server"],
      format: "esm",
      metafile: true,
      platform: "node",
      write: false
    }).then(({ metafile }) =>
      Object.values(metafile.outputs).flatMap(({ inputs }) =>
        Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
      )
    )
  )

describe("A bundle of the quickstart", () => {
  it.live("contains no library for tests", () =>
    Effect.gen(function*() {
      const paths = yield* bundled("quickstart")
      assertTrue(paths.some((path) => path.endsWith("core/src/Person.ts")))
      deepStrictEqual(paths.filter((path) => /fast-check|pure-rand|FastCheck|Arbitrary\.js/.test(path)), [])
    }))
})
