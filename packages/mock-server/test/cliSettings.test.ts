import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import * as Settings from "../src/internal/command/settings.ts"
import * as SessionOptions from "../src/internal/operations/sessionOptions.ts"

type Flags = Readonly<Record<string, ReadonlyArray<string>>>

const read = (flags: Flags, variables: ReadonlyArray<readonly [string, string]> = []) =>
  Settings.read({ flags, words: [], argument: "" }).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables))),
    Effect.provide(NodeContext.layer)
  )

const errorOf = (flags: Flags) => Effect.map(Effect.flip(read(flags)), ({ message }) => message)

const fileOf = (content: string | Uint8Array) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* fs.makeTempFileScoped()
    yield* fs.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content)
    return path
  }).pipe(Effect.provide(NodeContext.layer))

const presets = "one of \"default\", \"strict\", \"hostile\""

describe("A flag of serve", () => {
  it.effect.each<[string, string, string]>([
    ["port", "canary", "--port is invalid: expected a whole number from 0 to 65535"],
    ["port", "70000", "--port is invalid: expected a whole number from 0 to 65535"],
    ["port", "-1", "--port is invalid: expected a whole number from 0 to 65535"],
    ["port", "80.5", "--port is invalid: expected a whole number from 0 to 65535"],
    ["port", "1e3", "--port is invalid: expected a whole number from 0 to 65535"],
    ["seed", "canary", "--seed is invalid: expected a whole number from 0 to 4294967295"],
    ["host", "can ary", "--host is invalid: expected an address or a name of this machine"],
    ["allowed-host", "canary:80", "--allowed-host is invalid: expected a host name without a port"],
    ["profile", "canary", `--profile preset is invalid: expected ${presets}`],
    ["profile", "tokenStatus=canary", "--profile tokenStatus is invalid: expected one of \"200\", \"201\""],
    [
      "customer",
      "canary",
      "--customer customerKey is invalid: expected 1 to 256 characters, without control characters"
    ],
    [
      "customer",
      ":canary",
      "--customer customerId is invalid: expected 1 to 128 visible characters of ASCII, without a colon, and not . " +
      "or .. alone"
    ],
    ["control-token", "can ary", "--control-token is invalid: expected 1 to 256 visible characters of ASCII"],
    [
      "grace-period",
      "canary",
      "--grace-period is invalid: expected a number of milliseconds from 0 to 2147483647 (24.8 days), or a text such as \"2 seconds\""
    ],
    [
      "request-timeout",
      "0",
      "--request-timeout is invalid: expected a number of milliseconds from 1 to 2147483647 (24.8 days), or a text such as \"2 seconds\""
    ],
    ["fault", "canary:hang", "--fault on is invalid: expected one of token, aml, both"]
  ])("--%s %s is a usage error in one line that says what is allowed", ([name, value, line]) =>
    Effect.gen(function*() {
      strictEqual((yield* errorOf({ [name]: [value] })).startsWith(line), true, yield* errorOf({ [name]: [value] }))
    }))

  it.effect("with an unknown kind of fault lists the kinds", () =>
    Effect.gen(function*() {
      const message = yield* errorOf({ fault: ["aml:hang", "aml:canary"] })
      strictEqual(message.startsWith("--fault[1] what kind is invalid: expected one of latency, status, reset,"), true)
      strictEqual(message.includes("canary"), false)
    }))

  it.effect.each<[string, Flags, string]>([
    ["a fault", { fault: ["aml:hang", "canary:hang"] }, "--fault[1] on is invalid: expected one of token, aml, both"],
    [
      "a fault of JSON",
      { fault: ["aml:hang", "aml:empty", "{\"on\":\"aml\",\"what\":{\"kind\":\"hang\",\"at\":1}}"] },
      "--fault[2] what at is invalid"
    ],
    ["a host", { "allowed-host": ["mock", "canary:80"] }, "--allowed-host[1] is invalid: expected a host name"],
    ["a customer", { customer: ["a:b", "c:d", "canary"] }, "--customer[2] customerKey is invalid: expected 1 to 256"]
  ])("with several values reports the index of %s that is invalid", ([, flags, line]) =>
    Effect.gen(function*() {
      const message = yield* errorOf(flags)
      strictEqual(message.startsWith(line), true, message)
      strictEqual(message.includes("canary"), false)
    }))

  it.effect("rejects a test person in the file that would hide a reserved one, with its index and its field", () =>
    Effect.gen(function*() {
      const person = (nameLast: string) => ({ match: { nameLast }, response: "No" })
      const path = yield* fileOf(JSON.stringify({ testPersons: [person("Sample"), person("Testpep")] }))
      strictEqual(
        yield* errorOf({ config: [path] }),
        "--config: testPersons[1] match nameLast is invalid: expected a last word that is not a reserved name, because " +
          "reserved names keep their response"
      )
      const { testPersons } = yield* read({
        config: [yield* fileOf(JSON.stringify({ testPersons: [person("Sample")] }))]
      })
      strictEqual(testPersons?.[0]?.response, "No")
    }).pipe(Effect.scoped))

  it.effect("rejects two customers, or two faults, with the same id", () =>
    Effect.gen(function*() {
      const once = "is invalid: expected an id that no earlier entry of the list has"
      strictEqual(yield* errorOf({ customer: ["a:canary", "a:canary2"] }), `--customer[1] customerId ${once}`)
      strictEqual(yield* errorOf({ customer: ["a:canary", "a:canary"] }), `--customer[1] customerId ${once}`)
      strictEqual(
        yield* errorOf({ customer: ["demo-customer:canary", "b:c", "demo-customer:canary2"] }),
        `--customer[2] customerId ${once}`
      )
      const fault = "{\"id\":\"mine\",\"on\":\"aml\",\"what\":{\"kind\":\"hang\"}}"
      strictEqual(yield* errorOf({ fault: [fault, "aml:hang", fault] }), `--fault[2] id ${once}`)
    }))

  it.effect("with an unknown option of the profile lists the options, and rejects a second value", () =>
    Effect.gen(function*() {
      strictEqual(
        (yield* errorOf({ profile: ["canary=1"] })).includes("expected one of preset, tokenField, tokenType,"),
        true
      )
      strictEqual(
        yield* errorOf({ profile: ["strict", "hostile"] }),
        "--profile is invalid: expected at most one preset, and each option once"
      )
    }))

  it.effect("is reported together with other invalid flags", () =>
    Effect.gen(function*() {
      strictEqual(
        yield* errorOf({ port: ["x"], seed: ["y"] }),
        "--port is invalid: expected a whole number from 0 to 65535; " +
          "--seed is invalid: expected a whole number from 0 to 4294967295"
      )
    }))

  it.effect("becomes an option of the server", () =>
    Effect.gen(function*() {
      const settings = yield* read({
        "host": ["localhost"],
        "port": ["0"],
        "allowed-host": ["IDV-Mock", "mock"],
        "seed": ["7"],
        "profile": ["hostile", "tokenStatus=200"],
        "fault": ["aml:hang", "{\"on\":\"token\",\"what\":{\"kind\":\"empty\"}}"],
        "customer": ["acme:a:b", "demo-customer:other"],
        "reveal": ["true"],
        "grace-period": ["2 seconds"],
        "request-timeout": ["1.5 millis"],
        "force": ["true"],
        "log": ["json"],
        "port-file": ["port"]
      })
      const { customers = [], faults = [], profile, requestTimeout = 0, ...options } = Settings.options(settings)
      deepStrictEqual(
        customers.map(({ customerId, customerKey }) => [customerId, Redacted.value(customerKey)]),
        [["demo-customer", "other"], ["acme", "a:b"]]
      )
      deepStrictEqual(faults.map(({ on, what }) => [on, what.kind]), [["aml", "hang"], ["token", "empty"]])
      deepStrictEqual([profile?.tokenStatus, profile?.nameEcho], ["200", "upper"])
      // Node accepts only whole milliseconds.
      strictEqual(Duration.toMillis(requestTimeout), 2)
      deepStrictEqual(options, {
        host: "localhost",
        port: 0,
        allowedHosts: ["idv-mock", "mock"],
        seed: 7,
        reveal: true,
        gracePeriod: Duration.seconds(2),
        force: true
      })
    }))
})

