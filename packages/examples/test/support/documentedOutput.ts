/** Compares an output that a document shows with an output of a program. */
import { assert } from "@effect/vitest"

/** Replaces what differs between two runs: ports, ids, times and the date of today. */
const withoutVariables = (text: string): string =>
  text
    .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, "$1:port")
    .replaceAll(/[\da-f]{8}-([\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|…)/g, "uuid")
    .replaceAll(/(?<=TokenProvider\.acquire )[\da-f]{4}/g, "span")
    .replaceAll(/(?<=fiberId=#)\d+/g, "fiber")
    .replaceAll(/\d+ ?ms/g, "time")
    // The width of a column depends on its longest number.
    .replaceAll(/ {2,}/g, " ").replaceAll(/─+/g, "─")
    .replaceAll(/(?<=^Run )\d{4}-\d\d-\d\d/gm, "today")
    .trim()

/** Whether the text consists of the parts in their order, with any text between two of them. */
const consistsOf = (parts: ReadonlyArray<string>, text: string): boolean => {
  const last = parts.at(-1) ?? ""
  let end = 0
  for (const [index, part] of parts.entries()) {
    const start = text.indexOf(part, end)
    if (start < 0 || (index === 0 && start > 0)) return false
    end = start + part.length
  }
  return parts.length === 1 ? end === text.length : text.endsWith(last)
}

/** Asserts that a program printed the documented output, in which `…` stands for any text. */
export const assertPrinted = (documented: string, printed: string): void => {
  const expected = withoutVariables(documented)
  const actual = withoutVariables(printed)
  if (!consistsOf(expected.split("…"), actual)) assert.strictEqual(actual, expected)
}
