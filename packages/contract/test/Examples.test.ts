/** The examples in `contract/examples`, which Specmatic runs: the mock server responds to each as its file says. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Schema } from "effect"
import { MockServer } from "../../mock-server/src/index.ts"
import * as Contract from "../src/Contract.ts"

const Example = Schema.parseJson(Schema.Struct({
  "http-request": Schema.Struct({
    "method": Schema.String,
    "path": Schema.String,
    "headers": Schema.Record({ key: Schema.String, value: Schema.String }),
    "body": Schema.optional(Schema.Unknown),
    "form-fields": Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
  }),
  "http-response": Schema.Struct({
    status: Schema.Number,
    headers: Schema.Struct({ "Content-Type": Schema.String }),
    body: Schema.Record({ key: Schema.String, value: Schema.Unknown })
  })
}))

describe("The examples for Specmatic", () => {
  it.scopedLive("have the status, the media type and the fields of the mock server's responses", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const files = yield* fs.readDirectory(Contract.pathOf("examples"))
      strictEqual(files.length, 6)
      const { url } = Context.get(yield* Layer.build(MockServer.layerTest), MockServer.MockServer)
      const send = (path: string, headers: Readonly<Record<string, string>>, body: string) =>
        Effect.gen(function*() {
          const response = yield* Effect.promise(() => fetch(url + path, { method: "POST", headers, body }))
          const { headers: received, status } = response
          return { status, type: received.get("content-type"), body: yield* Effect.promise(() => response.text()) }
        })
      const basic = `Basic ${btoa("demo-customer:demo-key")}`
      const form = { "content-type": "application/x-www-form-urlencoded", "authorization": basic }
      const granted = yield* send("/oauth/service", form, "grant_type=client_credentials")
      const bearer = `Bearer ${/"access_token":"([^"]+)"/.exec(granted.body)?.[1]}`
      for (const file of files) {
        const example = yield* Schema.decode(Example)(yield* fs.readFileString(Contract.pathOf(`examples/${file}`)))
        const { body, "form-fields": fields, headers, path } = example["http-request"]
        const response = example["http-response"]
        const text = fields !== undefined
          ? new URLSearchParams(fields).toString()
          : typeof body === "string"
          ? body
          : JSON.stringify(body)
        const own = path === "/api/aml" && headers["Authorization"] === undefined
          ? { ...headers, Authorization: bearer }
          : headers
        const received = yield* send(path, own, text)
        deepStrictEqual([file, received.status, received.type], [
          file,
          response.status,
          response.headers["Content-Type"]
        ])
        const names = Object.keys(yield* Schema.decode(Schema.parseJson(Schema.Object))(received.body))
        deepStrictEqual(Object.keys(response.body).filter((name) => !names.includes(name)), [], file)
      }
    }).pipe(Effect.provide(NodeContext.layer)))
})
