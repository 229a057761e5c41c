/** The files of a database, for a search of their bytes. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The bytes of all files below a directory. */
const allOf = (directory: string): ReadonlyArray<readonly [path: string, bytes: string]> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, "latin1")])

const isLog = (path: string) => path.includes("/pg_wal/")

/** Without the write-ahead log of PostgreSQL. */
export const filesOf = (directory: string) => allOf(directory).filter(([path]) => !isLog(path))

/** The write-ahead log of PostgreSQL. */
export const logsOf = (directory: string) => allOf(directory).filter(([path]) => isLog(path))
