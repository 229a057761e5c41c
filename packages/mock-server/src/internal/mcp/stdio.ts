/** Serves the tools over the Model Context Protocol, on standard input and output. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Struct from "effect/Struct"
import type { Readable, Writable } from "node:stream"
import * as Tools from "./tools.ts"

const instructionsOf = ({ url }: Tools.Target) =>
  `Controls a mock server of an identity verification service at ${url}. Each customer id has a session of its own; ` +
  "any id that begins with test- is a customer with the key test-key. Without customerId, a tool uses demo-customer. " +
  "help explains faults, profiles, test persons and expectations."

/** Serves until the client closes its end. */
export const serve = (target: Tools.Target, version: string, stdin: Readable, stdout: Writable) =>
  Effect.gen(function*() {
    const run = Runtime.runPromise(yield* Effect.runtime<never>())
    const pending = new Set<Promise<unknown>>()
    const server = new Server({ name: "idv-mock", version }, {
      capabilities: { tools: {} },
      instructions: instructionsOf(target)
    })
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: Tools.all.map(Struct.omit("call"))
    }))
    // A handler of tools/call would validate the arguments with the SDK's schema, whose error has several lines.
    server.fallbackRequestHandler = ({ method, params }) => {
      if (method !== "tools/call") throw new McpError(ErrorCode.MethodNotFound, "Method not found")
      const name = Predicate.isString(params?.["name"]) ? params["name"] : ""
      const response = run(Effect.map(
        Tools.call(target, name, params?.["arguments"] ?? {}),
        Either.match({
          onLeft: (text) => ({ isError: true, content: [{ type: "text", text }] }),
          onRight: (result) => ({
            isError: false,
            structuredContent: result,
            content: [{ type: "text", text: JSON.stringify(result) }]
          })
        })
      ))
      pending.add(response)
      return response.finally(() => pending.delete(response))
    }
    const closed = Effect.async<void>((resume) => {
      stdin.once("end", () => resume(Effect.void)).once("close", () => resume(Effect.void))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => server.connect(new StdioServerTransport(stdin, stdout))),
      () => Effect.promise(() => server.close())
    )
    yield* closed
    // A client may close its end before it has read the last responses. The server handles a message, and sends its
    // response, in a later turn of the event loop.
    yield* Effect.sleep(0)
    yield* Effect.promise(() => Promise.allSettled(pending))
    yield* Effect.sleep(0)
  }).pipe(Effect.scoped)
