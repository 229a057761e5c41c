/** Installs the packages with pnpm, which hides dependencies that a package does not name, and runs a program. */
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import { run } from "./command.ts"
import * as Install from "./install.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tool } from "./tools.ts"

const separator = (word: string) => word.lastIndexOf("@")

export const test = Effect.fnUntraced(function*(folder: string, packages: Packages, node: Tool) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const tarballs = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]))
  const { install } = yield* Install.highest(packages)
  const peers = install.filter((word) => !word.endsWith(".tgz")).map((word) => [
    word.slice(0, separator(word)),
    word.slice(separator(word) + 1)
  ])
  yield* fs.makeDirectory(folder)
  yield* fs.writeFileString(
    path.join(folder, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies: { ...Object.fromEntries(peers), ...tarballs },
      // The packages depend on each other, and are not on npm yet.
      pnpm: { overrides: tarballs }
    })
  )
  yield* fs.copyFile(path.join(Install.template, "main.ts"), path.join(folder, "main.ts"))
  yield* run(folder, "npx", "-y", "pnpm@10.34.9", "install", "--prefer-offline", "--ignore-scripts")
  // This Node runs TypeScript itself.
  const printed = yield* run(folder, node.path, "--no-warnings", "main.ts")
  if (!printed.endsWith(" Ada: No, Zoë: Potential match\n")) {
    return yield* new Unexpected({ message: `the program printed ${JSON.stringify(printed)}` })
  }
}, step("install with pnpm, and run"))
