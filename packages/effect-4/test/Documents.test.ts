/** Runs the snippets of the documents for Effect 4. */
import { ConfigProvider, Effect, Logger } from "effect"
import { deepStrictEqual } from "node:assert"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, it } from "vitest"
import * as Client from "./support/client.ts"
import * as Snippets from "./support/snippets.ts"

const examples = fileURLToPath(new URL("../examples", import.meta.url))
const folder = fileURLToPath(new URL(".documents", import.meta.url))

const server = Client.useServer()

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

describe("documents for Effect 4", () => {
  it.each(Snippets.all)("$name can be loaded", ({ code, name }) => {
    // Without variables, `runPromise` would fail.
    writeFileSync(join(folder, name), code.replaceAll("void Effect.runPromise(main)", "export { main }"))
    return import(/* @vite-ignore */ join(folder, name))
  })

  it("have a program that is compiled, and prints `clear`", () =>
    Effect.runPromise(Effect.gen(function*() {
      const page = Snippets.all.filter(({ path }) => path === "effect-4.md")
      const [{ code, name } = { code: "", name: "" }] = page
      deepStrictEqual([page.length, code], [1, readFileSync(join(examples, "check.ts"), "utf8")])
      const session = yield* server.session
      const { main }: { readonly main: Effect.Effect<void> } = yield* Effect.promise(() =>
        import(/* @vite-ignore */ join(folder, name))
      )
      const lines: Array<unknown> = []
      const variables = {
        IDV_AUTH_URL: session.url,
        IDV_BASE_URL: session.url,
        IDV_CUSTOMER_ID: session.customerId,
        IDV_CUSTOMER_KEY: session.customerKey
      }
      yield* main.pipe(
        Effect.provide([
          ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })),
          Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
        ])
      )
      deepStrictEqual(lines, ["clear"])
    })))
})
