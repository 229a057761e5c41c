/** Serves a built site as a static host does: `/errors` is the file `errors.html`. */
import { Effect } from "effect"
import { existsSync, readFileSync, statSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { extname, join } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2"
}

/** Returns the file for a path, or undefined if there is none. */
export const fileFor = (dist: string, path: string): string | undefined =>
  [path, `${path}.html`, `${path}/index.html`].map((name) => join(dist, decodeURIComponent(name)))
    .find((file) => existsSync(file) && statSync(file).isFile())

/** Starts a server on a free port until the scope closes, and returns its address. */
export const serve = (dist: string) =>
  Effect.acquireRelease(
    Effect.async<Server>((resume) => {
      const server = createServer(({ url = "/" }, response) => {
        const file = fileFor(dist, new URL(url, "http://localhost").pathname)
        if (file === undefined) return void response.writeHead(404).end()
        response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" })
        response.end(readFileSync(file))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    })
  )
