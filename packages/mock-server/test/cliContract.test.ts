import { Conformance, Contract } from "@effect-idv/contract"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Schema, Struct } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/cli/main.ts"
import { captured } from "./support/captured.ts"

const run = (...words: ReadonlyArray<string>) =>
  Effect.map(
    captured(Effect.either(main(["contract", ...words], { stdout: new PassThrough(), version: "0" }))),
    ({ stdout, value }) => ({
      stdout: stdout.join("\n"),
      line: Either.match(value, { onLeft: (error) => error instanceof Error ? error.message : "", onRight: () => "" })
    })
  )

const Printed = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  counts: Schema.Record({ key: Schema.String, value: Schema.NonNegativeInt }),
  claims: Schema.Array(Schema.Struct({
    ...Contract.Claim.fields,
    cases: Schema.Array(Schema.String),
    scenarios: Schema.Array(Schema.String)
  }))
}))

const json = (...words: ReadonlyArray<string>) =>
  Effect.flatMap(run("--format", "json", ...words), ({ stdout }) => Schema.decode(Printed)(stdout))

const evidence = Effect.provide(Contract.load(), NodeContext.layer)

/** The lines of a claim in the table. */
const claimIn = (table: string, id: string) => {
  const lines = table.split("\n")
  const begin = lines.findIndex((line) => line.startsWith(`  ${id} (`))
  const length = lines.slice(begin + 1).findIndex((line) => !line.startsWith("      "))
  return lines.slice(begin, length === -1 ? undefined : begin + 1 + length).map((line) => line.trim())
}

