import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { build, type BuildOptions } from "esbuild"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

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

/** Bundles a program of this folder, without the mock server, which belongs to no program in production. */
const bundle = (program: string, options: BuildOptions = {}) =>
  Effect.promise(() =>
    build({
      stdin: {
        contents: program,
        loader: "ts",
        resolveDir: fileURLToPath(new URL("../../examples/src", import.meta.url))
      },
      bundle: true,
      external: ["@effect-idv/mock-server"],
      format: "esm",
      metafile: true,
      platform: "node",
      write: false,
      ...options
    })
  )

describe("A deep import of the client", () => {
  /** All modules that Node would load, those of packages included. */
  const loadedByNode = (modules: ReadonlyArray<string>) =>
    Effect.map(
      bundle(modules.map((name) => `import "${name}"`).join("\n"), { ignoreAnnotations: true }),
      ({ metafile }) => Object.keys(metafile?.inputs ?? {})
    )

  it.live("loads little more than the modules of Effect that every client loads, and nothing of other parts", () =>
    Effect.gen(function*() {
      const client = yield* loadedByNode(["@effect-idv/core/AmlClient", "@effect-idv/core/TokenProvider"])
      const effect = yield* loadedByNode(["effect/Effect", "effect/Schema", "@effect/platform/HttpClient"])
      assertTrue(client.some((path) => path.endsWith("core/src/AmlClient.ts")))
      const others =
        /\/(HttpApi\w*|HttpServer\w*|HttpRouter|Multipart|OpenApi|JSONSchema|IdvApi|IdvHttp|Screening|WebError|TokenStore\w*|tokenStore\/.*|screening\/.*)\.(ts|js)$/
      deepStrictEqual(client.filter((path) => others.test(path)), [])
      assertTrue(client.length <= 1.15 * effect.length, `${client.length} modules, ${effect.length} of Effect`)
    }))
})

describe("A bundle", () => {
  it.live("of the quickstart contains no library for tests", () =>
    Effect.gen(function*() {
      const { metafile } = yield* bundle("import \"./quickstart.ts\"")
      const paths = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
        Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path)
      )
      assertTrue(paths.some((path) => path.endsWith("core/src/Person.ts")))
      deepStrictEqual(paths.filter((path) => /fast-check|pure-rand|FastCheck|Arbitrary\.js/.test(path)), [])
    }))

  it.live("of the first program of the documents, over fetch and with deep imports, has at most 400 kB, or 135 kB compressed", () =>
    Effect.gen(function*() {
      const page = readFileSync(new URL("../../../docs/getting-started.md", import.meta.url), "utf8")
      const [, program = ""] = /^```ts\n([^]*?)^```$/m.exec(page) ?? []
      const withDeepImports = program.replaceAll(
        /^import \{ (.*) \} from "(.*)"$/gm,
        (_, names: string, from: string) =>
          names.split(", ").map((name) => `import * as ${name} from "${from}/${name}"`).join("\n")
      )
      const overFetch = withDeepImports
        .replace("NodeHttpClient.layerUndici", "FetchHttpClient.layer")
        .replace(
          "NodeHttpClient from \"@effect/platform-node/NodeHttpClient\"",
          "FetchHttpClient from \"@effect/platform/FetchHttpClient\""
        )
      const { outputFiles } = yield* bundle(overFetch, { minify: true })
      const bytes = outputFiles?.[0]?.contents ?? new Uint8Array()
      const sizes = [bytes.length, gzipSync(bytes, { level: 9 }).length] as const
      assertTrue(bytes.length > 100_000 && sizes[0] <= 400_000 && sizes[1] <= 135_000, sizes.join(", "))
    }))
})
