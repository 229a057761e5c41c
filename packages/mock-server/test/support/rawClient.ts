/** A TCP client that sends bytes, and returns the received bytes and how the connection ended. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createConnection, type Socket } from "node:net"

/** The server closed the connection (`fin`), reset it (`reset`), or left it open (`open`). */
export type End = "fin" | "reset" | "open"

export interface Answer {
  readonly bytes: Buffer
  /** The received bytes, one character each. */
  readonly text: string
  readonly end: End
  /** From the last write to the end. */
  readonly millis: number
  /** From the last write to the first byte, if one arrived. */
  readonly firstByte: number | undefined
  /** How many chunks arrived. */
  readonly arrivals: number
}

export interface Connection {
  /** Sends bytes. Ignores that the server has closed the connection, which `answer` reports. */
  readonly write: (data: string | Uint8Array) => Effect.Effect<void>
  /**
   * Returns everything until the server ends the connection, until `isEnough`, or until it was silent for `patience`
   * milliseconds (5000 by default) in which this process ran: time without the CPU is not silence.
   */
  readonly answer: (
    options?: { readonly patience?: number; readonly isEnough?: (text: string) => boolean }
  ) => Effect.Effect<Answer>
  /** Ends the outgoing stream, and still reads. */
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

/** Opens a connection, which closes with the scope. */
export const connect = (url: string) =>
  Effect.acquireRelease(open(url), (socket) => Effect.sync(() => socket.destroy())).pipe(
    Effect.map((socket): Connection => {
      const chunks: Array<Buffer> = []
      let ended: End | undefined
      let silence = 0
      let [writtenAt, firstAt, endedAt] = [Date.now(), 0, 0]
      const end = (how: End) => {
        ended ??= how
        endedAt ||= Date.now()
      }
      socket.on("data", (chunk) => {
        silence = 0
        firstAt ||= Date.now()
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
            silence = 0
            return Effect.repeat(
              Effect.sync(() =>
                ended !== undefined || silence++ * 5 >= patience || isEnough?.(received().toString("latin1")) === true
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

/** Sends bytes on a new connection, and returns what it received. */
export const send = (url: string, data: string | Uint8Array, patience?: number) =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* connect(url)
    yield* connection.write(data)
    return yield* connection.answer({ ...(patience !== undefined && { patience }) })
  }))

/** The text of a request with a `Content-Length`. By default it closes the connection. */
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

/** The text of a token request. */
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

/** The text of a check. */
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

/** Parses an intact response. */
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

/** Requests a token for this customer on a new connection. */
export const token = (url: string, customerId: string, customerKey?: string) =>
  Effect.map(send(url, tokenRequest(customerId, customerKey)), (answer): string => {
    const { access_token } = JSON.parse(parse(answer).body.toString())
    return access_token
  })

/** Whether a token request and a check succeed on new connections. */
export const works = (url: string, customerId: string) =>
  Effect.gen(function*() {
    const answer = yield* send(url, amlRequest(yield* token(url, customerId)))
    return parse(answer).statusLine === "HTTP/1.1 200 OK" && parse(answer).body.includes("\"match_found\":\"No\"")
  })
