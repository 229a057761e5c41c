/**
 * A service with two lists, for the story of three months: independent of the mock server, it counts every request for a
 * check by name. A listed person is found while the list is there. It responds to no request that it holds.
 */
import { Effect } from "effect"
import { createServer } from "node:http"

export type List = "A" | "B"

export const make = Effect.gen(function*() {
  /** The lists and profile addresses of listed people, by name. */
  const listed = new Map<string, { readonly list: List; readonly profile: string }>()
  const posts = new Map<string, number>()
  const state = {
    total: 0,
    losesAAfter: Infinity,
    hasRequestId: false,
    held: 0,
    holds: (name: string): boolean => name === ""
  }

  const responseTo = (name: string, dob: string) => {
    const found = listed.get(name)
    const isMissing = found?.list === "A" && state.total > state.losesAAfter
    return {
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "stub",
      issuer_id: "3f0f4b2e-8c1d-4e6a-9b7f-1a2b3c4d5e6f",
      cred_version: "1.0",
      ...(state.hasRequestId ? { request_id: `r${state.total}` } : {}),
      credentials: {
        attributes: {
          name,
          birth_year: dob.slice(6),
          searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
          match_found: found === undefined || isMissing ? "No" : "Potential match",
          aml_profile: found?.profile ?? "https://example.com/profiles/none"
        }
      }
    }
  }

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const send = (content: unknown) => {
        const body = JSON.stringify(content)
        response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
        response.end(body)
      }
      if (request.url === "/oauth/service") {
        return send({ access_token: "token", token_type: "Bearer", expires_in: 3600 })
      }
      const { dob, name } = JSON.parse(Buffer.concat(chunks).toString())
      state.total++
      posts.set(name, (posts.get(name) ?? 0) + 1)
      if (state.holds(name)) return state.held++
      return setTimeout(() => send(responseTo(name, dob)), 10)
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
  return { url, listed, posts, state }
})
