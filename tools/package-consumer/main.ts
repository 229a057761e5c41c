/** Tests the published packages as a user has them: installs them with npm, compiles a program, and runs it. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import Table from "cli-table3"
import { Array as Arr, Cause, Console, Data, Duration, Effect } from "effect"
import { parseArgs } from "node:util"
import * as Effect4 from "./effect4.ts"
import * as Install from "./install.ts"
import * as Managers from "./managers.ts"
import * as Npx from "./npx.ts"
import * as Packages from "./packages.ts"
import * as Project from "./project.ts"
import * as Tools from "./tools.ts"

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const options = Effect.try({
  try: () =>
    parseArgs({
      options: {
        all: { type: "boolean", default: false },
        keep: { type: "boolean", default: false },
        tarballs: { type: "string" }
      }
    }).values,
  catch: () =>
    new UsageError({
      message: "Usage: package-consumer [--all] [--keep] [--tarballs <folder of a release, instead of a build>]"
    })
})

const folder = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const name = { prefix: "package-consumer-" }
  if (!(yield* options).keep) return yield* fs.makeTempDirectoryScoped(name)
  const kept = yield* fs.makeTempDirectory(name)
  yield* Console.log(`Kept: ${kept}`)
  return kept
})

/** The message of a failure. */
const messageOf = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

const testWith = Effect.fnUntraced(
  function*(home: string, packages: Packages.Packages, tools: Tools.Tools, versions: Install.Versions) {
    const path = yield* Path.Path
    const project = yield* Install.make(path.join(home, versions.label), packages, versions)
    return yield* Project.test(project, packages, tools)
  }
)

const packageConsumer = Effect.gen(function*() {
  const path = yield* Path.Path
  const home = yield* folder
  const { all, tarballs } = yield* options
  const make = tarballs === undefined ? Packages.make(home) : Packages.readAll(path.resolve(tarballs))
  const [packages, tools] = yield* Effect.all([make, Tools.make(all)], { concurrency: "unbounded" })
  const [lowest, highest] = yield* Effect.all([
    testWith(home, packages, tools, Install.lowest(packages)),
    Effect.flatMap(Install.highest(packages), (versions) => testWith(home, packages, tools, versions)),
    Npx.test(path.join(home, "empty"), packages),
    Arr.matchRight(tools.otherNodes, {
      onEmpty: () => Effect.void,
      // It runs TypeScript itself.
      onNonEmpty: (_, newest) => Managers.test(path.join(home, "managers"), packages, newest)
    }),
    Effect4.test(path.join(home, "effect-4"), Packages.effect4Beside(packages[0]), tools),
    Effect.forEach(packages, (each) => Packages.judge(each, all), { concurrency: "unbounded", discard: true })
  ], { concurrency: "unbounded" })

  const table = new Table({
    head: ["effect", "compiled by", ...[tools.node, ...tools.otherNodes].map(({ version }) => `Node ${version}`)],
    style: { head: [], border: [] }
  })
  table.push(lowest, highest)
  yield* Console.log(table.toString())
})

packageConsumer.pipe(
  Effect.scoped,
  Effect.timed,
  Effect.flatMap(([duration]) =>
    Console.log(`The packages can be used. It took ${Math.round(Duration.toSeconds(duration))} s.`)
  ),
  Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(messageOf(cause))),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
