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

/** Asserts that a program printed the documented output, in which `…` stands for any text. */
export const assertPrinted = (documented: string, printed: string): void => {
  const expected = withoutVariables(documented)
  const actual = withoutVariables(printed)
  const pattern = expected.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^]*?")
  if (!new RegExp(`^${pattern}$`).test(actual)) assert.strictEqual(actual, expected)
}
