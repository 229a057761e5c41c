import { Command } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { env } from "node:process"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, beforeEach, describe, it } from "vitest"
import * as TemporaryFiles from "../../core/test/support/temporaryFiles.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const { folder } = TemporaryFiles.make()
const clone = join(folder, "clone")

const minutes = 60_000
// No network: npm and pnpm could only ask an address that nobody listens at.
const variables = {
  ...env,
  REPOSITORY_URL: "https://github.com/owner/name",
  npm_config_offline: "true",
  npm_config_registry: "http://127.0.0.1:1"
}
/** Does not block the worker of vitest, which has to respond meanwhile. */
const run = (command: string, ...args: ReadonlyArray<string>) =>
  Command.make(command, ...args).pipe(
    Command.workingDirectory(clone),
    Command.env(variables),
    Command.stdout("inherit"),
    Command.stderr("inherit"),
    Command.exitCode,
    Effect.filterOrDieMessage((code) => code === 0, `${command} ${args.join(" ")} failed`)
  )
const read = (name: string) => readFileSync(join(folder, "first", name), "utf8")

describe("pnpm release refuses, before anything is packed,", () => {
  const repository = join(folder, "repository")
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(repository, path)), { recursive: true })
    writeFileSync(join(repository, path), content)
  }
  const run = (command: string, args: ReadonlyArray<string>, changes: Record<string, string> = {}) => {
    const { status, stderr, stdout } = spawnSync(command, args, {
      cwd: repository,
      encoding: "utf8",
      env: { ...env, ...changes }
    })
    return { status, printed: `${stdout}${stderr}`.trim() }
  }
  const git = (...args: ReadonlyArray<string>) =>
    assert.strictEqual(run("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args]).status, 0)
  const release = (changes = { REPOSITORY_URL: "https://github.com/owner/name" }) =>
    run(process.execPath, [join(root, "tools/release/main.mjs"), "--dry-run"], changes)
  const refused = (reason: string) => ({ status: 1, printed: `Nothing was packed: ${reason}` })
  const commit = (version: string) => {
    write("packages/core/package.json", JSON.stringify({ name: "@effect-idv/core", version }))
    git("add", "--all")
    git("commit", "-m", "a version")
  }

  beforeEach(() => {
    rmSync(repository, { recursive: true, force: true })
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

describe("A release of the next version, in a clone without a network", () => {
  const prepare = Effect.gen(function*() {
    execFileSync("git", ["clone", "--quiet", root, clone])
    yield* run("pnpm", "install", "--frozen-lockfile", "--offline")
    if (readdirSync(join(clone, ".changeset")).length > 2) yield* run("pnpm", "set-version")
    yield* run("git", "add", "--all")
    const author = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    yield* run("git", ...author, "commit", "--quiet", "--allow-empty", "-m", "next")
    for (const out of ["first", "second"]) yield* run("pnpm", "release", "--dry-run", "--out", join(folder, out))
  })
  beforeAll(() => Effect.runPromise(Effect.provide(prepare, NodeContext.layer)), 30 * minutes)

  it("has the same bytes twice", () => {
    execFileSync("diff", ["--recursive", join(folder, "first"), join(folder, "second")])
    execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: join(folder, "first") })
  })

  it("has manifests with the address of the repository", () => {
    const tarballs = readdirSync(join(folder, "first")).filter((name) => name.endsWith(".tgz"))
    assert.lengthOf(tarballs, 4)
    for (const name of tarballs) {
      const path = join(folder, "first", name)
      const manifest = JSON.parse(execFileSync("tar", ["-xOf", path, "package/package.json"], { encoding: "utf8" }))
      assert.strictEqual(manifest.repository.url, "git+https://github.com/owner/name.git")
      assert.strictEqual(manifest.bugs, "https://github.com/owner/name/issues")
    }
  })

  it("has a changelog, and lists of components that name what is bundled", () => {
    assert.include(read("CHANGELOG.md"), "# @effect-idv/core ")
    const bundle = JSON.parse(readFileSync(join(clone, "packages/mock-server/bundle/packages.json"), "utf8"))
    assert.isAbove(bundle.length, 20)
    for (const list of ["effect-idv-mock-server", "idv-mock-image"]) {
      const { components } = JSON.parse(read(`${list}.cdx.json`))
      const purls = components.map(({ purl }: { readonly purl: string }) => purl)
      for (const { name, version } of bundle) {
        assert.include(purls, `pkg:npm/${name.replace("@", "%40")}@${version}`)
      }
    }
  })

  it("is compared with an advisory about a bundled package", () => {
    const advisory = { title: "seeded", severity: "high", vulnerable_versions: "*" }
    const file = join(folder, "advisories.json")
    writeFileSync(file, JSON.stringify({ undici: [advisory], tstyche: [advisory] }))
    const { status, stdout } = spawnSync("pnpm", ["advisories", file, "--in", join(folder, "first")], {
      cwd: clone,
      encoding: "utf8"
    })
    assert.strictEqual(status, 1)
    assert.match(stdout, /RELEASED +undici [\d.]+ bundled in effect-idv-mock-server/)
    assert.match(stdout, /development +tstyche/)
  })
})