describe("The config file of serve", () => {
  const all = {
    host: "127.0.0.1",
    port: 4711,
    portFile: "port",
    log: "json",
    controlToken: "s3cret",
    allowedHosts: ["idv-mock"],
    seed: 7,
    profile: { preset: "strict", tokenStatus: "201" },
    faults: [{ on: "aml", what: { kind: "drip", every: "1 second" } }],
    customers: [{ customerId: "acme", customerKey: "k3y" }],
    reveal: true,
    gracePeriod: 500,
    requestTimeout: "3 seconds",
    force: true
  }

  it.scoped("has every option, and flags take precedence", () =>
    Effect.gen(function*() {
      const config = [yield* fileOf(JSON.stringify(all))]
      const settings = yield* read({ config })
      deepStrictEqual(Object.keys(settings).toSorted(), Object.keys(all).toSorted())
      strictEqual(JSON.stringify(settings).includes("k3y"), false)
      const changed = yield* read({ config, port: ["0"], fault: ["token:empty"] })
      deepStrictEqual([changed.port, changed.seed, changed.faults?.map(({ on }) => on)], [0, 7, ["token"]])
    }))

  it.scoped("may hold the control token, but the variable takes precedence, and the flag over both", () =>
    Effect.gen(function*() {
      const config = [yield* fileOf(JSON.stringify(all))]
      const token = (flags: Flags, variable: string) =>
        Effect.map(
          read(flags, [["IDV_MOCK_CONTROL_TOKEN", variable]]),
          ({ controlToken }) => controlToken && Redacted.value(controlToken)
        )
      strictEqual(yield* token({ config }, ""), "s3cret")
      strictEqual(yield* token({ config }, "of-variable"), "of-variable")
      strictEqual(yield* token({ config, "control-token": ["of-flag"] }, "of-variable"), "of-flag")
    }))

  it.scoped.each<[string, unknown, string]>([
    [
      "an unknown key",
      { prot: 1 },
      `--config: prot is unexpected: expected one of host, port, portFile, log, controlToken, tls, tlsCa, tlsCert, tlsKey, reveal, gracePeriod, requestTimeout, force, allowedHosts, ${
        SessionOptions.all.map(({ name }) => name).join(", ")
      }, customers`
    ],
    [
      "an unknown key of a customer",
      { customers: [{ customerId: "a", customerKey: "b", secret: "canary" }] },
      "--config: customers[0] secret is unexpected: expected one of customerId, customerKey"
    ],
    ["a wrong value", { port: "canary" }, "--config: port is invalid: expected a whole number from 0 to 65535"],
    ["a wrong profile", { profile: { preset: "canary" } }, `--config: profile preset is invalid: expected ${presets}`],
    ["a list", [], "--config: the file is invalid: expected an object of options"]
  ])("with %s is a usage error in one line that says what is allowed", ([, content, line]) =>
    Effect.gen(function*() {
      strictEqual(yield* errorOf({ config: [yield* fileOf(JSON.stringify(content))] }), line)
    }))

  it.scoped("is reported with the index of an invalid element of a list", () =>
    Effect.gen(function*() {
      const of = (content: unknown) =>
        Effect.flatMap(fileOf(JSON.stringify(content)), (file) => errorOf({ config: [file] }))
      const hang = { on: "aml", what: { kind: "hang" } }
      strictEqual(
        yield* of({ faults: [hang, hang, { ...hang, when: { kind: "nth", n: 0 } }] }),
        "--config: faults[2] when n is invalid: expected a whole number from 1"
      )
      strictEqual(
        (yield* of({ customers: [{ customerId: "a", customerKey: "b" }, { customerId: "c" }] })).startsWith(
          "--config: customers[1] customerKey is missing: expected 1 to 256 characters"
        ),
        true
      )
      strictEqual(
        yield* of({ allowedHosts: ["mock", "canary:80"] }),
        "--config: allowedHosts[1] is invalid: expected a host name without a port"
      )
    }))

  it.scoped("may not repeat a customer id or a fault id, also not together with the flags", () =>
    Effect.gen(function*() {
      const customer = (customerId: string, customerKey = "canary") => ({ customerId, customerKey })
      const fault = { id: "mine", on: "aml", what: { kind: "hang" } }
      const once = "expected an id that no earlier entry of the list has"
      const of = (content: unknown, flags: Flags = {}) =>
        Effect.flatMap(fileOf(JSON.stringify(content)), (file) => errorOf({ ...flags, config: [file] }))
      strictEqual(
        yield* of({ customers: [customer("a"), customer("b"), customer("a"), customer("b")] }),
        `--config: customers[2] customerId is invalid: ${once}; --config: customers[3] customerId is invalid: ${once}`
      )
      strictEqual(yield* of({ faults: [fault, fault] }), `--config: faults[1] id is invalid: ${once}`)
      strictEqual(
        yield* of({ customers: [customer("a")] }, { customer: ["b:c", "a:canary2"] }),
        "--customer[1] customerId is invalid: expected an id that no customer in the file of --config has"
      )
      strictEqual(
        yield* of({ customers: [customer("a")] }, { customer: ["a:canary"] }),
        "--customer customerId is invalid: expected an id that no customer in the file of --config has"
      )
    }))

  it.scoped("that is not JSON, too large, a directory or missing is a usage error in one line", () =>
    Effect.gen(function*() {
      const of = (path: string) => errorOf({ config: [path] })
      strictEqual(
        yield* of(yield* fileOf("{\"port\": canary}")),
        "--config: the file is invalid: expected JSON text in UTF-8"
      )
      strictEqual(
        yield* of(yield* fileOf("{\"port\": 1, \"port\": 2}")),
        "--config: port is invalid: expected each key once in an object: this is a duplicate key"
      )
      strictEqual(
        yield* of(yield* fileOf(new Uint8Array(1_048_577))),
        "--config: the file is too large: expected at most 1 MiB"
      )
      strictEqual(yield* of("/tmp"), "--config: the path is a directory: expected a file")
      strictEqual(yield* of("canary/nowhere.json"), "--config: the file does not exist")
    }))
})
