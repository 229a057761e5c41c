/** A file that a command is to write. It is asked for before the work, which should not be lost. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { Refusal } from "./refusal.ts"

const refuse = (flag: string) =>
  new Refusal({ text: `--${flag} cannot be written: expected the path of a file in a directory that may be written` })

/** Nothing is written yet. */
export const check = (flag: string, path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    if (yield* fs.exists(path)) {
      if ((yield* fs.stat(path)).type === "Directory") return yield* refuse(flag)
      return yield* fs.access(path, { writable: true })
    }
    yield* fs.access(dirname(path), { writable: true })
  }).pipe(Effect.mapError(() => refuse(flag)))

export const write = (flag: string, path: string, text: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, `${text.trimEnd()}\n`)).pipe(
    Effect.mapError(() => refuse(flag))
  )
