import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { correctHooks } from "./hooks.ts"
import { hooksFor } from "./mutants.ts"
import { presentation, type Refusal } from "./styles.ts"
import type { Context, Fields, Hooks, Incoming, Style, TokenRecord } from "./types.ts"

export type { Style } from "./types.ts"

const tokenPath = "/oauth/service"
const checkPath = "/api/aml"

/** The key contains a colon, because the document allows one and clients must not split on it. */
const customerId = "Unseen-Customer-417"
const customerKey = "kEy:7Qz/Part+Two=xW9aRb"

/** Duration of a search in milliseconds. It makes concurrent checks overlap. */
const searchDuration = 3

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

const readBody = async (message: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString("utf8")
}

const write = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  chunked: boolean
): void => {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (!chunked) {
    response.setHeader("CONTENT-LENGTH", body.length)
    response.writeHead(status).end(body)
    return
  }
  const middle = Math.floor(body.length / 2)
  response.writeHead(status)
  response.write(body.subarray(0, middle))
  response.end(body.subarray(middle))
}

const refuse = (
  response: ServerResponse,
  refusal: Refusal,
  request: Incoming,
  context: Context,
  hooks: Hooks
): void => {
  const extra = hooks.refusalFields(request, context)
  const refused = presentation[context.style].refuse(refusal, extra ?? {})
  if (refused === undefined && extra === undefined) {
    response.destroy()
    return
  }
  const body = Buffer.from(JSON.stringify(refused?.body ?? extra ?? {}))
  write(response, refused?.status ?? 400, refused?.headers ?? {}, body, false)
}

const handleToken = (request: Incoming, response: ServerResponse, context: Context, hooks: Hooks): void => {
  const view = presentation[context.style]
  const fail = (refusal: Refusal): void => {
    hooks.tokenRefused(request, context)
    refuse(response, refusal, request, context, hooks)
  }
  if (!hooks.customer(hooks.credentials(request, context), context, request)) return fail("credentials")
  if (!hooks.grant(request, context)) return fail("grant")
  const body = view.stringify(hooks.tokenResponse(hooks.issue(request, context), context))
  write(response, view.tokenStatus, view.headers, Buffer.from(body), view.chunked)
}

const validRecord = (request: Incoming, context: Context, hooks: Hooks): TokenRecord | undefined => {
  const record = hooks.find(hooks.bearer(request, context), request, context)
  return record !== undefined && hooks.alive(record, request, context) ? record : undefined
}

const handleCheck = async (
  request: Incoming,
  response: ServerResponse,
  context: Context,
  hooks: Hooks
): Promise<void> => {
  const view = presentation[context.style]
  const record = validRecord(request, context, hooks)
  if (record === undefined && !hooks.anonymous(request, context)) {
    return refuse(response, "token", request, context, hooks)
  }
  if (record !== undefined) record.uses += 1
  const fail = (refusal: Refusal): void => {
    hooks.checkRefused(record, request, context)
    refuse(response, refusal, request, context, hooks)
  }
  const fields: Fields | undefined = hooks.fields(request)
  if (fields === undefined) return fail("body")
  if (!hooks.entity(fields.entity_type) || !hooks.name(fields.name) || !hooks.dob(fields.dob)) return fail("person")
  const check = { request, context, record, name: String(fields.name ?? ""), dob: String(fields.dob ?? "") }
  context.checksInFlight += 1
  const match = hooks.matches(check)
  await pause(searchDuration)
  context.checksInFlight -= 1
  const body = hooks.encode(hooks.credential(hooks.attributes(check, match), check, match), check, match)
  write(response, view.checkStatus, view.headers, body, view.chunked)
}

/**
 * Starts the service on a free loopback port. The token endpoint and the AML check share one URL.
 *
 * `now` returns milliseconds since the epoch and replaces the clock of the service.
 * `style` selects how the service refuses requests (default "strict").
 * `fault` is the id of a mutant. The promise rejects if no mutant has this id.
 */
export const serve = async (options: {
  readonly now?: () => number
  readonly style?: Style
  readonly fault?: string
}): Promise<{
  readonly url: string
  readonly customerId: string
  readonly customerKey: string
  readonly close: () => Promise<void>
}> => {
  const now = options.now ?? Date.now
  const hooks: Hooks = { ...correctHooks, ...(options.fault === undefined ? {} : hooksFor(options.fault)) }
  const context: Context = {
    style: options.style ?? "strict",
    customerId,
    customerKey,
    now,
    startedAt: now(),
    tokens: new Map(),
    checksInFlight: 0
  }
  const connections = new Map<Socket, number>()
  let connectionCount = 0

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = now()
    const body = await readBody(message)
    const target = new URL(`http://service${message.url ?? "/"}`)
    const request: Incoming = {
      method: message.method ?? "",
      path: target.pathname,
      query: target.searchParams,
      headers: message.headers,
      body,
      connection: connections.get(message.socket) ?? 0,
      at
    }
    const path = hooks.path(request)
    if (path !== tokenPath && path !== checkPath) return refuse(response, "path", request, context, hooks)
    if (!hooks.method(request, context)) return refuse(response, "method", request, context, hooks)
    if (path === tokenPath) return handleToken(request, response, context, hooks)
    return handleCheck(request, response, context, hooks)
  }

  const server = createServer((message, response) => {
    handle(message, response).catch(() => response.destroy())
  })
  server.on("connection", (socket: Socket) => {
    connectionCount += 1
    connections.set(socket, connectionCount)
    socket.on("close", () => connections.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(0, "127.0.0.1", resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    customerId,
    customerKey,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
