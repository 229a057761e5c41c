/**
 * One run at a time for each record, also after a run that was killed. Whether a process is alive can
 * be asked about those of this host only: two containers that share a volume may have the same number.
 */
import { FileSystem } from "@effect/platform"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { ofFile, RescreeningFailed } from "./failure.ts"

/** Whether there is such a process, whoever it belongs to. Our own number is that of a dead run before us. */
const isAlive = (pid: number): Effect.Effect<boolean> =>
  pid === process.pid || !Number.isSafeInteger(pid) || pid <= 0 ? Effect.succeed(false) : Effect.try({
    try: () => process.kill(pid, 0),
    catch: (error) => error instanceof Error && "code" in error && error.code === "EPERM"
  }).pipe(Effect.merge)

/** Holds the lock until the scope closes, or fails in a line that says who holds it. */
export const hold = (path: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const mine = `${path}.${randomUUID()}`
    const inUse = (holder: string) =>
      new RescreeningFailed({
        message: `Another run, process ${holder.replace(" ", " on ")}, writes here. ` +
          `If there is none, remove ${path}; else choose another --out`
      })

    /** Under a name of our own it comes into being, and so it is never there without its content. */
    const take = files.link(mine, path)

    const takeOver = Effect.gen(function*() {
      const holder = yield* files.readFileString(path)
      const [pid, host] = holder.split(" ")
      if (host !== hostname() || (yield* isAlive(Number(pid)))) return yield* inUse(holder)
      const stale = `${mine}.stale`
      yield* files.rename(path, stale)
      const moved = yield* files.readFileString(stale)
      // Somebody else was faster, and this is theirs: give it back.
      if (moved !== holder) {
        yield* files.rename(stale, path)
        return yield* inUse(moved)
      }
      yield* files.remove(stale)
      yield* take
    })

    const isThere = (error: { readonly _tag: string; readonly reason?: string }) => error.reason === "AlreadyExists"

    yield* Effect.acquireRelease(
      Effect.acquireUseRelease(
        files.writeFileString(mine, `${process.pid} ${hostname()}`),
        () => Effect.catchIf(take, isThere, () => takeOver),
        () => Effect.ignore(files.remove(mine))
      ).pipe(
        Effect.catchTags({ SystemError: (error) => ofFile(path)(error), BadArgument: (error) => ofFile(path)(error) })
      ),
      () => Effect.ignore(files.remove(path))
    )
  })
