/** The files that the page loads: its style, its script, and htmx from its npm package. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { script } from "./pageScript.ts"
import { style } from "./style.ts"

export interface Asset {
  readonly contentType: string
  readonly text: string
}

export interface Assets {
  /** The path of the folder. It contains a digest of all files, so that browsers may cache them without a limit. */
  readonly path: string
  readonly files: ReadonlyMap<string, Asset>
}

const javascript = "text/javascript; charset=utf-8"

const resolve = (specifier: string) => Effect.sync(() => createRequire(import.meta.url).resolve(specifier))

const library = (specifier: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return { contentType: javascript, text: yield* fs.readFileString(yield* resolve(specifier)) }
  })

/** Dies if the htmx package is missing, which is a defect of the installation. */
export const read: Effect.Effect<Assets, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const files = new Map<string, Asset>([
    ["style.css", { contentType: "text/css; charset=utf-8", text: style }],
    ["inspector.js", { contentType: javascript, text: script }],
    ["htmx.js", yield* library("htmx.org/dist/htmx.min.js")],
    ["hx-sse.js", yield* library("htmx.org/dist/ext/hx-sse.min.js")]
  ])
  const digest = createHash("sha256")
  for (const { text } of files.values()) digest.update(text)
  return { path: `/_mock/assets/${digest.digest("hex").slice(0, 12)}`, files }
}).pipe(Effect.orDie)
