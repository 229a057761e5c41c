import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { env as environment } from "node:process"
import { fileURLToPath } from "node:url"
import { assert, beforeEach, describe, it } from "vitest"
import * as TemporaryFiles from "../../core/test/support/temporaryFiles.ts"
import { documents } from "./support/documents.ts"

const tool = (name: string) => fileURLToPath(new URL(`../../../tools/release/${name}.mjs`, import.meta.url))
const { folder } = TemporaryFiles.make()

const write = (path: string, content: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}
const run = (command: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: environment["PATH"], ...env }
  })
  return { status, printed: `${stdout}${stderr}`.trim() }
}
const git = (...args: ReadonlyArray<string>) =>
  assert.strictEqual(run("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args]).status, 0)

describe("pnpm release refuses, before anything is packed,", () => {
  const release = (env = { REPOSITORY_URL: "https://github.com/owner/name" }) =>
    run(process.execPath, [tool("main"), "--dry-run"], env)
  const refused = (reason: string) => ({ status: 1, printed: `Nothing was packed: ${reason}` })
  const commit = (version: string) => {
    write("packages/core/package.json", JSON.stringify({ name: "@effect-idv/core", version }))
    git("add", "--all")
    git("commit", "-m", "a version")
  }

  beforeEach(() => {
    for (const path of [".git", ".changeset", "packages"]) rmSync(join(folder, path), { recursive: true, force: true })
    write(".changeset/README.md", "")
    git("init", "--quiet")
    commit("0.1.0")
  })

  it("an address of the repository that is missing, or that is not one", () => {
    for (const url of ["", "owner/name", "https://github.com/owner/name.git", "https://example.com/owner/name"]) {
      assert.deepStrictEqual(
        release({ REPOSITORY_URL: url }),
        refused("REPOSITORY_URL should be the address of the repository, such as https://github.com/owner/name")
      )
    }
  })

  it("a working tree with changes", () => {
    write("packages/core/new.ts", "")
    assert.deepStrictEqual(release(), refused("the working tree has changes: commit or remove them"))
  })

  it("a change note without a version", () => {
    write(".changeset/brave-cats.md", "")
    commit("0.1.1")
    assert.deepStrictEqual(
      release(),
      refused("1 change note has no version yet (brave-cats.md): run pnpm set-version, and commit")
    )
  })

  it("a version that exists, and the version that none is", () => {
    git("tag", "v0.1.0")
    assert.deepStrictEqual(
      release(),
      refused("the version exists as the tag v0.1.0: add a change note, and run pnpm set-version")
    )
    commit("0.0.0")
    assert.deepStrictEqual(
      release(),
      refused("the packages have no version yet: add a change note, and run pnpm set-version")
    )
  })
})

it("each document in a tarball has only links that work on the page of a registry", () => {
  const packages = documents.filter(({ path }) => /^packages\/[^/]+\/[A-Z]+\.md$/.test(path))
  assert.isAbove(packages.length, 4)
  for (const { links, path } of packages) {
    assert.deepStrictEqual(links.filter((link) => !link.startsWith("https://")), [], path)
  }
})

describe("pnpm advisories", () => {
  const advisories = (...args: ReadonlyArray<string>) => run(process.execPath, [tool("advisories"), ...args])
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
    write("range.json", JSON.stringify({ tester: about("newest") }))
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["none.such"], "none.such does not exist"],
      [["text.json"], "text.json is not JSON"],
      [["range.json"], "range.json: an advisory about tester has no range in vulnerable_versions"],
      [["text.json", "--in", "packages"], "packages has no list of components (*.cdx.json)"],
      [["text.json", "--in", "gone"], "gone does not exist: run pnpm release, or name its folder with --in"]
    ]
    for (const [args, printed] of cases) assert.deepStrictEqual(advisories(...args), { status: 2, printed })
  })
})
