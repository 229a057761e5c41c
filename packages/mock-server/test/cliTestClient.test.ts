import * as Terminal from "@effect/platform/Terminal"
import { describe, it } from "@effect/vitest"
import { strictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Predicate } from "effect"
import { XMLParser } from "fast-xml-parser"
import { deepStrictEqual, match } from "node:assert"
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { freePort } from "../../../tools/test-services/freePort.ts"
import * as Days from "../src/internal/clientTest/days.ts"
import * as Run from "../src/internal/clientTest/run.ts"
import * as Secrets from "../src/internal/clientTest/secrets.ts"
import * as Watch from "../src/internal/clientTest/watch.ts"
import { main } from "../src/internal/command/main.ts"
import { captured } from "./support/captured.ts"
import { basic, make, type Parts } from "./support/foreignClient.ts"

const client = `'${process.execPath}' '${fileURLToPath(new URL("support/checkPerson.mjs", import.meta.url))}' {name} ` +
  "{date_of_birth}"

const run = (...words: ReadonlyArray<string>) =>
  main(["test-client", ...words], { stdout: new PassThrough(), version: "0" }).pipe(
    Effect.match({
      onSuccess: () => ({ exitCode: 0, error: "" }),
      onFailure: (error) => ({
        exitCode: Predicate.hasProperty(error, "exitCode") ? Number(error.exitCode) : 1,
        error: error.message
      })
    }),
    captured,
    Effect.map(({ stderr, stdout, value }) => ({ ...value, stdout: stdout.join("\n"), stderr: stderr.join("\n") }))
  )

/** The customer of a backend that uses the mock server at this port. */
const serviceAt = (port: number) => ({
  authUrl: `http://127.0.0.1:${port}`,
  baseUrl: `http://127.0.0.1:${port}`,
  customerId: "demo-customer",
  customerKey: "demo-key"
})

/** A backend with a client of the service, and what the test says about it. */
const testBackend = (
  parts: Partial<Parts>,
  respond: (outcome: string, response: ServerResponse) => void,
  ...words: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const check = make(parts)(serviceAt(port))
    const server = createServer((request, response) => {
      const { headers: { "x-born": dateOfBirth = "", "x-person": name = "" } } = request
      const person = { name: decodeURIComponent(String(name)), dateOfBirth: String(dateOfBirth) }
      void check(person).catch(() => "error").then((outcome) => respond(outcome, response))
    })
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.closeAllConnections())
    )

    const { port: ownPort } = server.address() as AddressInfo
    return yield* run(
      ...["--url", `http://127.0.0.1:${ownPort}`, "--port", String(port), "--clear", "status=201"],
      ...["--header", "x-person: {name}", "--header", "x-born: {date_of_birth}", "--review", "status=202", ...words]
    )
  }).pipe(Effect.scoped)

/** Responds to a match as to an outage, with an id for each request. */
const discreet = (outcome: string, response: ServerResponse) =>
  void response.writeHead(outcome === "clear" ? 201 : 202, {
    "x-request-id": randomUUID(),
    "x-sum": randomUUID().replaceAll("-", "")
  })
    .end()

