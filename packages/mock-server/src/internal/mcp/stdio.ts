/** Serves the tools over the Model Context Protocol, on standard input and output. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import type { Readable, Writable } from "node:stream"
import type { Target } from "./tool.ts"
import * as Tools from "./tools.ts"

const instructions =
  "Controls a mock server of an identity verification service. Each customer id has a session of its " +
  "own. Begin with the tool sessions, which shows the address for the app under test."

/** Serves until the client closes its end. */
export const serve = (target: Target, version: string, stdin: Readable, stdout: Writable) =>
  Effect.gen(function*() {
    const run = Runtime.runPromise(yield* Effect.runtime<never>())
    const server = new Server({ name: "idv-mock", version }, { capabilities: { tools: {} }, instructions })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: Tools.all.map(({ description, inputSchema, name }) => ({ name, description, inputSchema }))
    }))
    // A handler of tools/call would validate the arguments with the SDK's schema, whose error has several lines.
    server.fallbackRequestHandler = ({ method, params }) => {
      if (method !== "tools/call") throw new McpError(ErrorCode.MethodNotFound, "Method not found")
      const name = Predicate.isString(params?.["name"]) ? params["name"] : ""
      return run(Effect.map(Tools.call(target, name, params?.["arguments"] ?? {}), (result) => ({
        isError: Either.isLeft(result),
        content: [{ type: "text", text: Either.merge(result) }]
      })))
    }
    const closed = Effect.async<void>((resume) => {
      stdin.once("end", () => resume(Effect.void)).once("close", () => resume(Effect.void))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => server.connect(new StdioServerTransport(stdin, stdout))),
      () => Effect.promise(() => server.close())
    )
    yield* closed
  }).pipe(Effect.scoped)
