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
  it.live("shows each claim once, below its level and how many it has", () =>
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

  it.live("says of a claim what is accepted, what the mock server plays, and what exercises it", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run()
      const lines = claimIn(stdout, "token.success.status")
      deepStrictEqual(lines.slice(0, 6), [
        "token.success.status (section 4.2): the token endpoint answers 200",
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

  it.live("shows only the levels that are asked for", () =>
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

  it.live("prints the same as JSON: each claim has a case, or a reason", () =>
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

  it.live("knows the scenarios of every file that is there", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const files = (yield* fs.readDirectory(Contract.pathOf("scenarios"))).filter((name) => name.endsWith(".yaml"))
      const named = (yield* json()).claims.flatMap(({ scenarios }) => scenarios)
      for (const file of files) assert(named.some((name) => name.endsWith(` (${file})`)), file)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("shows the claims of another file, with what was observed", () =>
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

  it.scopedLive("refuses in one line what it does not take, without its value", () =>
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
      const told = (text: string) =>
        Effect.zipRight(
          fs.writeFileString(path, text),
          Effect.map(line("--evidence", path), (line) => {
            strictEqual(line.startsWith(`--evidence ${path}: `), true)
            strictEqual(/\n|canary/i.test(line), false)
            return line.slice(`--evidence ${path}: `.length)
          })
        )
      const claim = "id: a.b, claim: x, section: \"4\", source: s, client: tolerate"
      strictEqual(yield* told("claims: [{ id: [canary"), "it is not YAML: see line 1, column 23")
      strictEqual(yield* told("claims: *canary"), "it is not YAML")
      strictEqual(yield* told(""), "the file should be an object with claims")
      strictEqual(yield* told("canary"), "the file should be an object with claims")
      strictEqual(yield* told("claims: canary"), "claims should be a list of claims")
      strictEqual(yield* told("claims: []"), "claims.0 is missing")
      strictEqual(
        yield* told("claims: [{ id: Canary }]"),
        "claims.0.id should be words such as token.success.status; claims.0.claim is missing; " +
          "claims.0.level is missing; claims.0.section is missing; claims.0.source is missing; and 1 more"
      )
      strictEqual(
        yield* told(`claims: [{ ${claim}, level: canary, accept: [] }]`),
        "a.b.level should be documented, observed, assumed or unknown; a.b.accept.0 is missing"
      )
      strictEqual(
        yield* told(`claims: [{ ${claim}, level: assumed, accept: [{ pattern: "(canary" }] }]`),
        "a.b.accept.0 should be a word, a number, or { pattern: a regular expression }"
      )
      const either = "a.b should have either accept or unobserved"
      strictEqual(yield* told(`claims: [{ ${claim}, level: assumed }]`), either)
      strictEqual(yield* told(`claims: [{ ${claim}, level: assumed, accept: [a], unobserved: x }]`), either)
      const once = `{ ${claim}, level: assumed, accept: [a] }`
      strictEqual(yield* told(`claims: [${once}, ${once}]`), "a.b is there twice")
    }).pipe(Effect.provide(NodeContext.layer)))
})
