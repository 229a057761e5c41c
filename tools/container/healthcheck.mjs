/** Exits with 0 if the mock server of this container is ready, with or without TLS, and otherwise with 1. */
import { get } from "node:http"
import { get as getSecurely } from "node:https"

const [, , port = "4010"] = process.argv
const options = { host: "127.0.0.1", port, path: "/_mock/ready", timeout: 2000 }

const isReady = (get, options) =>
  new Promise((resolve) => {
    const request = get(options, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on("error", () => resolve(false)).on("timeout", () => request.destroy(new Error("timeout")))
  })

// The certificate is that of this container itself, so that a check of it would prove nothing.
const ready = await isReady(get, options) || await isReady(getSecurely, { ...options, rejectUnauthorized: false })
process.exit(ready ? 0 : 1)
