/** The files of a database, for a search of their bytes. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The bytes of all files below a directory. The write-ahead log of PostgreSQL is recycled later. */
export const filesOf = (directory: string): ReadonlyArray<readonly [path: string, bytes: string]> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("pg_wal"))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, "latin1")])
