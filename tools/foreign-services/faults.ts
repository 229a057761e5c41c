/** The wrong servers of a set: the table `faults.txt`, and the change that each one makes. */
import { readFileSync } from "node:fs"
import type { Changes } from "./changes.ts"
import type { Change } from "./service.ts"

/** A wrong server: the style `strict` with one change. */
export interface Fault {
  readonly id: string
  readonly area: string
  /** The sentence of the document that it contradicts. */
  readonly breaks: string
  /** What it does. */
  readonly sentence: string
  readonly change: Change
}

/** Reads the lines `# area`, `> sentence of the document` and `id: sentence`. */
export const read = (file: URL, changes: Changes): ReadonlyArray<Fault> => {
  let area = ""
  let breaks = ""
  const faults = readFileSync(file, "utf8").split("\n").flatMap((line) => {
    const [, id = "", sentence = ""] = /^([\w-]+): (.+)$/.exec(line) ?? []
    if (line.startsWith("# ")) area = line.slice(2)
    else if (line.startsWith("> ")) breaks = line.slice(2)
    else if (id !== "") {
      const change = changes[id]
      if (change === undefined) throw new Error(`${file.pathname}: no change has the id ${id}`)
      return [{ id, area, breaks, sentence, change }]
    }
    return []
  })
  const ids = new Set(faults.map(({ id }) => id))
  const unknown = Object.keys(changes).filter((id) => !ids.has(id))
  if (unknown.length > 0) throw new Error(`${file.pathname} has no line for ${unknown.join(", ")}`)
  return faults
}
