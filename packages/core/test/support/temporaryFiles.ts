/** Files in a folder that is removed after the tests of a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

/** `file` writes a file, and returns its path. */
export const make = () => {
  const folder = mkdtempSync(join(tmpdir(), "idv-"))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }
  return { folder, file }
}
