/** One server for test files that run at the same time. The first file starts it, and stops it after the others. */
import { Control, MockServer } from "@effect-idv/mock-server"
import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { Context, Effect, Layer, Schedule } from "effect"
import { fileURLToPath } from "node:url"

const parent = fileURLToPath(new URL("../../../../node_modules/.cache/idv-mock", import.meta.url))

/** Identifies the test run, because all its workers have the same parent. */
const folder = `${parent}/shared-${process.ppid}`

export interface Shared {
  readonly url: string
  readonly control: Control.Service
  /** Creates a session with this id, which every file can see. */
  readonly signal: (mark: string) => Effect.Effect<void>
  /** Whether another file sends this signal within the time in milliseconds. */
  readonly isSignalled: (mark: string, millis: number) => Effect.Effect<boolean>
}

const of = (url: string, control: Control.Service): Shared => ({
  url,
  control,
  signal: (mark) => Effect.orDie(control.create({ customerId: mark })),
  isSignalled: (mark, millis) =>
    isThere(control, mark).pipe(
      Effect.filterOrFail((isThere) => isThere),
      Effect.retry(Schedule.spaced("20 millis").pipe(Schedule.upTo(millis))),
      Effect.isSuccess
    )
})

const isThere = ({ session }: Control.Service, mark: string) =>
  session(mark).info.pipe(
    Effect.as(true),
    Effect.catchTag("SessionUnknown", () => Effect.succeed(false)),
    Effect.orDie
  )

const control = (url: string) => Effect.provide(Control.make({ url }), FetchHttpClient.layer)

/** Writes the file with the address atomically, by a rename. */
const start = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
  yield* fs.writeFileString(`${folder}/writing`, url)
  yield* fs.rename(`${folder}/writing`, `${folder}/url`)
  return url
})

const running = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const url = yield* fs.readFileString(`${folder}/url`)
  yield* Effect.flatMap(control(url), ({ sessions }) => sessions)
  return url
})

/**
 * The server, until the scope closes. The file that started it then waits for at most 20 seconds until each of `files`
 * that has begun has called `signal("<file>-done")`.
 */
export const server = (files: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(parent, { recursive: true })
    const isFirst = yield* Effect.acquireRelease(
      Effect.isSuccess(fs.makeDirectory(folder)),
      (isFirst) => isFirst ? Effect.orDie(fs.remove(folder, { recursive: true })) : Effect.void
    )
    const url = yield* isFirst
      ? start
      : Effect.retry(running, { schedule: Schedule.spaced("50 millis"), times: 400 })
    const shared = of(url, yield* control(url))
    if (isFirst) {
      yield* Effect.addFinalizer(() =>
        Effect.forEach(files, (file) =>
          Effect.if(isThere(shared.control, file), {
            onTrue: () => shared.isSignalled(`${file}-done`, 20_000),
            onFalse: () => Effect.void
          }), { discard: true })
      )
    }
    return shared
  }).pipe(Effect.provide(NodeFileSystem.layer))