describe("idv-mock contract", () => {
  it.live("shows each claim once, below its level", () =>
    Effect.gen(function*() {
      const { claims } = yield* evidence
      const { stdout } = yield* run()
      const headings = stdout.split("\n").filter((line) => /^\S/.test(line))
      deepStrictEqual(
        headings,
        Contract.levels.map((level) => {
          const { length } = claims.filter((claim) => claim.level === level)
          return `${level}: ${length} claim${length === 1 ? "" : "s"}`
        })
      )
      for (const { claim, id, section } of claims) {
        const lines = stdout.split("\n").filter((line) => line === `  ${id} (section ${section}): ${claim}`)
        strictEqual(lines.length, 1, id)
      }
    }))

  it.live("shows the accepted words of a claim, the behavior of the mock server, and the cases and scenarios", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run()
      const lines = claimIn(stdout, "token.success.status")
      deepStrictEqual(lines.slice(0, 6), [
        "token.success.status (section 4.2): the token endpoint responds with 200",
        "source: RFC 6749, section 5.1; the document is silent",
        "accepted: 200, 201, 203, /^2[0-9]{2}$/",
        "the mock server: 200",
        "or: --profile tokenStatus=201, --profile tokenStatus=203",
        "cases: token.status"
      ])
      assertInclude(lines[6] ?? "", "get-token (token.arazzo.yaml)")
      assertInclude(claimIn(stdout, "states").join("\n"), "not observed: no operation of the document shows a state")
      assertInclude(claimIn(stdout, "aml.cred-version").join("\n"), "accepted: /^1\\.[0-9]+$/")
    }))

  it.live("shows only the requested levels", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run("--level", "unknown", "--level", "observed")
      deepStrictEqual(
        stdout.split("\n").filter((line) => /^\S/.test(line)).map((line) => line.split(":")[0]),
        ["observed", "unknown"]
      )
      const { claims, counts } = yield* json("--level", "documented")
      deepStrictEqual(counts, { documented: claims.length })
      assert(claims.length > 0 && claims.every(({ level }) => level === "documented"))
    }))

  it.live("prints the claims as JSON, each with a case or a reason", () =>
    Effect.gen(function*() {
      const { claims, counts } = yield* json()
      strictEqual(Object.values(counts).reduce((sum, count) => sum + count, 0), claims.length)
      deepStrictEqual(
        claims.map((claim) => Struct.omit(claim, "cases", "scenarios")).toSorted((a, b) => a.id < b.id ? -1 : 1),
        (yield* evidence).claims.toSorted((a, b) => a.id < b.id ? -1 : 1)
      )
      deepStrictEqual(
        claims.flatMap(({ cases }) => cases).toSorted(),
        Conformance.cases.map(({ id }) => id).toSorted()
      )
      deepStrictEqual(
        claims.filter(({ cases, unobserved }) => (cases.length === 0) !== (unobserved !== undefined)),
        []
      )
    }))

  it.live("includes the scenarios of every file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const files = (yield* fs.readDirectory(Contract.pathOf("scenarios"))).filter((name) => name.endsWith(".yaml"))
      const named = (yield* json()).claims.flatMap(({ scenarios }) => scenarios)
      for (const file of files) assert(named.some((name) => name.endsWith(` (${file})`)), file)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("shows the claims of another file with their observations", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* fs.makeTempFileScoped()
      const [first] = (yield* evidence).claims
      const claim = { ...first, level: "observed", observed: ["granted"], claim: "\u001bit is odd" }
      yield* fs.writeFileString(path, JSON.stringify({ claims: [claim] }))
      const { stdout } = yield* run("--evidence", path)
      assertInclude(stdout, "observed: 1 claim\n  token.request.path (section 4.1): \ufffdit is odd\n")
      assertInclude(stdout, "\n      observed: granted\n")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("refuses invalid arguments in one line without their values", () =>
    Effect.gen(function*() {
      const line = (...words: ReadonlyArray<string>) => Effect.map(run(...words), ({ line }) => line)
      strictEqual(
        yield* line("--level", "canary"),
        "--level is invalid: expected one of documented, observed, assumed, unknown"
      )
      strictEqual(yield* line("--format", "canary"), "--format is invalid: expected one of table, json")
      strictEqual(yield* line("--evidence", "/nowhere/canary"), "--evidence /nowhere/canary: there is no such file")
      const fs = yield* FileSystem.FileSystem
      const path = yield* fs.makeTempFileScoped()
      const problemOf = (text: string) =>
        Effect.zipRight(
          fs.writeFileString(path, text),
          Effect.map(line("--evidence", path), (line) => {
            strictEqual(line.startsWith(`--evidence ${path}: `), true)
            strictEqual(/\n|canary/i.test(line), false)
            return line.slice(`--evidence ${path}: `.length)
          })
        )
      const claim = "id: a.b, claim: x, section: \"4\", source: s, client: tolerate"
      strictEqual(yield* problemOf("claims: [{ id: [canary"), "it is not YAML: see line 1, column 23")
      strictEqual(yield* problemOf("claims: *canary"), "it is not YAML")
      strictEqual(yield* problemOf(""), "the file should be an object with claims")
      strictEqual(yield* problemOf("canary"), "the file should be an object with claims")
      strictEqual(yield* problemOf("claims: canary"), "claims should be a list of claims")
      strictEqual(yield* problemOf("claims: []"), "claims.0 is missing")
      strictEqual(
        yield* problemOf("claims: [{ id: Canary }]"),
        "claims.0.id should be an id such as token.success.status; claims.0.claim is missing; " +
          "claims.0.level is missing; claims.0.section is missing; claims.0.source is missing; and 1 more"
      )
      strictEqual(
        yield* problemOf(`claims: [{ ${claim}, level: canary, accept: [] }]`),
        "a.b.level should be documented, observed, assumed or unknown; a.b.accept.0 is missing"
      )
      strictEqual(
        yield* problemOf(`claims: [{ ${claim}, level: assumed, accept: [{ pattern: "(canary" }] }]`),
        "a.b.accept.0 should be a word, a number, or { pattern: a regular expression }"
      )
      const either = "a.b should have either accept or unobserved"
      strictEqual(yield* problemOf(`claims: [{ ${claim}, level: assumed }]`), either)
      strictEqual(yield* problemOf(`claims: [{ ${claim}, level: assumed, accept: [a], unobserved: x }]`), either)
      const once = `{ ${claim}, level: assumed, accept: [a] }`
      strictEqual(yield* problemOf(`claims: [${once}, ${once}]`), "a.b is defined twice")
    }).pipe(Effect.provide(NodeContext.layer)))
})
