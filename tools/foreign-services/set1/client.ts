import { Agent, request as httpRequest } from "node:http"
import { basic, defaultPerson, tokenIn, tokenRequest } from "./requests.ts"
import { serve } from "./service.ts"
import type { Client, Outgoing, Reply, Style } from "./types.ts"

/** 2031-03-14 10:20:05 UTC. A day above 12 makes swapped days and months visible. */
const startTime = Date.UTC(2031, 2, 14, 10, 20, 5)

const sendTo = (url: string, agent: Agent | undefined, outgoing: Outgoing): Promise<Reply> =>
  new Promise((resolve) => {
    const lost = (): void => resolve({ status: 0, text: "" })
    const target = new URL(url)
    const request = httpRequest(
      {
        host: target.hostname,
        port: target.port,
        method: outgoing.method,
        path: outgoing.path,
        headers: { ...outgoing.headers, "Content-Length": String(Buffer.byteLength(outgoing.body)) },
        agent: agent ?? false
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", lost)
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }))
      }
    )
    request.on("error", lost)
    request.end(outgoing.body)
  })

/** Starts a server, runs the function with a client for it, and stops the server. */
export const withClient = async <A>(
  options: { readonly style: Style; readonly fault?: string },
  run: (client: Client) => Promise<A>
): Promise<A> => {
  let time = startTime
  const server = await serve({ ...options, now: () => time })
  const agents: Array<Agent> = []

  const clientWith = (agent: Agent | undefined): Client => {
    const send = (outgoing: Outgoing): Promise<Reply> => sendTo(server.url, agent, outgoing)
    return {
      id: server.customerId,
      key: server.customerKey,
      send,
      token: async () => {
        const reply = await send(tokenRequest(basic(`${server.customerId}:${server.customerKey}`)))
        const token = tokenIn(reply)
        if (token === undefined) {
          throw new Error(`The token endpoint refused the documented request with status ${reply.status}.`)
        }
        return token
      },
      check: (token, person = defaultPerson, overrides = {}) =>
        send({
          method: "POST",
          path: "/api/aml",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify(person),
          ...overrides
        }),
      advance: (milliseconds) => {
        time += milliseconds
      },
      now: () => time,
      oneConnection: (use) => {
        const shared = new Agent({ keepAlive: true, maxSockets: 1 })
        agents.push(shared)
        return use(clientWith(shared))
      }
    }
  }

  try {
    return await run(clientWith(undefined))
  } finally {
    for (const agent of agents) agent.destroy()
    await server.close()
  }
}
