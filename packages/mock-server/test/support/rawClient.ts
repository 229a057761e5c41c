/** A TCP client that knows nothing of HTTP: it sends bytes, and tells what came back and how it ended. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createConnection, type Socket } from "node:net"

/**
 * - `fin`: the server closed properly. `reset`: it reset the connection.
 * - `open`: nothing more came, and the connection stayed open.
 */
export type End = "fin" | "reset" | "open"

/**
 * - `text`: what came, a character for each byte.
 * - `millis`: from the last write to the end. `firstByte`: to the first byte, if there was one.
 * - `arrivals`: how many pieces it came in.
 */
export interface Answer {
  readonly bytes: Buffer
  readonly text: string
  readonly end: End
  readonly millis: number
  readonly firstByte: number | undefined
  readonly arrivals: number
}

/**
 * - `write`: sends bytes; also when the server has gone, which only `answer` tells.
 * - `answer`: everything until the server ends the connection, or until `isEnough`, or until it was
 *   silent for `patience` milliseconds, which are 5000 by default.
 * - `half`: ends what goes out, and still reads.
 * - `destroy`, `reset`: the client goes away.
 */
export interface Connection {
  readonly write: (data: string | Uint8Array) => Effect.Effect<void>
  readonly answer: (
    options?: { readonly patience?: number; readonly isEnough?: (text: string) => boolean }
  ) => Effect.Effect<Answer>
  readonly half: Effect.Effect<void>
  readonly destroy: Effect.Effect<void>
  readonly reset: Effect.Effect<void>
  readonly pause: Effect.Effect<void>
}

const open = (url: string) =>
  Effect.async<Socket>((resume) => {
    const { hostname, port } = new URL(url)
    const socket = createConnection({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    socket.once("connect", () => resume(Effect.succeed(socket)))
    socket.once("error", (error) => resume(Effect.die(error)))
    return Effect.sync(() => socket.destroy())
  })

/** A connection until the scope closes. */
export const connect = (url: string) =>
  Effect.acquireRelease(open(url), (socket) => Effect.sync(() => socket.destroy())).pipe(
    Effect.map((socket): Connection => {
      const chunks: Array<Buffer> = []
      let ended: End | undefined
      let [writtenAt, firstAt, lastAt, endedAt] = [Date.now(), 0, 0, 0]
      const end = (how: End) => {
        ended ??= how
        endedAt ||= Date.now()
      }
      socket.on("data", (chunk) => {
        lastAt = Date.now()
        firstAt ||= lastAt
        chunks.push(chunk)
      })
      socket.on("end", () => end("fin"))
      socket.on("error", () => end("reset"))
      socket.on("close", () => end("reset"))
      const received = () => Buffer.concat(chunks)
      return {
        write: (data) =>
          Effect.sync(() => {
            writtenAt = Date.now()
            socket.write(data)
          }),
        answer: ({ isEnough, patience = 5000 } = {}) =>
          Effect.suspend(() => {
            const askedAt = Date.now()
            return Effect.repeat(
              Effect.sync(() =>
                ended !== undefined || Date.now() - Math.max(lastAt, askedAt) >= patience ||
                isEnough?.(received().toString("latin1")) === true
              ),
              { until: (isOver) => isOver, schedule: Schedule.spaced("5 millis") }
            )
          }).pipe(
            Effect.map(() => ({
              bytes: received(),
              text: received().toString("latin1"),
              end: ended ?? "open",
              millis: (endedAt || Date.now()) - writtenAt,
              firstByte: firstAt === 0 ? undefined : firstAt - writtenAt,
              arrivals: chunks.length
            }))
          ),
        half: Effect.sync(() => void socket.end()),
        destroy: Effect.sync(() => void socket.destroy()),
        reset: Effect.sync(() => void socket.resetAndDestroy()),
        pause: Effect.sync(() => void socket.pause())
      }
    })
  )

/** Sends bytes on a connection of their own, and tells what came back. */
export const send = (url: string, data: string | Uint8Array, patience?: number) =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* connect(url)
    yield* connection.write(data)
    return yield* connection.answer({ ...(patience !== undefined && { patience }) })
  }))

/** A request as text, with a `Content-Length` and, unless told otherwise, the last one of its connection. */
export const request = (
  line: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array = "",
  connection: "close" | "keep-alive" = "close"
): Buffer =>
  Buffer.concat([
    Buffer.from(
      [
        `${line} HTTP/1.1`,
        "Host: mock.test",
        `Connection: ${connection}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        `Content-Length: ${Buffer.byteLength(body)}`,
        "\r\n"
      ].join("\r\n")
    ),
    Buffer.from(body)
  ])

/** The request for a token. */
export const tokenRequest = (
  customerId: string,
  customerKey = "test-key",
  connection: "close" | "keep-alive" = "close"
): Buffer =>
  request(
    "POST /oauth/service",
    {
      "Authorization": `Basic ${Buffer.from(`${customerId}:${customerKey}`).toString("base64")}`,
      "Content-Type": "application/x-www-form-urlencoded"
    },
    "grant_type=client_credentials",
    connection
  )

/** The request for a check. */
export const amlRequest = (
  token: string,
  name = "Ada Testclear",
  connection: "close" | "keep-alive" = "close"
): Buffer =>
  request(
    "POST /api/aml",
    { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    JSON.stringify({ entity_type: "person", name, dob: "01-02-1990" }),
    connection
  )

/** What an intact answer says. */
export const parse = ({ bytes }: Pick<Answer, "bytes">) => {
  const at = bytes.indexOf("\r\n\r\n")
  const [statusLine = "", ...lines] = bytes.subarray(0, at).toString("latin1").split("\r\n")
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return {
    statusLine,
    status: Number(statusLine.split(" ")[1]),
    headers: Object.fromEntries(headers),
    names: headers.map(([name]) => name),
    body: bytes.subarray(at + 4)
  }
}

/** A token for this customer, over a connection of its own. */
export const token = (url: string, customerId: string, customerKey?: string) =>
  Effect.map(send(url, tokenRequest(customerId, customerKey)), (answer): string => {
    const { access_token } = JSON.parse(parse(answer).body.toString())
    return access_token
  })

/** Whether a fresh connection gets what it asks for: a token, and a check with it. */
export const works = (url: string, customerId: string) =>
  Effect.gen(function*() {
    const answer = yield* send(url, amlRequest(yield* token(url, customerId)))
    return parse(answer).statusLine === "HTTP/1.1 200 OK" && parse(answer).body.includes("\"match_found\":\"No\"")
  })
