/** Installs a project outside the workspace with npm, as a user does. */
import { FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { run } from "./command.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"

export const template = fileURLToPath(new URL("./project", import.meta.url))

/** The packages to install. */
export interface Versions {
  readonly label: string
  readonly install: ReadonlyArray<string>
  /** Whether the optional peers, such as vitest and ioredis, are there. */
  readonly optionalPeers: boolean
}

/**
 * The peers of `@effect/platform-node`. Beside the lowest peers of our packages, npm would choose the newest of these,
 * which require a newer `effect`, and the installation would fail.
 */
const companions = [
  "@effect/cluster@0.60.0",
  "@effect/experimental@0.61.0",
  "@effect/platform-node-shared@0.61.0",
  "@effect/rpc@0.76.0",
  "@effect/sql@0.52.0",
  "@effect/workflow@0.19.0"
]

/** The lowest version of each peer. */
export const lowest = (packages: Packages): Versions => ({
  label: "lowest",
  install: [
    "--save-exact",
    ...packages.map(({ tarball }) => tarball),
    ...Object.entries(Object.assign({}, ...packages.map(({ peers }) => peers))).map(([name, range]) =>
      `${name}@${String(range).replace("^", "")}`
    ),
    ...companions
  ],
  optionalPeers: true
})

/** What the page of the recipes says to install for the recipe of Fastify. */
const recipe = ["fastify@5", "pino@10", "undici@7"]

/** The install lines of the READMEs, with tarballs for the names: the newest peers, without the optional ones. */
export const highest = (packages: Packages) => {
  const tarballs = new Map(packages.map(({ name, tarball }) => [name, tarball]))
  return Effect.forEach(packages, ({ name, readme }) => {
    const words = /^npm install (.+)$/m.exec(readme)?.[1]?.split(" ").filter((word) => !word.startsWith("-")) ?? []
    return words.includes(name)
      ? Effect.succeed(words.map((word) => tarballs.get(word) ?? word))
      : new Unexpected({ message: `The README of ${name} has no line "npm install"` })
  }).pipe(
    Effect.map((lines): Versions => ({
      label: "highest",
      install: [...new Set([...lines.flat(), ...recipe])],
      optionalPeers: false
    })),
    step("README")
  )
}

const VersionOf = Schema.parseJson(Schema.Struct({ version: Schema.String }))

export interface Project {
  readonly folder: string
  readonly effect: string
  readonly optionalPeers: boolean
}

export const make = Effect.fnUntraced(
  function*(folder: string, packages: Packages, { install, optionalPeers }: Versions) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.copy(template, folder)
    // The code of the READMEs is compiled too.
    for (const [index, { readme }] of packages.entries()) {
      const code = /^```ts\n(.*?)^```/ms.exec(readme)?.[1]
      if (code === undefined) return yield* new Unexpected({ message: "a README has no TypeScript code" })
      yield* fs.writeFileString(path.join(folder, `readme-${index}.ts`), code)
    }
    yield* run(folder, "npm", "install", "--no-audit", "--no-fund", ...install)
    // npm install only warns about an unsuitable peer; this command fails.
    yield* run(folder, "npm", "ls", "--all")
    const manifest = yield* fs.readFileString(path.join(folder, "node_modules", "effect", "package.json"))
    const { version } = yield* Schema.decode(VersionOf)(manifest)
    return { folder, effect: version, optionalPeers }
  },
  (self, _folder, _packages, { label }) => step(`install with the ${label} versions`)(self)
)
