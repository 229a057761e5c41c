import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeEach, describe, it } from "vitest"
import * as TemporaryFiles from "../../core/test/support/temporaryFiles.ts"
import { documents } from "./support/documents.ts"

const tool = fileURLToPath(new URL("../../../tools/release/advisories.mjs", import.meta.url))
const { folder } = TemporaryFiles.make()

const write = (path: string, content: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
it("each document in a tarball has only links that work on the page of a registry", () => {
  const packages = documents.filter(({ path }) => /^packages\/[^/]+\/[A-Z]+\.md$/.test(path))
  assert.isAbove(packages.length, 4)
  for (const { links, path } of packages) {
    assert.deepStrictEqual(links.filter((link) => !link.startsWith("https://")), [], path)
  }
})

describe("pnpm advisories", () => {
  const advisories = (...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [tool, ...args], { cwd: folder, encoding: "utf8" })
    return { status, printed: `${stdout}${stderr}`.trim() }
  }
  const about = (range: string) => [
    { id: 1, title: "A flaw", severity: "high", url: "https://example.com/1", vulnerable_versions: range }
  ]

  beforeEach(() => {
    const bundled = [{ name: "cdx:npm:package:bundled", value: "true" }]
    const components = [
      { group: "@scope", name: "inside", version: "1.2.3", properties: bundled },
      { name: "beside", version: "2.0.0" }
    ]
    write("release/mock.cdx.json", JSON.stringify({ components }))
    write("pnpm-lock.yaml", "packages:\n  '@scope/inside@1.2.3': {}\n  beside@2.0.0: {}\n  tester@3.0.0: {}\n")
  })

  it("finds one about a bundled package, and tells one about the development apart", () => {
    write(
      "found.json",
      JSON.stringify({ "@scope/inside": about("<1.3.0"), "tester": about("*"), "beside": about(">2") })
    )
    assert.deepStrictEqual(advisories("found.json"), {
      status: 1,
      printed: [
        "RELEASED     @scope/inside 1.2.3 bundled in mock: high, A flaw https://example.com/1",
        "development  tester 3.0.0: high, A flaw https://example.com/1",
        "2 components of 1 lists, 3 advisories: 1 about what is released, 1 only about the development"
      ].join("\n")
    })
    write("none.json", JSON.stringify({ tester: about("*") }))
    assert.strictEqual(advisories("none.json").status, 0)
  })

  it("prints the request for them", () => {
    assert.deepStrictEqual(advisories("--request"), {
      status: 0,
      printed: JSON.stringify({ "@scope/inside": ["1.2.3"], "beside": ["2.0.0"], "tester": ["3.0.0"] })
    })
  })

  it("ends with one line for a file that it cannot read, and for a folder without a release", () => {
    write("text.json", "no")
    write("empty/README.md", "")
    write("range.json", JSON.stringify({ tester: about("newest") }))
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["none.such"], "none.such does not exist"],
      [["text.json"], "text.json is not JSON"],
      [["range.json"], "range.json: an advisory about tester has no range in vulnerable_versions"],
      [["text.json", "--in", "empty"], "empty has no list of components (*.cdx.json)"],
      [["text.json", "--in", "gone"], "gone does not exist: run pnpm release, or name its folder with --in"]
    ]
    for (const [args, printed] of cases) assert.deepStrictEqual(advisories(...args), { status: 2, printed })
  })
})
