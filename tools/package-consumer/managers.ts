/** Installs the packages with pnpm, which hides dependencies that a package does not name, and with Yarn, and runs a program. */
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import * as BehindProxy from "./behindProxy.ts"
import { run } from "./command.ts"
import * as Install from "./install.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tool } from "./tools.ts"

type Versions = Readonly<Record<string, string>>

interface Manager {
  readonly name: string
  readonly command: ReadonlyArray<string>
  /** The settings in package.json that replace packages: ours depend on each other, and are not on npm yet. */
  readonly replacing: (tarballs: Versions) => object
  /** Packages that the user adds beside the install lines of the READMEs. */
  readonly added: Versions
  /** The settings file. */
  readonly settings: Versions
}

const pnpm: Manager = {
  name: "pnpm",
  command: ["pnpm@10.34.9", "install", "--prefer-offline", "--ignore-scripts"],
  replacing: (tarballs) => ({ pnpm: { overrides: tarballs } }),
  added: {},
  settings: {}
}

/** Optional packages of other platforms. Yarn resolves them too, and a mirror of npm may lack their newest version. */
const otherPlatforms = ["darwin-arm64", "darwin-x64", "linux-arm", "win32-x64"].map((platform) => [
  `@msgpackr-extract/msgpackr-extract-${platform}`,
  "3.0.4"
])

const yarn: Manager = {
  name: "Yarn",
  command: ["@yarnpkg/cli-dist@4.18.1", "install"],
  replacing: (tarballs) => ({ resolutions: { ...tarballs, ...Object.fromEntries(otherPlatforms) } }),
  // Yarn does not install the peers of a peer.
  added: { "@effect/cluster": "0.60", "@effect/rpc": "0.76" },
  settings: {
    ".yarnrc.yml": "nodeLinker: node-modules\nenableImmutableInstalls: false\nenableScripts: false\n",
    "yarn.lock": ""
  }
}

const separator = (word: string) => word.lastIndexOf("@")

const testWith = (folder: string, packages: Packages, node: Tool) =>
  Effect.fnUntraced(function*({ added, command, name, replacing, settings }: Manager) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const project = path.join(folder, name)
    const tarballs = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]))
    const { install } = yield* Install.highest(packages)
    const peers = install.filter((word) => !word.endsWith(".tgz")).map((word) => [
      word.slice(0, separator(word)),
      word.slice(separator(word) + 1)
    ])
    const manifest = {
      private: true,
      type: "module",
      dependencies: { ...Object.fromEntries(peers), ...added, ...tarballs },
      ...replacing(tarballs)
    }
    yield* fs.makeDirectory(project, { recursive: true })
    for (const [file, text] of Object.entries({ ...settings, "package.json": JSON.stringify(manifest) })) {
      yield* fs.writeFileString(path.join(project, file), text)
    }
    yield* fs.copyFile(path.join(Install.template, "main.ts"), path.join(project, "main.ts"))
    yield* run(project, "npx", "-y", ...command)
    // This Node runs TypeScript itself.
    const printed = yield* run(project, node.path, "--no-warnings", "main.ts")
    if (!printed.endsWith(" Ada: No, Zoë: Potential match\n")) {
      return yield* new Unexpected({ message: `the program printed ${JSON.stringify(printed)}` })
    }
    yield* BehindProxy.test(project, node, name)
  }, (self, { name }) => step(`install with ${name}, and run`)(self))

export const test = (folder: string, packages: Packages, node: Tool) =>
  Effect.forEach([pnpm, yarn], testWith(folder, packages, node), { discard: true })
