import { execFileSync, spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { env } from "node:process"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
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
const run = (command: string, ...args: ReadonlyArray<string>) =>
  execFileSync(command, args, { cwd: clone, encoding: "utf8", env: variables })
const read = (name: string) => readFileSync(join(folder, "first", name), "utf8")

describe("A release of the next version, in a clone without a network", () => {
  beforeAll(() => {
    execFileSync("git", ["clone", "--quiet", root, clone])
    run("pnpm", "install", "--frozen-lockfile", "--offline")
    if (readdirSync(join(clone, ".changeset")).length > 2) run("pnpm", "set-version")
    run("git", "add", "--all")
    run(
      "git",
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.com",
      "commit",
      "--quiet",
      "--allow-empty",
      "-m",
      "next"
    )
    for (const out of ["first", "second"]) run("pnpm", "release", "--dry-run", "--out", join(folder, out))
  }, 30 * minutes)

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
