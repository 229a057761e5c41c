/** Serves both endpoints with constant responses: `stub.ts <options as JSON>` prints its address. */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { Options } from "../support/Stub.ts"

const defaults = { latency: 0, tokenSeconds: 3600, tokenLatency: 0, downFrom: Infinity, downTo: Infinity }
const options: Options = JSON.parse(process.argv[2] ?? "{}")
const { downFrom, downTo, latency, tokenLatency, tokenSeconds } = { ...defaults, ...options }

const searchedOn = new Date().toISOString().slice(0, 19).replace("T", " ")

const counts = { tokens: 0, refused: 0, checks: 0 }
let lastToken = 0

const send = (response: ServerResponse, status: number, body: string) => {
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
  response.end(body)
}

const runAfter = (millis: number, action: () => void) => {
  if (millis === 0) action()
  else setTimeout(action, millis)
}

const token = (response: ServerResponse) => {
  const requestedAt = performance.now()
  const tokenAge = requestedAt - lastToken
  if (lastToken > 0 && tokenAge >= downFrom && tokenAge < downTo) {
    counts.refused++
    return send(response, 503, "{}")
  }
  runAfter(tokenLatency, () => {
    lastToken = requestedAt
    const body = { access_token: `token-${++counts.tokens}`, token_type: "Bearer", expires_in: tokenSeconds }
    send(response, 200, JSON.stringify(body))
  })
}

const check = (response: ServerResponse, name: string, dob: string) => {
  counts.checks++
  const attributes = {
    name,
    birth_year: dob.slice(6),
    searched_on: searchedOn,
    match_found: "No",
    aml_profile: "https://example.com/aml-profiles/1"
  }
  const credential = {
    credential_type: "aml",
    credential_name: "AML",
    issued_by: "stub",
    issuer_id: "3f0f4b2e-8c1d-4e6a-9b7f-1a2b3c4d5e6f",
    cred_version: "1.0",
    credentials: { attributes }
  }
  runAfter(latency, () => send(response, 200, JSON.stringify(credential)))
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    if (request.url === "/oauth/service") return token(response)
    if (request.url === "/counts") return send(response, 200, JSON.stringify(counts))
    const { dob, name } = JSON.parse(Buffer.concat(chunks).toString())
    check(response, name, dob)
  })
})

// `coldStart` opens 10,000 connections at once. A full backlog would delay the client by a second.
server.listen({ port: 0, host: "127.0.0.1", backlog: 16_384 }, () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