describe("idv-mock test-client", () => {
  it.live("tests a backend", () =>
    Effect.gen(function*() {
      const days = ["match", "tipping-off", "simultaneous", "refused-token"].flatMap((word) => ["--only", word])
      const good = yield* testBackend({}, discreet, ...days)
      match(good.stdout, /\nfindings: 0 wrong, 0 risky; days: 5 good, 0 not tested$/)
      strictEqual(good.exitCode, 0)
      const selfish: Partial<Parts> = {
        // Reports the first 401, and then requests a token for each of several simultaneous checks.
        token: (kept, renew) => Promise.race([kept, Promise.resolve(undefined)]).then((token) => token ?? renew())
      }
      const revealing = yield* testBackend(
        selfish,
        (outcome, response) =>
          void response.writeHead(outcome === "clear" ? 201 : outcome === "review" ? 202 : 503).end(),
        ...days
      )
      match(
        revealing.stdout,
        /RISKY {2}The response to the applicant differs between a potential match and an outage\n.*\n {2}line: 202 after a potential match, 503 after status 500\n/
      )
      match(revealing.stdout, /RISKY {2}The client does not renew the token after a 401/)
    }))

  it.live("tests the token requests of a backend that reports a 401 and renews the token for the next check", () =>
    Effect.gen(function*() {
      let isRefused = false
      const forgetful: Partial<Parts> = {
        token: (kept, renew, refused) => {
          const must = isRefused
          isRefused = refused !== undefined
          return isRefused ? Promise.reject(new Error("401")) : must ? renew() : kept ?? renew()
        }
      }
      const days = ["token-type", "token-errors", "hang-token"]
      const { error, stdout } = yield* testBackend(forgetful, discreet, ...days.flatMap((word) => ["--only", word]))
      strictEqual(error, "")
      match(stdout, /\nfindings: 0 wrong, 0 risky; days: 4 good, 0 not tested$/)
      strictEqual(stdout.includes("not reached"), false)
    }))

  it.live("takes a backend that breaks off for an error, and not for a missing one or one of another customer", () =>
    Effect.gen(function*() {
      const { error, exitCode, stdout } = yield* testBackend(
        {},
        (outcome, response) => outcome === "error" ? void response.destroy() : discreet(outcome, response),
        ...["--only", "errors"]
      )
      deepStrictEqual([error, exitCode], ["", 0])
      match(stdout, /good +errors/)
      const missing = ["--url", "http://127.0.0.1:9", "--port", String(yield* freePort), "--clear", "x"]
      match((yield* run(...missing)).error, /Nothing responds at --url/)
      const { error: closed } = yield* testBackend({}, (_, response) => void response.destroy())
      const refusing: Partial<Parts> = { check: () => Promise.resolve("error") }
      const { error: refused } = yield* testBackend(refusing, (_, response) => void response.writeHead(404).end())
      match(refused, /^The backend responds with status 404 and sends no request: see its response, and correct --url/)
      const { error: other, exitCode: code } = yield* testBackend({}, discreet, "--customer", "other:pair")
      match(other, /^The client sends another customer_id or customer_key than --customer says/)
      const encoded: Partial<Parts> = {
        authorization: (service) => basic({ ...service, customerKey: service.customerKey.replace("-", "%2D") })
      }
      const wrong = yield* testBackend(encoded, discreet, "--only", "match")
      match(wrong.stdout, /^RISKY {2}The client form-encodes the id and the key/)
      strictEqual(code, 2)
      match(closed, /^The backend closed the connection at --url without a response/)
    }))

  it.live("ends although a child keeps the output open", () =>
    Effect.gen(function*() {
      // As long as this process.
      const command = `sh -c 'setsid tail --pid=${process.pid} -f /dev/null & exec "$@"' sh ${client}`
      const { exitCode, stdout } = yield* run(
        "--command",
        command,
        "--clear",
        "^clear",
        "--review",
        "^review",
        "--explain"
      )
      strictEqual(exitCode, 0)
      match(stdout, /no match: understood as clear, code 0/)
    }))

  it.live("ends with 2 if no day was tested", () =>
    Effect.gen(function*() {
      const words = ["--command", client, "--clear", "^clear", "--review", "^review", "--only", "token-reuse"]
      const { error, exitCode } = yield* run(...words)
      match(error, /^No day was tested: each command is a new process/)
      strictEqual(exitCode, 2)
    }))

  it.live("asks a person who operates the client", () =>
    Effect.gen(function*() {
      const port = yield* freePort
      const check = make({})(serviceAt(port))
      let person = { name: "", dateOfBirth: "" }
      const terminal = Terminal.Terminal.of({
        columns: Effect.succeed(80),
        rows: Effect.succeed(24),
        isTTY: Effect.succeed(false),
        readInput: Effect.never,
        display: (text) =>
          Effect.sync(() => {
            const [, name = "", dateOfBirth = ""] = /^Check (.*), born on (\S+)\. /.exec(text) ?? []
            person = { name, dateOfBirth }
          }),
        readLine: Effect.promise(() => check(person).catch(() => "error"))
      })
      const { days } = yield* Run.run(
        yield* Effect.provideService(
          Watch.door({ port, customer: serviceAt(port) }),
          Terminal.Terminal,
          terminal
        ),
        {
          days: Days.all.filter(({ word }) => ["match", "names", "simultaneous"].includes(word)),
          patience: Duration.minutes(10),
          concurrency: 1,
          onDay: () => Effect.void
        }
      ).pipe(Effect.scoped)
      deepStrictEqual(days.map(({ verdict }) => verdict), ["good", "good", "good", "not tested"])
    }))

  it("accuses no client of a key that is too short to be found", () => {
    const key = Secrets.ofKey({ customerId: "a", customerKey: "b", authUrl: "", baseUrl: "" })
    deepStrictEqual(["", "a:b", "sent"].filter((text) => key.test(text)), [])
  })

  it.live("reports a command that cannot be tested", () =>
    Effect.forEach(
      [
        ["no-such-program", /^The command does not start: its first word is not a program \(ENOENT\)$/],
        ["sh -c no-such-program", /^The command does not start: see its output/],
        [
          "sh -c 'exit 2'",
          /^The command ended with code 2 before any request: see its output, and whether it reads the address from .*--env$/
        ],
        ["echo clear", /^No request arrived: the command ignores the address/]
      ] as const,
      ([command, expected]) =>
        Effect.gen(function*() {
          const { error, exitCode } = yield* run("--command", `${command} {name} {dob}`, "--clear", "clear")
          match(error, expected)
          strictEqual(exitCode, 2)
        })
    ))

  it.live("tests no client that never says review", () =>
    Effect.gen(function*() {
      for (const review of [[], ["--review", "HIT"]]) {
        const { error, exitCode, stdout } = yield* run("--command", client, "--clear", "^clear", ...review)
        match(error, /^The client does not say review for a potential match: set --review/)
        deepStrictEqual([exitCode, stdout], [2, ""])
      }
    }))

  it.live("reads a deadline with a unit, and proposes patterns", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("--command", client, "--explain", "--deadline", "20s")
      match(stdout, /\nThese patterns tell the three persons apart: --clear '\^clear\$' --review '\^review\$'$/)
      strictEqual(exitCode, 0)
      const changing = `sh -c 'said=$("$@") && echo "$said, $$"' sh ${client}`
      const other = yield* run("--command", changing, "--explain")
      match(other.stdout, / --clear '\^clear, ' --review '\^review, '$/)
      const crashing = yield* run("--command", "sh -c 'exit 3' {name} {dob}", "--explain", "--deadline", "20 s")
      deepStrictEqual([crashing.exitCode, crashing.error.slice(0, 30)], [2, "The command ended with code 3 "])
    }))

  it.live("does not accuse a backend that keeps a token of an earlier run", () =>
    Effect.gen(function*() {
      const stored = "ZGVtby1jdXN0b21lcg.0123456789abcdef0123456789abcdef"
      let tokens = 0
      const first = (renew: () => Promise<string>) => tokens++ === 0 ? Promise.resolve(`Bearer ${stored}`) : renew()
      const renewing: Partial<Parts> = { token: (kept, renew) => first(() => kept ?? renew()) }
      const failing: Partial<Parts> = {
        token: (kept, renew, refused) =>
          refused === undefined ? first(() => kept ?? renew()) : Promise.reject(new Error("401"))
      }
      for (const parts of [renewing, failing]) {
        tokens = 0
        const { error, stdout } = yield* testBackend(parts, discreet, "--only", "match")
        strictEqual(error, "")
        match(stdout, /\nfindings: 0 wrong, 0 risky; days: 2 good, 0 not tested$/)
      }
      const keeping = yield* testBackend({ token: () => Promise.resolve(`Bearer ${stored}`) }, discreet)
      match(keeping.error, /^The client keeps a token that a mock server issued before this run/)
      strictEqual(keeping.exitCode, 2)
    }))

  it.live("suggests another port if its own is in use", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = createServer()
      yield* Effect.acquireRelease(
        Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close())
      )
      const { port } = server.address() as AddressInfo
      const { error, exitCode } = yield* run("--command", client, "--clear", "^clear", "--port", String(port))
      match(error, /the port is in use\. --port selects another port$/)
      strictEqual(exitCode, 2)
    })))

  it("finds a date of birth in the usual notations", () => {
    const born = Secrets.ofPerson({ name: "Mira Quvalo", dateOfBirth: "1957-03-04" })
    const notations =
      "1957-03-04T00:00 04-03-1957 04.03.1957 4/3/1957 03/04/1957 04\\/03\\/1957 04%2F03%2F1957 19570304"
    deepStrictEqual(
      [
        ...notations.split(" "),
        ...["04 Mar 1957", "March 4th, 1957", "4-mar-1957", "Mon Mar 04 1957", "date(1957, 3, 4)", "03/04/57"]
      ].filter((text) => !born.test(text)),
      []
    )
    deepStrictEqual(
      ["2026-11-27", "04-03-2026", "a1957030412", "1957", "3-4", "14/03/1957"].filter((text) => born.test(text)),
      []
    )
  })

  it.live("explains what a command says about three persons", () =>
    Effect.gen(function*() {
      const { exitCode, stdout } = yield* run("--command", client, "--explain", "--clear", "^clear", "--review", "^rev")
      strictEqual(exitCode, 0)
      match(stdout, /no match: understood as clear, code 0\n {2}requests: token 200, aml 200\n {2}output:\n {4}clear/)
      match(stdout, /a potential match: understood as review/)
      match(stdout, /status 500: understood as error, code 1/)
      // The client writes its token and the person.
      match(stdout, /the check of \[hidden\] failed with \[hidden\]\n/)
      match(stdout, /This test replaces keys, tokens, names and dates of birth by \[hidden\]$/)
    }))

  it.live("reports findings as JUnit, and ends with 1", () =>
    Effect.gen(function*() {
      const words = ["--command", client, "--clear", "^clear", "--review", "^review", "--format", "junit"]
      const { error, exitCode, stdout } = yield* run(...words, "--only", "error-with-result", "--only", "other-year")
      strictEqual(exitCode, 1)
      match(error, /^idv-mock test-client: findings: 2 wrong, 1 risky/)
      const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" }).parse(stdout)
      strictEqual(testsuites.tests, "3")
      strictEqual(testsuites.failures, "1")
      match(stdout, /failure message="The client writes the access token to its error output; /)
    }))

  it.live("asks for what is missing", () =>
    Effect.gen(function*() {
      for (
        const [words, expected] of [
          [[], /^Expected one of --command, --url and --watch/],
          [["--command", "x {name} {dob}"], /^--clear is missing/],
          [["--command", "x", "--watch"], /^Expected one of --command, --url and --watch/],
          [["--command", "x 'y", "--clear", "x"], /^--command is invalid/],
          [
            ["--command", "x {s3cret} {dob}", "--clear", "x"],
            /^--command is invalid: expected the placeholder {name}$/
          ],
          [["--command", "x {name} {dat}", "--clear", "x"], /expected the placeholder {date_of_birth} or {dob}$/],
          [["--command", "x {name} {dob} | tee y", "--clear", "x"], /^--command is invalid: expected no pipe/],
          [["--command", "x", "--clear", "("], /^--clear is invalid/],
          [["--command", "x", "--clear", "exit=s3cret"], /^--clear is invalid: .* a code from 0 to 255$/],
          [["--command", "x", "--review", "exit=999"], /^--review is invalid: .* a code from 0 to 255$/],
          [["--command", "x", "--clear", "status=201"], /^--clear is invalid: .* a code from 0 to 255$/],
          [["--url", "http://x", "--clear", "exit=0"], /^--clear is invalid: .* a status from 100 to 599$/],
          [
            ["--url", "http://x", "--body", "{\"a\": {name} {dob}}", "--clear", "x"],
            /^--body is invalid: expected JSON/
          ],
          [["--command", "x", "--body", "s3cret"], /^--body has no effect with --command/],
          [["--url", "http://x", "--env", "A=s3cret"], /^--env has no effect with --url/],
          [["--command", "x", "--explain", "--only", "match"], /^--only has no effect with --explain/],
          [["--command", "x", "--deadline", "5"], /^--deadline is invalid: .*a duration with a unit, such as "20 s"/],
          [["--command", "x", "--clear", "x", "--only", "s3cret"], /^--only is invalid: expected the word of a day/]
        ] as const
      ) {
        const { error, exitCode } = yield* run(...words)
        match(error, expected)
        strictEqual(error.includes("s3cret"), false)
        strictEqual(exitCode, 2)
      }
    }))
})
