import { Control, MockServer, Session } from "@effect-idv/mock-server"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Layer, Redacted } from "effect"
import { build, transform } from "esbuild"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import type { Outcome } from "./support/anywhere.ts"
import * as Browser from "./support/browser.ts"

const source = fileURLToPath(new URL("support/anywhere.ts", import.meta.url))

/** Bundles core and a check for the browser platform, for which esbuild rejects Node modules. */
const bundle = (format: "esm" | "iife") =>
  Effect.promise(() =>
    build({
      entryPoints: [source],
      bundle: true,
      platform: "browser",
      format,
      globalName: "anywhere",
      target: "es2022",
      write: false,
      metafile: true,
      logLevel: "silent"
    })
  ).pipe(
    Effect.map(({ metafile, outputFiles: [file] }) => ({
      code: file?.text ?? "",
      inputs: Object.keys(metafile.inputs)
    }))
  )

/** Globals that only Node or only CommonJS has. */
const nodeOnly = /\b(Buffer|process|global|require|module|__dirname|__filename|setImmediate)\b(?!:)|["']node:/

/** The globals of the Minimum Common Web API, and the types that the runtime shares with its caller. */
const webGlobals = [
  "AbortController",
  "AbortSignal",
  "ArrayBuffer",
  "Blob",
  "DecompressionStream",
  "FormData",
  "Headers",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "Uint8Array",
  "WritableStream",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
  "structuredClone"
]

const person = "Zoë Testpep"

const check = Effect.gen(function*() {
  const { url } = yield* MockServer.MockServer
  const { customerId, customerKey } = Session.demoCustomer
  return [url, customerId, Redacted.value(customerKey), person] as const
})

const isRight = (outcome: Outcome) => {
  assert.isObject(outcome, String(outcome))
  const sha256 = createHash("sha256").update(outcome.body).digest("hex")
  assert.include(outcome.body, person)
  assert.include(outcome.unreachable, "The token endpoint at 127.0.0.1:1 is not available: ")
  deepStrictEqual({ ...outcome, body: "", unreachable: "" }, {
    matchFound: "Potential match",
    sha256,
    body: "",
    verified: "verified",
    tampered: "digest",
    unreachable: ""
  })
}

layer(Layer.merge(Browser.layer, MockServer.layerTest), { excludeTestServices: true })("Core", (it) => {
  it.effect(
    "can be bundled for browsers, and uses nothing of Node in its modules",
    () =>
      Effect.gen(function*() {
        const { inputs } = yield* bundle("esm")
        const own = inputs.filter((path) => path.includes("packages/core/src/"))
        assert(own.length > 40)
        for (const path of own) {
          const { code } = yield* Effect.promise(() =>
            transform(readFileSync(resolve(path), "utf8"), { loader: "ts", minifyWhitespace: true })
          )
          strictEqual(nodeOnly.exec(code)?.[0], undefined, path)
        }
      })
  )

  it.effect("checks a person with the globals of the web only", () =>
    Effect.gen(function*() {
      const { code } = yield* bundle("iife")
      const globals = Object.fromEntries(
        webGlobals.map((name): [string, unknown] => [name, Reflect.get(globalThis, name)])
      )
      const script = `${code}; anywhere.run(...${JSON.stringify(yield* check)})`
      isRight(yield* Effect.promise<Outcome>(() => runInNewContext(script, globals)))
    }))

  const inPage = Effect.gen(function*() {
    const { code } = yield* bundle("iife")
    const parameters = yield* check
    // A page of the same origin without a content security policy for scripts.
    const tab = yield* Browser.open(`${parameters[0]}/_mock/live`, { mayComplain: true })
    return { code, parameters, tab }
  })

  it.scoped("checks a person in a page of Chromium", () =>
    Effect.gen(function*() {
      const { code, parameters, tab } = yield* inPage
      const text = JSON.stringify(parameters)
      isRight(
        yield* tab.act((page) => page.evaluate<Outcome>(`(() => { ${code}; return anywhere.run(...${text}) })()`))
      )
    }))

  it.scoped("checks a person in a worker of Chromium", () =>
    Effect.gen(function*() {
      const { code, parameters, tab } = yield* inPage
      const script = `${code}; anywhere.run(...${
        JSON.stringify(parameters)
      }).then(postMessage, (error) => postMessage(String(error)))`
      // Not a blob: its location is not a valid base URL for the platform.
      const worker = { contentType: "text/javascript", body: script }
      yield* tab.act((page) => page.route("**/worker.js", (route) => route.fulfill(worker)))
      const outcome = yield* tab.act((page) =>
        page.evaluate<Outcome>(`
          new Promise((resolve, reject) => {
            const worker = new Worker("/worker.js")
            worker.onmessage = ({ data }) => resolve(data)
            worker.onerror = ({ message }) => reject(new Error(message))
          })
        `)
      )
      isRight(outcome)
    }))

  it.scoped("does not follow a redirect in Chromium, and fails without a token", () =>
    Effect.gen(function*() {
      const { code, parameters: [url], tab } = yield* inPage
      const { customerId } = Session.testCustomer("test-redirect-in-a-browser")
      const control = yield* Control.Control
      yield* control.create({ customerId })
      yield* control.session(customerId).fault({ on: "token", what: { kind: "status", status: 302 } })
      const text = JSON.stringify([url, customerId, "test-key", person])
      const failed = yield* tab.act((page) =>
        page.evaluate<string>(`(() => { ${code}; return anywhere.run(...${text}).catch(String) })()`)
      )
      assert.include(failed, "responded with a redirect, which is not followed (check authUrl)")
      strictEqual(failed.includes("test-key"), false)
    }))
})
