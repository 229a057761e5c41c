/** A correct service on a free port of loopback, which may change or end in the middle. */
import { Effect, Either } from "effect"
import { randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export const customer = { IDV_CUSTOMER_ID: "customer", IDV_CUSTOMER_KEY: "s3cret" }

export interface Options {
  /** The status of a credential. */
  readonly status?: number
  /** The `searched_on` of every credential. */
  readonly searchedOn?: string
  /** Changes a response, whose request had this path and body. The service is then wrong, or writes in another style. */
  readonly change?: (
    response: readonly [status: number, body: Json],
    request: { readonly path: string; readonly body: string; readonly authorization: string; readonly number: number }
  ) => readonly [status: number, body: Json | string]
  /** Responds to every request with `status` after this number of requests. */
  readonly ends?: { readonly after: number; readonly status: number }
}

export type Json = { readonly [field: string]: unknown }

interface Check {
  readonly entity_type: unknown
  readonly name: unknown
  readonly dob: unknown
}

const isCheck = (value: unknown): value is Check =>
  typeof value === "object" && value !== null && "entity_type" in value && "name" in value && "dob" in value

const parsed = (text: string): Check | undefined =>
  Either.try((): unknown => JSON.parse(text)).pipe(
    Either.filterOrLeft(isCheck, () => "not a check"),
    Either.getOrUndefined
  )

const isDay = (dob: string): boolean => {
  const [, day = "", month = "", year = ""] = /^(\d\d)-(\d\d)-(\d{4})$/.exec(dob) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
}

export const handler = ({ change = (response) => response, ends, searchedOn, status = 200 }: Options) => {
  const basic = `Basic ${btoa(`${customer.IDV_CUSTOMER_ID}:${customer.IDV_CUSTOMER_KEY}`)}`
  const tokens = new Set<string>()
  let requests = 0

  const responseTo = ({ headers, method, url = "" }: IncomingMessage, body: string): readonly [number, Json] => {
    requests += 1
    if (ends !== undefined && requests > ends.after) return [ends.status, { error: "ended" }]
    if (url === "/oauth/service") {
      const isForm = headers["content-type"] === "application/x-www-form-urlencoded"
      const isRight = method === "POST" && isForm && headers.authorization === basic
      const isForClient = String(new URLSearchParams(body)) === "grant_type=client_credentials"
      if (!isRight || !isForClient) return [401, { error: "invalid_client" }]
      const token = randomBytes(16).toString("hex")
      tokens.add(token)
      return [200, { access_token: token, token_type: "Bearer", expires_in: 3600 }]
    }
    if (!tokens.has(headers.authorization?.replace(/^Bearer /, "") ?? "")) return [401, { error: "invalid_token" }]
    const { dob, entity_type, name } = parsed(body) ?? {}
    if (method !== "POST" || entity_type !== "person" || typeof name !== "string" || name.trim() === "") {
      return [400, {}]
    }
    if (typeof dob !== "string" || !isDay(dob)) return [400, {}]
    const attributes = {
      name,
      birth_year: dob.slice(-4),
      searched_on: searchedOn ?? new Date().toISOString().slice(0, 19).replace("T", " "),
      match_found: /Testpep$/.test(name) ? "Potential match" : "No",
      aml_profile: `https://profiles.example/${Buffer.from(name + dob).toString("hex")}`
    }
    return [status, {
      credential_type: "aml",
      credential_name: "AML",
      issued_by: "A provider",
      issuer_id: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
      cred_version: "1.0",
      credentials: { attributes }
    }]
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk) => {
      body += chunk
    }).on("end", () => {
      const { headers: { authorization = "" }, url: path = "" } = request
      const [status, json] = change(responseTo(request, body), { path, body, authorization, number: requests })
      response.writeHead(status, { "content-type": "application/json" }).end(
        typeof json === "string" ? json : JSON.stringify(json)
      )
    })
  }
}

/** The address of a server with this handler, until the scope closes. */
export const serving = (listener: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close().closeAllConnections())
  ).pipe(Effect.map((server) => {
    const address = server.address()
    return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }))
