import { Conformance, Contract } from "@effect-idv/contract"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Either, Schema, Struct } from "effect"
import { PassThrough } from "node:stream"
import { main } from "../src/internal/command/main.ts"
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

const reference = Effect.provide(Contract.load(), NodeContext.layer)

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
      const { claims } = yield* reference
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
        "token.success.status (section 4.1): the token endpoint responds with 200",
        "source: RFC 6749, section 5.1",
        "accepted: 200, 201, 203, /^2[0-9]{2}$/",
        "the mock server: 200",
        "or: --profile tokenStatus=201, --profile tokenStatus=203",
        "cases: token.status"
      ])
      assertInclude(lines[6] ?? "", "get-token (assumed-token.arazzo.yaml)")
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
        (yield* reference).claims.toSorted((a, b) => a.id < b.id ? -1 : 1)
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
      const [first] = (yield* reference).claims
      const claim = { ...first, level: "observed", observed: ["granted"], claim: "\u001bit is odd" }
      yield* fs.writeFileString(path, JSON.stringify({ claims: [claim] }))
      const { stdout } = yield* run("--claims", path)
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
      strictEqual(yield* line("--claims", "/nowhere/canary"), "--claims /nowhere/canary: there is no such file")
      const fs = yield* FileSystem.FileSystem
      const path = yield* fs.makeTempFileScoped()
      const problemOf = (text: string) =>
        Effect.zipRight(
          fs.writeFileString(path, text),
          Effect.map(line("--claims", path), (line) => {
            strictEqual(line.startsWith(`--claims ${path}: `), true)
            strictEqual(/\n|canary/i.test(line), false)
            return line.slice(`--claims ${path}: `.length)
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
      const version = "version should be 1, the version that this program reads"
      strictEqual(
        yield* problemOf(`version: 2\nclaims: [{ ${claim}, level: assumed, accept: [a] }]`),
        `${version}: the file has version 2`
      )
      strictEqual(yield* problemOf(`version: canary\nclaims: [{ ${claim}, level: assumed, accept: [a] }]`), version)
      strictEqual(
        yield* problemOf(`document: { sha256: canary }\nclaims: [{ ${claim}, level: assumed, accept: [a] }]`),
        "document.sha256 should be 64 hexadecimal digits"
      )
      const once = `{ ${claim}, level: assumed, accept: [a] }`
      strictEqual(yield* problemOf(`claims: [${once}, ${once}]`), "a.b is defined twice")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock contract diff", () => {
  const claim = (id: string, more = "") =>
    `{ id: ${id}, claim: x, section: "4", source: s, client: tolerate, level: assumed, accept: [200]${more} }`

  /** The output and the error for two files of claims. */
  const diff = (older: string, newer: string) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [before, after] = [yield* fs.makeTempFileScoped(), yield* fs.makeTempFileScoped()]
      yield* fs.writeFileString(before, older)
      yield* fs.writeFileString(after, newer)
      const { line, stdout } = yield* run("diff", before, after)
      return { line, lines: stdout.split("\n") }
    })

  it.scopedLive("says that the reference contract is the same as itself", () =>
    Effect.gen(function*() {
      const path = Contract.pathOf("claims.yaml")
      deepStrictEqual(yield* run("diff", path, path), { line: "", stdout: "The claims are the same" })
    }))

  it.scopedLive("succeeds if only claims were added or accept less", () =>
    Effect.gen(function*() {
      const older = `claims: [${claim("a.b").replace("[200]", "[200, 201]")}]`
      const newer = `claims: [${claim("a.b")}, ${claim("c.d")}]`
      deepStrictEqual(yield* diff(older, newer), {
        line: "",
        lines: ["added: c.d", "changed: a.b", "  accepted: 200, 201 before, 200 now"]
      })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("fails if a change breaks consumers, and names it", () =>
    Effect.gen(function*() {
      const observed = (word: string) => `, observed: [${word}], observedOn: { day: "2026-05-17", target: sandbox }`
      const documented = claim("g.h").replace("assumed", "documented")
      const sha = "0123456789abcdef".repeat(4)
      const older = `document: { sha256: ${sha} }\n` +
        `claims: [${claim("a.b")}, ${claim("c.d")}, ${claim("e.f", observed("200"))}, ${documented}, ${claim("i.j")}]`
      const newer = `claims: [${claim("a.b").replace("[200]", "[200, 202]")}, ${claim("e.f", observed("201"))}, ` +
        `${claim("g.h")}, ${claim("i.j", observed("200"))}]`
      deepStrictEqual(yield* diff(older, newer), {
        line: "idv-mock contract diff: 4 breaking changes",
        lines: [
          `document: SHA-256 ${sha} before, unknown now`,
          "removed, breaking: c.d",
          "changed, breaking: a.b",
          "  accepted: 200 before, 200, 202 now",
          "changed, breaking: e.f",
          "  observed: 200 before, 201 now",
          "changed, breaking: g.h",
          "  level: documented before, assumed now",
          "changed: i.j",
          "  observed: nothing before, 200 now"
        ]
      })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("does not call another refusal breaking, unless the client refuses it", () =>
    Effect.gen(function*() {
      const refusal = (status: number, more = "") =>
        `claims: [${
          claim("a.b", `, observed: [${status}], observedOn: { day: "2026-05-17", target: sandbox }${more}`)
            .replace("\"4\"", "\"7\"")
        }]`
      deepStrictEqual(yield* diff(refusal(405), refusal(400)), {
        line: "",
        lines: ["changed: a.b", "  observed: 405 before, 400 now"]
      })
      strictEqual(
        (yield* diff(refusal(405), refusal(400, ", refuses: [400]"))).line,
        "idv-mock contract diff: 1 breaking change"
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes its changes as JSON, and refuses another format", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const [before, after] = [yield* fs.makeTempFileScoped(), yield* fs.makeTempFileScoped()]
      yield* fs.writeFileString(before, `claims: [${claim("a.b")}]`)
      yield* fs.writeFileString(after, `claims: [${claim("a.b")}, ${claim("c.d")}]`)
      const { line, stdout } = yield* run("diff", before, after, "--format", "json")
      deepStrictEqual([line, JSON.parse(stdout)], ["", {
        version: 1,
        changes: [{ kind: "added", claim: "c.d", isBreaking: false, differences: [] }]
      }])
      assertInclude((yield* run("diff", before, after, "--format", "xml")).line, "--format is invalid: expected one of")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("names the argument whose file is invalid or missing", () =>
    Effect.gen(function*() {
      const lineOf = (...words: ReadonlyArray<string>) => Effect.map(run("diff", ...words), ({ line }) => line)
      const path = Contract.pathOf("claims.yaml")
      strictEqual(yield* lineOf("/nowhere/a", path), "<old> /nowhere/a: there is no such file")
      strictEqual(yield* lineOf(path, "/nowhere/b"), "<new> /nowhere/b: there is no such file")
      strictEqual(yield* lineOf(path), "idv-mock contract diff: <new> is missing")
      strictEqual(yield* lineOf(path, path, path), "idv-mock contract diff: too many arguments")
    }))
})
