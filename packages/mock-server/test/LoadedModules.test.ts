import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

describe("The start of idv-mock serve", () => {
  it.live("loads neither the control API and its page nor the other commands", () =>
    Effect.gen(function*() {
      const { metafile } = yield* Effect.promise(() =>
        build({
          absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
          entryPoints: ["src/internal/command/main.ts", "src/internal/command/serve.ts"],
          bundle: true,
          format: "esm",
          metafile: true,
          outdir: "unused",
          packages: "external",
          platform: "node",
          write: false
        })
      )
      const loaded = new Set(Object.values(metafile.outputs).flatMap(({ entryPoint }) => entryPoint ?? []))
      for (const file of loaded) {
        for (const { kind, path } of metafile.inputs[file]?.imports ?? []) {
          if (kind === "import-statement" && path in metafile.inputs) loaded.add(path)
        }
      }
      assertTrue(loaded.has("src/internal/service/dataPlane.ts"))
      const others =
        /^src\/(ControlApi\.ts|internal\/(http|page|mcp|record|clientTest)\/(?!placeholders\.ts).*|internal\/command\/(diff|mcp|record|remoteCommands|testClient)\.ts)$/
      deepStrictEqual([...loaded].filter((path) => others.test(path)), [])
    }))
})
