/**
 * A service that records when requests arrive, for tests of the rate: `arrivalsServer.ts <n>` prints its address, and
 * responds to the check number `n` with 429 and `Retry-After: 3`. It is a process with `node:http` only, so that its
 * times are exact. `/arrivals` returns the milliseconds of each check and the status of its response.
 */
import { createServer, type ServerResponse } from "node:http"

const limited = Number(process.argv[2])
const latency = 20
const arrivals: Array<readonly [at: number, status: number]> = []

const send = (response: ServerResponse, status: number, content: unknown, headers = {}) => {
  const body = JSON.stringify(content)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers
  })
  response.end(body)
}

const credential = (name: string, dob: string) => ({
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "stub",
  issuer_id: "3f0f4b2e-8c1d-4e6a-9b7f-1a2b3c4d5e6f",
  cred_version: "1.0",
  credentials: {
    attributes: {
      name,
      birth_year: dob.slice(6),
      searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
      match_found: "No",
      aml_profile: "https://example.com/aml-profiles/1"
    }
  }
})

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const at = performance.now()
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    if (request.url === "/arrivals") return send(response, 200, arrivals)
    if (request.url === "/oauth/service") {
      return send(response, 200, { access_token: "token", token_type: "Bearer", expires_in: 3600 })
    }
    const status = arrivals.length + 1 === limited ? 429 : 200
    arrivals.push([at, status])
    if (status === 429) return send(response, 429, {}, { "retry-after": "3" })
    const { dob, name } = JSON.parse(Buffer.concat(chunks).toString())
    setTimeout(() => send(response, 200, credential(name, dob)), latency)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}\n`)
})
