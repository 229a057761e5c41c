/** A project outside the workspace, installed by npm as its user would. */
import { FileSystem, Path } from "@effect/platform"
import { Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { run } from "./command.ts"
import type { Packages } from "./packages.ts"
import { step, Unexpected } from "./step.ts"

const template = fileURLToPath(new URL("./project", import.meta.url))

/** What is installed, and how. */
export interface Versions {
  readonly label: string
  readonly install: ReadonlyArray<string>
  /** Whether vitest, an optional peer, is there. */
  readonly vitest: boolean
}

/**
 * What `@effect/platform-node` stands on. With the lowest of the peers npm would still take the newest
 * of these, which need a newer `effect`: it then refuses to install.
 */
const companions = [
  "@effect/cluster@0.60.0",
  "@effect/experimental@0.61.0",
  "@effect/platform-node-shared@0.61.0",
  "@effect/rpc@0.76.0",
  "@effect/sql@0.52.0",
  "@effect/workflow@0.19.0"
]

/** The lower end of each range of peers. */
export const lowest = ({ core, mock }: Packages): Versions => ({
  label: "lowest",
  install: [
    "--save-exact",
    core.tarball,
    mock.tarball,
    ...Object.entries({ ...core.peers, ...mock.peers }).map(([name, range]) => `${name}@${range.replace("^", "")}`),
    ...companions
  ],
  vitest: true
})

/** The lines of the READMEs, with the tarballs for the names: the upper end, and no vitest. */
export const highest = ({ core, mock }: Packages) =>
  Effect.forEach([core, mock], ({ name, readme, tarball }) => {
    const words = /^npm install (.+)$/m.exec(readme)?.[1]?.split(" ").filter((word) => !word.startsWith("-")) ?? []
    return words.includes(name)
      ? Effect.succeed(words.map((word) => word === name ? tarball : word))
      : new Unexpected({ message: `The README of ${name} has no line "npm install"` })
  }).pipe(Effect.map((lines): Versions => ({ label: "highest", install: lines.flat(), vitest: false })), step("README"))

const VersionOf = Schema.parseJson(Schema.Struct({ version: Schema.String }))

export interface Project {
  readonly folder: string
  readonly effect: string
  readonly vitest: boolean
}

export const make = Effect.fnUntraced(
  function*(folder: string, packages: Packages, { install, vitest }: Versions) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.copy(template, folder)
    // What the READMEs show is compiled too.
    for (const [index, { readme }] of [packages.core, packages.mock].entries()) {
      const code = /^```ts\n(.*?)^```/ms.exec(readme)?.[1]
      if (code === undefined) return yield* new Unexpected({ message: "a README shows no code" })
      yield* fs.writeFileString(path.join(folder, `readme-${index}.ts`), code)
    }
    yield* run(folder, "npm", "install", "--no-audit", "--no-fund", ...install)
    // npm only warns of a peer that is of no use; this fails.
    yield* run(folder, "npm", "ls", "--all")
    const manifest = yield* fs.readFileString(path.join(folder, "node_modules", "effect", "package.json"))
    const { version } = yield* Schema.decode(VersionOf)(manifest)
    return { folder, effect: version, vitest }
  },
  (self, _folder, _packages, { label }) => step(`install with the ${label} versions`)(self)
)
