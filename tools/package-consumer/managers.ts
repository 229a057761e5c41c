/** Installs the packages with pnpm and with Yarn, which place dependencies differently from npm, and runs a program. */
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import { run } from "./command.ts"
import * as Install from "./install.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tool } from "./tools.ts"

type Versions = Readonly<Record<string, string>>

interface Manager {
  readonly name: string
  readonly command: ReadonlyArray<string>
  /** The packages depend on each other, and are not on npm yet, so each manager is told where they are. */
  readonly replaced: (tarballs: Versions) => object
  /** Whether the manager installs the peers of dependencies, such as those of `@effect/platform-node`. */
  readonly installsPeers: boolean
}

const managers: ReadonlyArray<Manager> = [
  {
    name: "pnpm",
    command: ["pnpm@10.34.9", "install", "--prefer-offline", "--ignore-scripts"],
    replaced: (overrides) => ({ pnpm: { overrides } }),
    installsPeers: true
  },
  {
    name: "yarn",
    command: ["yarn@1.22.22", "install", "--non-interactive", "--no-lockfile", "--ignore-scripts"],
    replaced: (resolutions) => ({ resolutions }),
    installsPeers: false
  }
]

const separator = (word: string) => word.lastIndexOf("@")

const toVersions = (words: ReadonlyArray<string>): Versions =>
  Object.fromEntries(words.map((word) => [word.slice(0, separator(word)), word.slice(separator(word) + 1)]))

const test = Effect.fnUntraced(
  function*(home: string, packages: Packages, node: Tool, { command, installsPeers, name, replaced }: Manager) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = path.join(home, name)
    const tarballs = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]))
    const { install } = yield* Install.highest(packages)
    const dependencies = {
      ...toVersions(install.filter((word) => !word.endsWith(".tgz"))),
      ...(installsPeers ? {} : toVersions(Install.companions.map((word) => word.replace(/@(?=\d)/, "@^")))),
      ...tarballs
    }
    yield* fs.makeDirectory(folder)
    yield* fs.writeFileString(
      path.join(folder, "package.json"),
      JSON.stringify({ private: true, type: "module", dependencies, ...replaced(tarballs) })
    )
    yield* fs.copyFile(path.join(Install.template, "main.ts"), path.join(folder, "main.ts"))
    yield* run(folder, "npx", "-y", ...command)
    // This Node runs TypeScript itself.
    const printed = yield* run(folder, node.path, "--no-warnings", "main.ts")
    if (!printed.endsWith(" Ada: No, Zoë: Potential match\n")) {
      return yield* new Unexpected({ message: `the program printed ${JSON.stringify(printed)}` })
    }
  },
  (self, _home, _packages, _node, { name }) => step(`install with ${name}, and run`)(self)
)

export const testAll = (home: string, packages: Packages, node: Tool) =>
  Effect.forEach(managers, (manager) => test(home, packages, node, manager), {
    concurrency: "unbounded",
    discard: true
  })
