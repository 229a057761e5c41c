/** `idv-mock record` and `idv-mock diff` against services that are not the mock server. */
import { Conformance, Contract } from "@effect-idv/contract"
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { MockServer, Profile } from "@effect-idv/mock-server"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { assertInclude, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array as Arr, ConfigProvider, Context, Effect, Either, Exit, Layer, Option, Redacted, Stream } from "effect"
import { createServer } from "node:net"
import { basename } from "node:path"
import { PassThrough } from "node:stream"
import { parse } from "yaml"
import * as Servers from "../../../tools/foreign-services/servers.ts"
import { main } from "../src/internal/command/main.ts"
import * as Settings from "../src/internal/command/settings.ts"
import type * as Exchange from "../src/internal/record/exchange.ts"
import * as Observations from "../src/internal/record/observations.ts"
import * as ProfileFile from "../src/internal/record/profileFile.ts"
import * as Pseudonyms from "../src/internal/record/pseudonyms.ts"
import { captured } from "./support/captured.ts"
import * as CorrectService from "./support/correctService.ts"
import * as Program from "./support/program.ts"
import * as Recording from "./support/recording.ts"

/** The error of a command in one line. */
const errorOf = (...words: ReadonlyArray<string>) =>
  Effect.map(
    Effect.flip(main(words, { stdout: new PassThrough(), version: "0" })),
    (error) => error instanceof Error ? error.message : "no error"
  )

/** Sends checks with core's client. Returns how many had a result. */
const screen = (
  url: string,
  customer: { readonly customerId: string; readonly customerKey: string },
  names: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const outcomes = yield* Effect.forEach(names, (name) =>
      Effect.either(
        Effect.flatMap(
          Person.make({ name, dateOfBirth: "1966-07-05" }),
          (person) => AmlClient.withPolicy(aml.check(person), { retry: "never" })
        )
      ))
    return outcomes.filter(Either.isRight).length
  }).pipe(
    Effect.provide(
      Idv.layer({
        authUrl: url,
        baseUrl: url,
        customerId: customer.customerId,
        customerKey: Redacted.make(customer.customerKey)
      }).pipe(Layer.provide(NodeHttpClient.layerUndici))
    )
  )

interface HarMessage {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly bodySize: number
}

interface HarEntry {
  readonly request: HarMessage & { readonly url: string; readonly postData?: { readonly text: string } }
  readonly response: HarMessage & { readonly content: { readonly size: number; readonly text: string } }
}

const canaries = /canary|1966|07-05/i

const correct = { customerId: "customer", customerKey: "s3cret" }

const points = ({ claims: all }: Contract.Contract, profile: Profile.Patch) => {
  const claims = Profile.points.filter(({ name }) => profile[name] !== undefined).map(({ claim }) => claim)
  return all.map(({ id }) => id).filter((id) => claims.includes(id))
}

/** A check of a person, as the proxy sees it. */
const checkOf = (name: string, result: string, millis: number): Exchange.Exchange => {
  const headers = { "content-type": "application/json" }
  const bodyOf = (body: unknown) => Buffer.from(JSON.stringify(body))
  return {
    operation: "aml",
    url: new URL("http://localhost/api/aml"),
    request: {
      method: "POST",
      target: "/api/aml",
      headers,
      headersProblem: Option.none(),
      isSecure: false,
      body: bodyOf({ entity_type: "person", name, dob: "05-07-1966" }),
      isWhole: true
    },
    response: {
      status: 200,
      headers,
      body: bodyOf({ credential_type: "aml", credentials: { attributes: { name, match_found: result } } })
    },
    at: 0,
    millis
  }
}

