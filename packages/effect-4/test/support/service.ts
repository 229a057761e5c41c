/** A service over HTTP that responds as a test says. */
import { Deferred, Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"

export const token = "canaryAccessToken"

const attributes = {
  name: "Ada Testclear",
  birth_year: "1990",
  match_found: "No",
  aml_profile: "https://idv.example.com/1"
}

/** The body of a credential. */
export const credential = (changes: Partial<typeof attributes> = {}): string =>
  JSON.stringify({
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "Issuer",
    issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
    cred_version: "1.0",
    credentials: {
      attributes: {
        ...attributes,
        searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
        ...changes
      }
    }
  })

/** `respond` receives the body of a check. Without it, the service never responds to a check. */
interface Options {
  readonly respond?: (response: ServerResponse, body: string) => void
}

/** `arrived` ends when a check has arrived, and `closed` when its connection is closed. */
export const make = ({ respond = () => {} }: Options = {}) =>
  Effect.gen(function*() {
    const arrived = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    const server = createServer((request, response) => {
      if (request.url === "/oauth/service") {
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 3600 }))
      } else {
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        let body = ""
        request.on("data", (chunk) => {
          body += String(chunk)
        })
        request.on("end", () => {
          Deferred.doneUnsafe(arrived, Effect.void)
          response.setHeader("content-type", "application/json")
          respond(response, body)
        })
      }
    })
    const url = yield* Effect.acquireRelease(
      Effect.callback<string>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(Effect.succeed(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`))
        })
      }),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const connections = Effect.callback<number>((resume) => {
      server.getConnections((_, count) => resume(Effect.succeed(count)))
    })
    return { url, connections, arrived: Deferred.await(arrived), closed: Deferred.await(closed) }
  })
