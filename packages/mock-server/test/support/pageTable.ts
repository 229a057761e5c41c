/**
 * Returns a page with a table of the code in place of its generated one, between `<!-- table: <name> -->` and
 * `<!-- end -->`. A test compares the result with the page by `toMatchFileSnapshot`, so `test -u` writes the page.
 */
export const withTable = (page: string, name: string, header: string, rows: ReadonlyArray<ReadonlyArray<string>>) => {
  const [before, rest] = page.split(`<!-- table: ${name} -->\n`)
  const [, after] = rest?.split(/<!-- end -->(.*)/s) ?? []
  if (rest === undefined || after === undefined) throw new Error(`The page has no table ${name}`)
  const columns = header.split(" | ").map(() => "---").join("|")
  const lines = [`| ${header} |`, `|${columns}|`, ...rows.map((cells) => `| ${cells.join(" | ")} |`)]
  return `${before}<!-- table: ${name} -->\n${lines.join("\n")}\n<!-- end -->${after}`
}
