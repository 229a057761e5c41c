/**
 * `idv-mock verify --target sandbox` against independent software: a certified OAuth server for the token, and Prism,
 * which serves the OpenAPI document, for the check.
 */
import { Command, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Either, Schema, Stream } from "effect"
import { join } from "node:path"
import * as OAuthServers from "../../core/test/support/oauthServers.ts"
import { idvMock } from "../../mock-server/test/support/program.ts"
import { Conformance, Contract } from "../src/index.ts"
import * as Prism from "./support/prism.ts"

const customerId = "sandbox-customer"
const customerKey = "canary-key-of-the-sandbox"

const textOf = (stream: Stream.Stream<Uint8Array, unknown>) =>
  stream.pipe(Stream.decodeText(), Stream.runCollect, Effect.map(Chunk.join("")), Effect.orDie)

const verify = (...flags: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const program = yield* idvMock
    const running = yield* Command.start(
      Command.make(process.execPath, program, "verify", "--target", "sandbox", ...flags).pipe(
        Command.env({ IDV_CUSTOMER_ID: customerId, IDV_CUSTOMER_KEY: customerKey })
      )
    )
    const [stdout, stderr, exitCode] = yield* Effect.all(
      [textOf(running.stdout), textOf(running.stderr), running.exitCode],
      { concurrency: "unbounded" }
    )
    return { stdout, stderr, exitCode: Number(exitCode) }
  })

/** The cases with a mark, such as `✗`, and those of the same cause below them. */
const marked = (table: string, mark: string) =>
  table.split("\n").flatMap((line) =>
    line.startsWith(`  ${mark} `)
      ? line.trim().split(/[ :]+/)[1] ?? []
      : mark === "✗"
      ? /^ +the same in \d+ more cases?: (.+)$/.exec(line)?.[1]?.split(", ") ?? []
      : []
  )

const observedOf = (text: string) =>
  Either.map(Contract.fromYaml(text), ({ claims }) => (id: string) => claims.find((claim) => claim.id === id))

describe("idv-mock verify --target sandbox", () => {
  it.scopedLive(
    "completes against independent servers and reports what they do",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const observations = join(yield* fs.makeTempDirectoryScoped(), "observed.yaml")
        const oauth = yield* OAuthServers.oidcProvider({ customerId, customerKey, seconds: 3600 })
        const prism = yield* Prism.mock(Contract.pathOf("openapi.yaml"))
        const there = ["--auth-url", oauth.url, "--base-url", prism.url, "--spacing", "0", "--deadline", "4 seconds"]
        const first = yield* verify(...there, "--budget", "250", "--observations", observations)
        const seen = yield* fs.readFileString(observations)

        strictEqual(first.exitCode, 1)
        // Prism knows neither people nor tokens nor the time. Its birth_year is that of the first test person.
        const violated = marked(first.stdout, "✗")
        const about =
          /^aml\.(name|birth-year|person|authorization|every-response|searched-on\.run|sequence|listed|fields-after)/
        deepStrictEqual(violated.filter((id) => !about.test(id)), [])
        assert(["aml.name", "aml.sequence.fields", "aml.authorization.changed"].every((id) => violated.includes(id)))
        // An assumption that turned out differently is not a failure of the service.
        for (const id of ["aml.searched-on.zone", "aml.dob.day", "token.method.status", "token.content-type.status"]) {
          assert(marked(first.stdout, "~").includes(id), id)
        }
        assertInclude(first.stdout, "needs a listed test person (--person)")
        assertInclude(first.stdout, "the clock of a service cannot be moved (--wait-for-expiry)")
        assertInclude(first.stdout, " documented claims tested, ")

        const claim = yield* observedOf(seen)
        deepStrictEqual(claim("token.error.content-type")?.level, "observed")
        deepStrictEqual(claim("token.error.content-type")?.observed, [400])
        deepStrictEqual(claim("aml.answer.match-found")?.level, "documented")
        deepStrictEqual(claim("token.expired")?.level, "assumed")

        // With its own observations as the file of claims, the service no longer drifts, and still fails the same cases.
        const second = yield* verify(...there, "--budget", "250", "--claims", observations, "--format", "json")
        const { results } = yield* Schema.decode(Schema.parseJson(Conformance.ReportFile))(second.stdout)
        const having = (verdict: Conformance.Verdict) =>
          results.filter((result) => result.verdict === verdict).map(({ id }) => id)
        // Prism sends no response to a body that is not JSON, and no response is not kept as an observation.
        deepStrictEqual(having("drift"), ["aml.body.not-json.status"])
        deepStrictEqual(having("violated").toSorted(), marked(first.stdout, "✗").toSorted())

        strictEqual(oauth.issued.length > 3, true)
        // No report format shows secrets or personal data.
        const junit = yield* verify(...there, "--budget", "20", "--format", "junit")
        strictEqual(junit.stdout.startsWith("<?xml "), true)
        const all = [first, second, junit].map(({ stderr, stdout }) => stdout + stderr).join("\n") + seen
        const canaries = [
          customerId,
          customerKey,
          Buffer.from(`${customerId}:${customerKey}`).toString("base64"),
          ...oauth.issued
        ]
        deepStrictEqual(canaries.filter((canary) => all.includes(canary)), [])
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