describe("idv-mock record", () => {
  it.scopedLive(
    "writes the profile of a foreign service, with which the mock server shows the same observations",
    () =>
      Effect.gen(function*() {
        const target = yield* Servers.serving(Servers.sets.set1.styles["five-hundred"], "mock")
        const { customerId = "", customerKey = Redacted.make("") } = target
        const customer = { customerId, customerKey: Redacted.value(customerKey) }
        const { output, stop, url } = yield* Recording.start(target.authUrl)
        strictEqual(yield* screen(url, customer, ["Zoë Canary", "Canary O'Neill Testpep", "王 Canary"]), 0)
        const { har, lines, profile: text } = yield* stop
        const { faults, observations, profile } = parse(text)
        deepStrictEqual(profile, {
          tokenField: "access_token",
          tokenFormat: "opaque",
          tokenType: "absent",
          tokenLifetime: "absent",
          tokenStatus: "201",
          redirects: "none",
          amlStatus: "201",
          nameEcho: "exact",
          credVersion: "2.0",
          searchedOn: "behind",
          extraFields: "some"
        })
        assert.isAtLeast(faults.length, 1)
        // Version 10.0 and -08:00, for which a profile has 2.0 and -12:00.
        deepStrictEqual(observations.approximate.toSorted(), ["credVersion", "searchedOn"])
        for (const written of [text, har, ...lines]) {
          strictEqual(canaries.test(written) || written.includes(customer.customerKey), false, written)
        }

        const settings = Settings.options(
          yield* Settings.read({ flags: { profile: [output] }, words: [], argument: "" })
        )
        const services = yield* Layer.build(MockServer.layer({ port: 0, ...settings }))
        const { options } = Context.get(services, MockServer.MockServer)
        const reference = yield* Contract.load()
        const { credVersion, searchedOn, ...same } = profile
        deepStrictEqual([credVersion, searchedOn], ["2.0", "behind"])
        const claims = points(reference, same)
        const cases = Conformance.cases.filter(({ claim }) => claims.includes(claim))
        const observed = (target: Conformance.Target) =>
          Effect.map(
            Conformance.verify({ ...target, spacing: 0 }, reference, { cases }),
            ({ results }) => results.flatMap(({ id, observed }) => observed === undefined ? [] : [[id, observed]])
          )
        const [foreign, mock] = [
          yield* observed(target),
          yield* observed({
            kind: "sandbox",
            authUrl: options.authUrl,
            baseUrl: options.baseUrl,
            customerId: options.customerId,
            customerKey: options.customerKey
          })
        ]
        assert.isAtLeast(foreign.length, 6)
        deepStrictEqual(mock, foreign)
      }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]))
  )

  it.scopedLive.each([[403, "forbidden", 1], [401, "bare", 2]] as const)(
    "writes the variant of a service that refuses with %d a token that it accepted before",
    ([status, expiredToken, succeeded]) =>
      Effect.gen(function*() {
        const handle = CorrectService.handler({})
        const used = new Set<string>()
        const host = yield* CorrectService.serving((request, response) => {
          const { headers: { authorization = "" }, url } = request
          if (url !== "/api/aml" || !used.has(authorization)) handle(request, response)
          else response.writeHead(status, { connection: "close" }).end()
          used.add(authorization)
        })
        const { stop, url } = yield* Recording.start(`http://${host}`)
        strictEqual(yield* screen(url, correct, ["Zoë Canary", "Zoë Canary"]), succeeded)
        const { profile } = yield* stop
        strictEqual(parse(profile).profile.expiredToken, expiredToken)
      }).pipe(Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]))
  )

  it.effect("writes latencies as faults of the profile", () =>
    Effect.gen(function*() {
      const recording = Observations.make(Pseudonyms.make())
      for (let count = 1; count <= 20; count++) {
        recording.add(checkOf("Zoë Canary", "No", count % 10 === 0 ? 120 : 30))
      }
      const { faults, observations } = parse(yield* ProfileFile.print(recording))
      deepStrictEqual(observations.aml.latency, { p50: 30, p99: 120 })
      deepStrictEqual(faults, [{
        id: "observed-aml",
        on: "aml",
        what: { kind: "latency", distribution: { kind: "logNormal", median: 30, sigma: 0.596 } }
      }])
    }))

  it.each<[string, ReadonlyArray<readonly [name: string, result: string]>, expected: unknown]>([
    ["three people are listed", [["A", "Potential match"], ["B", "Potential match"], ["C", "Potential match"]], {
      everybody: 3
    }],
    ["one person is listed three times", Arr.makeBy(3, () => ["A", "Potential match"] as const), undefined],
    [
      "one of four is not",
      [["A", "Potential match"], ["B", "Potential match"], ["C", "Potential match"], ["D", "No"]],
      undefined
    ]
  ])("tells whether everybody is listed: %s", (_, checks, expected) => {
    const recording = Observations.make(Pseudonyms.make())
    for (const [name, result] of checks) recording.add(checkOf(name, result, 1))
    deepStrictEqual(recording.observations().unplayable["aml.match.everybody"], expected)
  })

  it("states a result that changed for a person, and not the results of different people", () => {
    const recording = Observations.make(Pseudonyms.make())
    const statedAfter = (name: string, result: string) => {
      recording.add(checkOf(name, result, 1))
      return recording.observations().unplayable["aml.match.again"]
    }
    deepStrictEqual(statedAfter("A", "Potential match"), undefined)
    deepStrictEqual(statedAfter("B", "No"), undefined)
    deepStrictEqual(statedAfter("A", "No"), { different: 1 })
  })

  it.scopedLive(
    "writes pseudonyms that are the same in request and response",
    () =>
      Effect.gen(function*() {
        const host = yield* CorrectService.serving(CorrectService.handler({ status: 201 }))
        const { stop, url } = yield* Recording.start(`http://${host}`)
        strictEqual(
          yield* screen(url, correct, Array.from({ length: 20 }, (_, i) => `Zoë Canary ${"ABCD"[i % 4]}son`)),
          20
        )
        const { har, profile } = yield* stop
        const { aml, notShown } = parse(profile).observations
        deepStrictEqual([aml.exchanges, aml.statuses], [20, { 201: 20 }])
        assertInclude(notShown.join(), "rateLimit")

        const { log } = JSON.parse(har)
        const last = log.entries.at(-1)
        const sent = JSON.parse(last.request.postData.text)
        const received = JSON.parse(last.response.content.text)
        strictEqual(/^person-[0-9a-f]{12}$/.test(sent.name), true, sent.name)
        strictEqual(received.credentials.attributes.name, sent.name)
        strictEqual(
          new Set(log.entries.slice(1).map((entry: typeof last) => JSON.parse(entry.request.postData.text).name)).size,
          4
        )
        for (const written of [har, profile]) {
          strictEqual(canaries.test(written) || written.includes("s3cret"), false, written)
          strictEqual(/[0-9a-f]{32}|profiles\.example/.test(written), false, written)
        }
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("names a field that the schema does not know, drops its value, and hides a name that is personal", () =>
    Effect.gen(function*() {
      const host = yield* CorrectService.serving((request, response) => {
        request.resume()
        const body = request.url === "/oauth/service"
          ? { access_token: "canary-token", token_type: "Bearer", expires_in: 3600, refresh_token: "canary-token-2" }
          : {
            credential_type: "canary",
            issued_by: "Canary",
            cred_version: "1.0",
            credentials: { attributes: { name: "Zoë Canary", match_found: "No", risk: "Canary", Canary: 1, "a b": 2 } }
          }
        response.writeHead(200, { "content-type": "application/json", "x-canary": "canary" }).end(JSON.stringify(body))
      })
      const { stop, url } = yield* Recording.start(`http://${host}`)
      yield* screen(url, { customerId: "customer", customerKey: "canary-key" }, ["Zoë Canary"])
      const { har, lines, profile } = yield* stop
      const { aml, token } = parse(profile).observations
      deepStrictEqual(Object.keys(token.unknownFields), ["refresh_token"])
      deepStrictEqual(aml.unknownFields, { "credentials.attributes.risk": 1, "credentials.attributes.***": 2 })
      for (const written of [har, profile, ...lines]) strictEqual(canaries.test(written), false, written)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes a HAR whose lengths are those of the masked bodies, and prints what it wrote", () =>
    Effect.gen(function*() {
      const host = yield* CorrectService.serving(CorrectService.handler({}))
      const { har: path, output, stop, url } = yield* Recording.start(`http://${host}`)
      strictEqual(yield* screen(url, correct, ["Zoë Canary", `${"Zo".repeat(20)} Canary`]), 2)
      const { har, lines } = yield* stop
      const entries: ReadonlyArray<HarEntry> = JSON.parse(har).log.entries
      for (const { request, response } of entries) {
        const lengthOf = (headers: HarEntry["request"]["headers"]) =>
          headers.find(({ name }) => name === "content-length")?.value
        const sent = request.postData?.text.length ?? 0
        deepStrictEqual([request.bodySize, lengthOf(request.headers)], [sent, String(sent)])
        const received = response.content.text.length
        deepStrictEqual([response.bodySize, response.content.size], [received, received])
        assert.include([undefined, String(received)], lengthOf(response.headers))
      }
      const sizes = entries.filter(({ request }) => request.url.endsWith("/api/aml")).map(({ request }) =>
        request.bodySize
      )
      strictEqual(sizes.length, 2)
      strictEqual(new Set(sizes).size, 1)
      deepStrictEqual(JSON.parse(lines.at(-1) ?? ""), { event: "written", exchanges: 3, output, har: path })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("reads tokens with mixed names, nested errors and other statuses, and names what no profile plays", () =>
    Effect.gen(function*() {
      const host = yield* CorrectService.serving(CorrectService.handler({
        change: ([status, body], { number, path }) =>
          "access_token" in body
            ? [201, { accessToken: body["access_token"], token_type: "bearer", expires_in: "3600" }]
            : path === "/api/aml" && number === 5
            ? [400, { error: { code: "E1", message: "canary" } }]
            : ["credentials" in body ? 202 : status, body]
      }))
      const { stop, url } = yield* Recording.start(`http://${host}`)
      yield* screen(url, correct, ["Zoë Canary", "Ida Canary"])
      const { lines, profile } = yield* stop
      const recorded = parse(profile)
      const { amlError, tokenField, tokenLifetime, tokenStatus, tokenType } = recorded.profile
      deepStrictEqual([tokenField, tokenType, tokenLifetime, tokenStatus, amlError], [
        "accessToken",
        "bearer",
        "text",
        "201",
        "nested"
      ])
      deepStrictEqual(recorded.observations.unplayable, { "aml.success.status": { 202: 1 } })
      deepStrictEqual(recorded.observations.aml.words.match_found, { No: 1 })
      assertInclude(
        lines.join("\n"),
        "idv-mock record: the mock server cannot play aml.success.status: 202 (1 time) (see unplayable in the file)"
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says on a terminal where to send requests, and what it wrote", () =>
    Effect.gen(function*() {
      const host = yield* CorrectService.serving(CorrectService.handler({}))
      const { har, output, stop, url } = yield* Recording.startOn({ isTTY: true }, `http://${host}`)
      yield* screen(url, correct, ["Zoë Canary"])
      const { lines } = yield* stop
      deepStrictEqual(lines, [
        `The proxy listens on ${url}: use it as the address of both endpoints in the app.\nCtrl-C stops it and writes ${output}.`,
        `${output}: the profile of 2 exchanges. To play it: idv-mock serve --profile ${output}\n${har}: 2 masked exchanges`
      ])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("refuses an upstream that is down, slow or a website, in one sentence, and writes nothing", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Recording.folder
      const output = ["--output", `${path}/observed.yaml`, "--port", "0"]
      const silent = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer(() => {}).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const address = silent.address()
      const port = typeof address === "object" ? address?.port : 0
      const website = yield* CorrectService.serving((_, response) =>
        void response.writeHead(200, { "content-type": "text/html" }).end("<html>canary</html>")
      )
      const service = yield* CorrectService.serving(CorrectService.handler({}))
      const record = (...words: ReadonlyArray<string>) => errorOf("record", ...output, ...words)
      const cases = [
        [["--upstream-auth", "http://127.0.0.1:1"], "--upstream-auth: the upstream cannot be reached"],
        [
          ["--upstream-auth", `http://${service}`, "--upstream-base", "http://127.0.0.1:1"],
          "--upstream-base: the upstream"
        ],
        [["--upstream-auth", `http://127.0.0.1:${port}`, "--deadline", "100"], "--upstream-auth: the upstream sent no"],
        [["--upstream-auth", `http://${website}`], "--upstream-auth: the upstream sent an HTML page instead of JSON"],
        [[], "--upstream-auth is missing: expected the address of the token endpoint"],
        [["--upstream-auth", "http://canary.example"], "--upstream-auth is invalid: expected an https: address"],
        [["--upstream-auth", "canary"], "--upstream-auth is invalid: expected an address such as"],
        [["--upstream-auth", `http://${service}`, "--output", path], "idv-mock record: --output occurs more than once"],
        [
          ["--upstream-auth", `http://${service}`, "--har", `${path}/../${basename(path)}/observed.yaml`],
          "--har is invalid: expected another path than that of --output"
        ]
      ] as const
      for (const [words, expected] of cases) {
        const message = yield* record(...words)
        assertInclude(message, expected)
        strictEqual(message.includes("canary") || message.includes("\n"), false, message)
      }
      deepStrictEqual(yield* fs.readDirectory(path), [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("does not take refused credentials for refused parameters", () =>
    Effect.gen(function*() {
      const services = yield* Layer.build(MockServer.layer({ port: 0 }))
      const { stop, url } = yield* Recording.start(Context.get(services, MockServer.MockServer).url)
      yield* Effect.promise(() =>
        fetch(`${url}/oauth/service`, {
          method: "POST",
          headers: {
            authorization: `Basic ${btoa("canary:canary")}`,
            "content-type": "application/x-www-form-urlencoded"
          },
          body: "grant_type=client_credentials&scope=aml"
        })
      )
      const { profile } = yield* stop
      deepStrictEqual(parse(profile).profile, { tokenError: "401" })
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("reports a port in use, and nothing else", () =>
    Effect.gen(function*() {
      const service = yield* CorrectService.serving(CorrectService.handler({}))
      const port = service.split(":")[1] ?? ""
      const lines: Array<unknown> = []
      const error = (text: unknown) => void lines.push(text)
      const message = yield* Effect.consoleWith((console) =>
        Effect.withConsole(errorOf("record", "--upstream-auth", `http://${service}`, "--port", port), {
          ...console,
          error: (text) => Effect.sync(() => error(text))
        })
      )
      strictEqual(message, "--port cannot be opened: expected a free port of this machine")
      deepStrictEqual(lines, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("ends by a signal with exit code 0, after it has written the file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const host = yield* CorrectService.serving(CorrectService.handler({}))
      const output = `${yield* Recording.folder}/observed.yaml`
      const process = yield* Command.start(
        Command.make(
          "node",
          ...[yield* Program.idvMock, "record", "--upstream-auth", `http://${host}`, "--port", "0", "--output", output]
        )
      )
      const line = yield* process.stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.runHead)
      const { url } = JSON.parse(Option.getOrThrow(line))
      strictEqual(yield* screen(url, correct, ["Zoë Canary"]), 1)
      yield* process.kill("SIGINT")
      strictEqual(Number(yield* process.exitCode), 0)
      deepStrictEqual(parse(yield* fs.readFileString(output)).profile.tokenStatus, "200")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("responds with 502 when the upstream fails later, reports it once, and writes nothing without an exchange", () =>
    Effect.gen(function*() {
      let isDown = false
      const handle = CorrectService.handler({})
      const host = yield* CorrectService.serving((request, response) =>
        isDown ? void request.socket.destroy() : handle(request, response)
      )
      const { stop, url } = yield* Recording.start(`http://${host}`)
      isDown = true
      const statuses = yield* Effect.forEach(
        [1, 2],
        () => Effect.promise(() => fetch(`${url}/api/aml`, { method: "POST", body: "{}" }).then(({ status }) => status))
      )
      deepStrictEqual(statuses, [502, 502])
      const { lines, profile } = yield* stop
      strictEqual(profile, "")
      deepStrictEqual(
        lines.filter((line) => line.includes("--upstream-base: the upstream cannot be reached")).length,
        1
      )
      assertInclude(lines.at(-1), "no exchange was recorded")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("serve --profile with a recorded file", () => {
  it.scopedLive("refuses another version, and what is not such a file, in one sentence", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* Recording.folder}/observed.yaml`
      const refusal = (content: string) =>
        Effect.zipRight(fs.writeFileString(path, content), errorOf("serve", "--port", "0", "--profile", path))
      strictEqual(
        yield* refusal("format: idv-mock profile 2\nprofile: { canary: 1 }\n"),
        "--profile: format is invalid: expected \"idv-mock profile 1\": record the profile again with this version of idv-mock"
      )
      assertInclude(yield* refusal("canary: ["), "--profile: the file is invalid: expected a profile in YAML")
      assertInclude(
        yield* refusal("format: idv-mock profile 1\nprofile: { tokenStatus: canary }\nfaults: []\nobservations: {}"),
        "--profile: profile tokenStatus is invalid: expected one of \"200\", \"201\", \"203\""
      )
      assertInclude(
        yield* refusal("format: idv-mock profile 1\nprofile: {}\nobservations: {}"),
        "--profile: faults is missing: expected a list of faults"
      )
      for (const file of ["none.json", "folder/none", "none.yaml"]) {
        strictEqual(yield* errorOf("serve", "--profile", file), "--profile: the file does not exist")
      }
      strictEqual(yield* errorOf("serve", "--profile", "."), "--profile: the path is a directory: expected a file")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("idv-mock diff", () => {
  /** The plan and the lines of a comparison with a server of this profile, and whether it succeeded. */
  const compared = (profile: Profile.Patch, checks: number, ...words: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const services = yield* Layer.build(
        MockServer.layer({ port: 0, profile: Profile.apply(Profile.defaultProfile, profile) })
      )
      const { url } = Context.get(services, MockServer.MockServer)
      const { stderr, stdout, value } = yield* captured(Effect.exit(main(
        ["diff", "--upstream-auth", url, "--checks", String(checks), "--spacing", "0", ...words],
        { stdout: new PassThrough(), version: "0" }
      )))
      return { plan: stderr.join("\n"), stdout, succeeded: Exit.isSuccess(value) }
    }).pipe(
      Effect.withConfigProvider(
        ConfigProvider.fromMap(new Map([["IDV_CUSTOMER_ID", "demo-customer"], ["IDV_CUSTOMER_KEY", "demo-key"]]))
      ),
      Effect.provide(NodeContext.layer)
    )

  it.scopedLive("finds three deliberate differences and nothing else", () =>
    Effect.gen(function*() {
      const profile: Profile.Patch = { tokenStatus: "201", nameEcho: "nfd", credVersion: "1.7" }
      const { plan, stdout, succeeded } = yield* compared(profile, 12)
      assert.match(plan, /\d requests/)
      // Flags that only `verify` has.
      strictEqual(/--(budget|wrong-keys|wait-for-expiry)/.test(plan), false, plan)
      deepStrictEqual(stdout, [
        "tokenStatus (token.success.status): the service has 201, the mock server 200",
        "credVersion (aml.cred-version): the service has 1.7, the mock server 1.0",
        "nameEcho (aml.name.echo): the service has nfd, the mock server exact",
        "Not compared, because no request showed it:\n  expiredToken\n  rateLimit\n  a listed person (--person)",
        stdout.at(-1)
      ])
      strictEqual(succeeded, false)
      assert.match(stdout.at(-1) ?? "", /^3 differences in \d\d behaviours, after \d\d requests to the service$/)
    }))

  it.scopedLive("finds none with the same profile", () =>
    Effect.gen(function*() {
      const { stdout, succeeded } = yield* compared({ preset: "hostile" }, 12, "--profile", "hostile")
      deepStrictEqual([stdout.length, succeeded], [2, true], stdout.join())
      assert.match(stdout.at(-1) ?? "", /^0 differences in \d\d behaviours/)
    }))

  it.scopedLive("ends after one request if the credentials are refused", () =>
    Effect.gen(function*() {
      const services = yield* Layer.build(MockServer.layer({ port: 0 }))
      const { url } = Context.get(services, MockServer.MockServer)
      const message = yield* errorOf(
        "diff",
        "--upstream-auth",
        url,
        "--customer-id",
        "canary",
        "--customer-key",
        "canary"
      )
      assertInclude(
        message,
        "idv-mock diff: Nothing can be verified: the customer is refused with 401: check its id and its key"
      )
      const verified = yield* Effect.promise(() =>
        fetch(`${url}/_mock/unmatched/verify`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ kind: "exactly", n: 1, pattern: {} })
        })
      )
      strictEqual(verified.status, 204)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("needs the credentials of the customer", () =>
    Effect.gen(function*() {
      strictEqual(
        yield* errorOf("diff", "--upstream-auth", "http://127.0.0.1:1"),
        "--customer-id is missing: expected it, or IDV_CUSTOMER_ID"
      )
    }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map()))))
})
