/** Installs the package for Effect 4 by the line of its page in empty folders, and runs the program of the page. */
import * as TestServer from "@effect-idv/mock-server/TestServer"
import { FileSystem, Path } from "@effect/platform"
import { Effect } from "effect"
import { run } from "./command.ts"
import { root } from "./packages.ts"
import { step, Unexpected } from "./step.ts"
import type { Tools } from "./tools.ts"

interface Manager {
  readonly name: string
  /** What replaces `npm install` in the line of the page. */
  readonly add: string
  readonly files: Readonly<Record<string, string>>
}

const npm: Manager = { name: "npm", add: "npm install --loglevel=warn --no-audit --no-fund", files: {} }

const others: ReadonlyArray<Manager> = [
  { name: "pnpm", add: "npx -y pnpm@10.34.9 add --prefer-offline", files: {} },
  {
    name: "Yarn",
    add: "npx -y @yarnpkg/cli-dist@4.18.1 add",
    files: { ".yarnrc.yml": "nodeLinker: node-modules\nenableImmutableInstalls: false\n", "yarn.lock": "" }
  }
]

const compilerOptions = {
  strict: true,
  target: "ES2022",
  module: "NodeNext",
  types: ["node"],
  outDir: "out"
}

const unexpected = (message: string) => new Unexpected({ message })

/** Returns the match of a pattern in the page. */
const find = (page: string, pattern: RegExp) =>
  Effect.mapError(
    Effect.fromNullable(pattern.exec(page)?.[1]),
    () => unexpected(`docs/effect-4.md has no ${pattern}`)
  )

export const test = Effect.fnUntraced(
  function*(home: string, tarball: string, { isAll, node, otherTypescripts, typescript }: Tools) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const page = yield* fs.readFileString(path.join(root, "docs", "effect-4.md"))
    const program = yield* find(page, /^```ts\n(.*?)^```/ms)
    const line = yield* find(page, /^npm install (.+)$/m)

    const install = Effect.fnUntraced(function*({ add, files, name }: Manager, from: string, to: string) {
      const folder = path.join(home, name)
      yield* fs.makeDirectory(folder, { recursive: true })
      const all = { ...files, "package.json": "{\"type\":\"module\"}", "main.ts": program }
      for (const [file, text] of Object.entries(all)) yield* fs.writeFileString(path.join(folder, file), text)
      const words = line.replace(from, to).replace("@effect-idv/effect-4", `@effect-idv/effect-4@file:${tarball}`)
      const printed = yield* run(folder, "sh", "-c", `${add} ${words} 2>&1`)
      return { folder, printed }
    })

    const server = yield* Effect.acquireRelease(
      Effect.promise(() => TestServer.start()),
      (server) => Effect.promise(() => server.close())
    )
    const session = yield* Effect.promise(() => server.session())
    const variables = [
      `IDV_AUTH_URL=${server.url}`,
      `IDV_BASE_URL=${server.url}`,
      `IDV_CUSTOMER_ID=${session.customerId}`,
      `IDV_CUSTOMER_KEY=${session.customerKey}`
    ]
    const start = (folder: string, ...command: ReadonlyArray<string>) =>
      run(folder, "env", ...variables, ...command).pipe(
        Effect.filterOrFail(
          (printed) => printed.includes(" clear\n"),
          (printed) => unexpected(`the program printed ${JSON.stringify(printed)}`)
        )
      )

    const installed = (manager: Manager) =>
      Effect.flatMap(install(manager, "", ""), ({ folder, printed }) =>
        // pnpm, which runs this, sets variables that npm does not know.
        /\bwarn(?! Unknown env config)|ERESOLVE|YN0002|YN0060/i.test(printed)
          ? unexpected(`${manager.add} printed ${printed}`)
          : Effect.succeed(folder)).pipe(step(`Effect 4: install with ${manager.name} without a warning`))

    const folder = yield* installed(npm)
    yield* run(folder, "npm", "ls", "--all")
    yield* run(folder, "npm", "install", "--no-audit", "--no-fund", "--save-dev", "@types/node@20")
    yield* fs.writeFileString(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }))
    for (const { path: compiler, version } of [typescript, ...otherTypescripts]) {
      // A public declaration with a type of Effect 3 would import a package that is not there. With 5.9, that takes a minute.
      yield* run(folder, compiler, "--skipLibCheck", String(!version.startsWith("7."))).pipe(
        step(`Effect 4: compile with TypeScript ${version}`)
      )
    }
    const compiled = path.join(folder, "out", "main.js")
    yield* start(folder, node.path, compiled).pipe(step("Effect 4: run"))

    const runWith = (manager: Manager) =>
      Effect.gen(function*() {
        const folder = yield* installed(manager)
        yield* fs.copyFile(compiled, path.join(folder, "main.js"))
        yield* start(folder, node.path, "main.js")
      }).pipe(step(`Effect 4: run with ${manager.name}`))
    if (isAll) yield* Effect.forEach(others, runWith, { discard: true })

    const wrong = { ...npm, name: "effect-3", add: `${npm.add} --legacy-peer-deps` }
    yield* install(wrong, "effect ", "effect@3 ").pipe(
      Effect.tap(({ folder }) => fs.copyFile(compiled, path.join(folder, "main.js"))),
      Effect.flatMap(({ folder }) =>
        Effect.mapError(Effect.flip(run(folder, node.path, "main.js")), () => unexpected("the program ran"))
      ),
      Effect.filterOrFail(
        ({ message }) =>
          message.includes("needs Effect 4.1 or later, but Effect 3 is installed") && !/^ +at /m.test(message),
        ({ message }) => unexpected(message)
      ),
      step("Effect 4: with Effect 3, one sentence")
    )
  },
  Effect.scoped
)
