import type { AmlError } from "@effect-idv/core"
import type { Session } from "@effect-idv/mock-server"
import { Control, MockServer } from "@effect-idv/mock-server"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import * as OtlpJson from "../src/observability/OtlpJson.ts"
import { assertPrinted } from "./support/documentedOutput.ts"
import { outputOf, readme } from "./support/documents.ts"
import * as ExampleProcess from "./support/exampleProcess.ts"

const main = new URL("../src/observability/main.ts", import.meta.url)

interface Post {
  readonly path: string
  readonly contentType: string
  readonly body: string
}

/** Records every byte of every request, without code of the example. */
const collector = Effect.acquireRelease(
  Effect.async<{ readonly url: string; readonly posts: Array<Post>; readonly close: () => void }>((resume) => {
    const posts: Array<Post> = []
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8")
        posts.push({ path: request.url ?? "", contentType: request.headers["content-type"] ?? "", body })
        response.writeHead(200, { "content-type": "application/json" }).end("{}")
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, posts, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const run = (variables: ExampleProcess.Variables) =>
  Effect.flatMap(ExampleProcess.command(main, [], variables), ExampleProcess.run)

const decode = <A, I>(schema: Schema.Schema<A, I>, posts: ReadonlyArray<Post>, path: string) =>
  Effect.forEach(
    posts.filter((post) => post.path === path),
    ({ body }) => Schema.decode(Schema.parseJson(schema))(body)
  )

const received = Effect.fn(function*(posts: ReadonlyArray<Post>) {
  const traces = yield* decode(OtlpJson.Traces, posts, "/v1/traces")
  const metrics = yield* decode(OtlpJson.Metrics, posts, "/v1/metrics")
  const logs = yield* decode(OtlpJson.Logs, posts, "/v1/logs")
  return {
    resources: [
      ...traces.flatMap(({ resourceSpans }) => resourceSpans),
      ...metrics.flatMap(({ resourceMetrics }) => resourceMetrics),
      ...logs.flatMap(({ resourceLogs }) => resourceLogs)
    ].map(({ resource }) => resource.attributes),
    spans: traces.flatMap(OtlpJson.spans),
    // Each export contains the totals since the start.
    metrics: Option.match(Arr.last(metrics), { onNone: () => [], onSome: OtlpJson.metrics }),
    logs: logs.flatMap(OtlpJson.logRecords)
  }
})

const readFile = (name: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(`../src/observability/${name}`, import.meta.url)))
  )

const matches = (text: string, pattern: RegExp) => new Set(Array.from(text.matchAll(pattern), ([, found]) => found))

/** The names that Prometheus gives to a metric received by OTLP. */
const prometheusNames = ({ histogram, name }: OtlpJson.Metric) =>
  histogram === undefined ? [`${name}_total`] : ["bucket", "count", "sum"].map((part) => `${name}_${part}`)

const outcomes = [
  "No",
  "Potential match",
  "Potential match",
  "not screened: AmlForbidden",
  "not screened: AmlRateLimited",
  "not screened: AmlUnavailable",
  "not screened: AmlTimeout",
  "not screened: AmlResponseMismatch",
  "not screened: AmlResponseInvalid",
  "No",
  "not screened: TokenEndpointUnavailable",
  "not screened: TokenRejected"
]

/** Outcomes that exist but do not occur in this run. */
const otherOutcomes: ReadonlyArray<string> = ["DoubtfulNo", "Interrupted", "AmlUnauthorized"] satisfies ReadonlyArray<
  AmlError.AmlError["_tag"] | "DoubtfulNo" | "Interrupted"
>

const outcomeLines = outcomes.map((outcome, index) => `applicant ${index + 1}: ${outcome}\n`).join("")

describe("observability", { concurrent: true }, () => {
  it.scopedLive("sends spans, metrics and logs to the collector at OTEL_EXPORTER_OTLP_ENDPOINT", () =>
    Effect.gen(function*() {
      const { posts, url } = yield* collector
      const { exitCode, stderr, stdout } = yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: "a-bank" })
      strictEqual(stderr, "")
      assertInclude(stdout, outcomeLines)
      assertInclude(stdout, `Sent traces, metrics and logs to ${url}.`)
      strictEqual(exitCode, 0)

      deepStrictEqual(new Set(posts.map(({ path }) => path)), new Set(["/v1/traces", "/v1/metrics", "/v1/logs"]))
      deepStrictEqual(new Set(posts.map(({ contentType }) => contentType)), new Set(["application/json"]))
      const { logs, metrics, resources, spans } = yield* received(posts)

      // One process has one instance id.
      deepStrictEqual(new Set(resources.map((attributes) => attributes.get("service.name"))), new Set(["a-bank"]))
      strictEqual(new Set(resources.map((attributes) => attributes.get("service.instance.id"))).size, 1)

      const named = (name: string) => spans.filter((span) => span.name === name)
      const parentName = (span: OtlpJson.Span) =>
        Option.match(OtlpJson.parentOf(spans, span), { onNone: () => "none", onSome: ({ name }) => name })
      deepStrictEqual(
        new Set(spans.map((span) => `${parentName(span)} > ${span.name}`)),
        new Set([
          "none > sign-up",
          "sign-up > AmlClient.check",
          "AmlClient.check > TokenProvider.get",
          "AmlClient.check > TokenProvider.invalidate",
          "none > TokenProvider.acquire"
        ])
      )
      deepStrictEqual(
        named("sign-up").map(({ attributes }) => attributes.get("applicant")),
        Arr.makeBy(12, (index) => String(index + 1))
      )
      // A failed check has an error status and its outcome.
      const checks = named("AmlClient.check")
      deepStrictEqual(
        checks.map(({ attributes, status }) => `${attributes.get("outcome")} ${status.code}`),
        outcomes.map((outcome) =>
          outcome === "No"
            ? "NoMatch 1"
            : outcome === "Potential match"
            ? "PotentialMatch 1"
            : outcome.replace("not screened: ", "") + " 2"
        )
      )
      strictEqual(new Set(checks.map(({ attributes }) => attributes.get("check_id"))).size, 12)

      // A wait for a token is linked to the acquisition, a root span, because callers share it.
      const acquisitions = named("TokenProvider.acquire")
      deepStrictEqual(acquisitions.map(({ attributes }) => attributes.get("reason")), [
        "cold",
        "unauthorized",
        "unauthorized",
        "unauthorized"
      ])
      const ids = (spans: ReadonlyArray<{ readonly spanId: string }>) => spans.map(({ spanId }) => spanId)
      deepStrictEqual(ids(named("TokenProvider.get").flatMap(({ links }) => links)), ids(acquisitions))
      assertTrue(new Set(spans.map(({ traceId }) => traceId)).size >= 12 + acquisitions.length)

      const counted = (name: string, label: string) =>
        Object.fromEntries(
          metrics.filter((metric) => metric.name === name).flatMap(({ histogram, sum }) => [
            ...(sum?.dataPoints ?? []).map(({ asDouble, asInt, attributes }) =>
              [attributes.get(label) ?? "", asDouble ?? asInt] as const
            ),
            ...(histogram?.dataPoints ?? []).map(({ attributes, count }) =>
              [attributes.get(label) ?? "", count] as const
            )
          ])
        )
      const byOutcome = {
        NoMatch: 2,
        PotentialMatch: 2,
        AmlForbidden: 1,
        AmlRateLimited: 1,
        AmlUnavailable: 1,
        AmlTimeout: 1,
        AmlResponseMismatch: 1,
        AmlResponseInvalid: 1,
        TokenEndpointUnavailable: 1,
        TokenRejected: 1
      }
      deepStrictEqual(counted("idv_aml_checks", "outcome"), byOutcome)
      deepStrictEqual(counted("idv_aml_check_duration_seconds", "outcome"), byOutcome)
      deepStrictEqual(counted("idv_token_failures", "error"), { TokenEndpointUnavailable: 1, TokenRejected: 1 })
      deepStrictEqual(counted("idv_token_acquisitions", "reason"), { cold: 1, unauthorized: 3 })
      // Two retries after the 429, and the replay with the renewed token. The failed acquisition sends three.
      deepStrictEqual(counted("idv_aml_requests", ""), { "": 14 })
      deepStrictEqual(counted("idv_token_requests", ""), { "": 6 })

      strictEqual(logs.filter(({ body }) => body.stringValue === "AML check").length, 12)
      // Each log record contains the id of its span.
      deepStrictEqual(
        ids(checks).filter((id) => !logs.some(({ spanId }) => spanId === id)),
        []
      )

      // The alerts use only metrics and outcomes that exist.
      const rules = yield* readFile("alerts.yaml")
      const names = new Set(metrics.flatMap(prometheusNames))
      const used = matches(rules, /\b(idv_[a-z_]+)/g)
      assertTrue(used.size >= 6)
      deepStrictEqual([...used].filter((name) => name === undefined || !names.has(name)), [])
      const outcomesUsed = Array.from(matches(rules, /outcome[!=~]+"([^"]+)"/g)).flatMap((pattern) =>
        pattern?.split("|") ?? []
      )
      assertTrue(outcomesUsed.length >= 6)
      deepStrictEqual(outcomesUsed.filter((outcome) => !otherOutcomes.includes(outcome) && !(outcome in byOutcome)), [])
      // The README explains each alert.
      const rows = matches(yield* readFile("README.md"), /^\| `(Idv\w+)`/gm)
      deepStrictEqual(rows, matches(rules, /- alert: (\w+)/g))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("IdvSilent also fires for a running process, which always exports its counters", () =>
    Effect.gen(function*() {
      const exprs = (yield* readFile("alerts.yaml")).split("- alert: ").filter((rule) =>
        rule.includes("absent_over_time(")
      )
      assertTrue(exprs.length > 0)
      deepStrictEqual(
        exprs.filter((rule) => !/sum\(increase\((\w+)\[1h\]\)\) == 0\s+or absent_over_time\(\1\[1h\]\)/.test(rule)),
        []
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("sends no name, date of birth, key, token or AML profile", () =>
    Effect.gen(function*() {
      const { posts, url } = yield* collector
      const canary: Session.Customer = {
        customerId: "canary-customer",
        customerKey: Redacted.make("canary-key-8c1f")
      }
      // The journal is not masked, because the test needs the values that must not be sent.
      const service = yield* Layer.build(MockServer.layer({ port: 0, reveal: true, customers: [canary] }))
      const mock = Context.get(service, MockServer.MockServer)
      const { fault, journal } = Context.get(service, Control.Control).session(canary.customerId)
      yield* fault({ on: "aml", when: { kind: "nth", n: 8 }, what: { kind: "tokenExpiry" } })
      const { exitCode, stdout } = yield* run({
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        IDV_AUTH_URL: mock.url,
        IDV_BASE_URL: mock.url,
        IDV_CUSTOMER_ID: canary.customerId,
        IDV_CUSTOMER_KEY: Redacted.value(canary.customerKey)
      })
      strictEqual(exitCode, 0)
      assertInclude(stdout, "applicant 3: Potential match")

      const { entries } = yield* journal()
      const found = (pattern: RegExp) =>
        entries.flatMap(({ request, response }) =>
          Array.from(
            [request.body, response.body, ...Object.values(request.headers)].join("\n").matchAll(pattern),
            ([, found]) => found ?? ""
          )
        )
      const names = Arr.dedupe(found(/"name":"([^"]+)"/g))
      const tokens = Arr.dedupe(found(/"access_token":"([^"]+)"/g))
      const profiles = Arr.dedupe(found(/"aml_profile":"([^"]+)"/g))
      const headers = Arr.dedupe(found(/\b(?:Basic|Bearer) (\S+)/g))
      assertTrue(headers.length >= 3)
      assertTrue(names.length >= 10 && names.includes("Zoë Testpep"), names.join())
      assertTrue(tokens.length >= 2 && profiles.length >= 2)

      const sent = posts.map(({ body }) => body).join("\n")
      assertInclude(sent, "AmlClient.check")
      const forbidden = [
        ...names,
        ...names.flatMap((name) => name.split(" ")),
        ...tokens,
        ...profiles,
        ...headers,
        "1957-03-14",
        "14-03-1957",
        canary.customerId,
        Redacted.value(canary.customerKey),
        Buffer.from(`${canary.customerId}:${Redacted.value(canary.customerKey)}`).toString("base64")
      ]
      deepStrictEqual(forbidden.filter((text) => text === "" || sent.includes(text)), [])
      // Nor in the escaped form of JSON.
      deepStrictEqual(
        names.filter((name) => sent.includes(JSON.stringify(name).slice(1, -1))),
        []
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live("without a collector it prints the span tree, the metrics and the log that its own collector received", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run({})
      strictEqual(stderr, "")
      assertInclude(stdout, outcomeLines)
      assertTrue(/^sign-up applicant=1 \(\d+ ms\)\n {2}AmlClient\.check check_id=\S+ outcome=NoMatch /m.test(stdout))
      assertTrue(/^ {4}TokenProvider\.get \(\d+ ms\) → TokenProvider\.acquire [\da-f]{4}$/m.test(stdout))
      assertTrue(/│ idv_aml_requests +│ +│ 14 +│/.test(stdout))
      assertInclude(stdout, "14 log records")
      assertPrinted(outputOf(readme("observability")), stdout)
      strictEqual(exitCode, 0)
    }))

  it.live("screens everyone if the collector is down", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })
      assertInclude(stdout, outcomeLines)
      strictEqual(exitCode, 0)
    }))

  it.live("names each missing variable of the service, and screens nobody", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run({ IDV_AUTH_URL: "https://auth.example.com" })
      strictEqual(stdout, "")
      for (const name of ["IDV_BASE_URL", "IDV_CUSTOMER_ID", "IDV_CUSTOMER_KEY"]) assertInclude(stderr, name)
      strictEqual(exitCode, 1)
    }))

  it.live("reports an invalid endpoint in one line, exits with 1 and screens nobody", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: "canary" })
      strictEqual(stdout, "")
      strictEqual(
        stderr,
        "OTEL_EXPORTER_OTLP_ENDPOINT should be the address of a collector, such as http://127.0.0.1:4318\n"
      )
      strictEqual(exitCode, 1)
    }))
})
