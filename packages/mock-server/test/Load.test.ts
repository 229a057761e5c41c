/** `LOAD_REQUESTS=10000 npx vitest run packages/mock-server/test/Load.test.ts` sends more requests. */
import { Control } from "@effect-idv/mock-server"
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Config, Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import * as Program from "./support/program.ts"

/** Nothing arrived of a `lost` response; a `broken` one is incomplete or wrong. */
type Outcome = "answered" | "lost" | "broken"

const Listening = Schema.parseJson(Schema.Struct({ port: Schema.Int, authUrl: Schema.String }))

const TokenAnswer = Schema.parseJson(Schema.Struct({ access_token: Schema.String }))

const connections = 64

/** Some requests are always waiting for their response, so that a stop finds them. */
const late = ["--fault", "aml:latency=50:every=5"]

/** The server as a process, with a heap that is too small to keep 10,000 requests. */
const start = Effect.gen(function*() {
  const script = yield* Program.idvMock
  const child = spawn(process.execPath, [
    "--max-old-space-size=96",
    script,
    ..."serve --port 0 --log json".split(" "),
    ...late
  ])
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  let lines = 0
  let last = ""
  const first = yield* Effect.async<string>((resume) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const [head = "", ...others] = `${last}${text}`.split("\n")
      if (lines === 0 && others.length > 0) resume(Effect.succeed(head))
      lines += others.length
      last = others.at(-1) ?? head
    })
  })
  return {
    ...(yield* Schema.decode(Listening)(first)),
    stop: Effect.sync(() => child.kill("SIGTERM")),
    ended: Effect.promise(() => ended),
    /** How many exchanges it printed. */
    logged: Effect.sync(() => lines - 1),
    /** In MiB. */
    residentMemory: Effect.sync(() =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024
    )
  }
})

const makeAgent = Effect.acquireRelease(
  Effect.sync(() => new Agent({ keepAlive: true, maxSockets: connections })),
  (agent) => Effect.sync(() => agent.destroy())
)

const post = (
  agent: Agent,
  port: number,
  path: string,
  headers: Record<string, string>,
  body: string,
  isRight: (body: string) => boolean
) =>
  Effect.async<Outcome>((resume) => {
    const sent = request({ agent, port, path, headers, method: "POST" }, (answer) => {
      let text = ""
      answer.setEncoding("utf8").on("data", (piece) => text += piece)
      answer.on("error", () => {})
      answer.on("close", () => {
        const isWhole = answer.complete && answer.statusCode === 200
        resume(Effect.succeed(isWhole && isRight(text) ? "answered" : "broken"))
      })
    })
    sent.on("error", () => resume(Effect.succeed("lost")))
    sent.end(body)
  })

/** A name for each number, without digits, which a name cannot have. */
const nameOf = (n: number) => `Ada Load ${Array.from(String(n), (digit) => "abcdefghij".at(Number(digit))).join("")}`

const count = (outcomes: ReadonlyArray<Outcome>, outcome: Outcome) => outcomes.filter((it) => it === outcome).length

describe("idv-mock serve under load", () => {
  it.scopedLive(
    "answers all requests on 64 connections in bounded memory, and at SIGTERM all that it accepted",
    () =>
      Effect.gen(function*() {
        const { authUrl, ended, logged, port, residentMemory, stop } = yield* start
        const agent = yield* makeAgent
        const authorization = `Basic ${btoa("demo-customer:demo-key")}`
        let token = ""
        const issued = yield* post(
          agent,
          port,
          "/oauth/service",
          { authorization, "content-type": "application/x-www-form-urlencoded" },
          "grant_type=client_credentials",
          (text) => {
            token = Schema.decodeSync(TokenAnswer)(text).access_token
            return true
          }
        )
        strictEqual(issued, "answered")

        const check = (n: number) =>
          post(
            agent,
            port,
            "/api/aml",
            { authorization: `Bearer ${token}`, "content-type": "application/json" },
            JSON.stringify({ entity_type: "person", name: nameOf(n), dob: "01-02-1990" }),
            (text) => text.includes(`"name":"${nameOf(n)}"`) && text.includes("\"match_found\":\"No\"")
          )
        const checks = (from: number, to: number, each: (n: number) => Effect.Effect<unknown> = () => Effect.void) =>
          Effect.forEach(
            Array.from({ length: to - from }, (_, index) => from + index),
            (n) => Effect.zipRight(each(n), check(n)),
            { concurrency: connections }
          )

        const total = yield* Config.withDefault(Config.integer("LOAD_REQUESTS"), 1500)
        strictEqual(count(yield* checks(0, 1000), "answered"), 1000)
        const early = yield* residentMemory
        strictEqual(count(yield* checks(1000, total), "answered"), total - 1000)
        const late = yield* residentMemory
        assert(late - early < 60, `from ${early} MiB to ${late} MiB`)

        const control = yield* Effect.provide(Control.make({ url: authUrl }), NodeHttpClient.layer)
        const { dropped, entries } = yield* control.session("demo-customer").journal()
        deepStrictEqual([entries.length, dropped], [1000, total - 999])

        const outcomes = yield* checks(total, total + 1000, (n) => n === total + 500 ? stop : Effect.void)
        const code = yield* ended
        strictEqual(code, 0)
        // It was stopped during the requests, and responded to each request that it had read.
        assert(count(outcomes, "lost") > 0 && count(outcomes, "answered") >= 400, `${count(outcomes, "answered")}`)
        strictEqual(count(outcomes, "broken"), 0)
        strictEqual(count(outcomes, "answered"), (yield* logged) - total - 1)
      })
  )
})
