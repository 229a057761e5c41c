/**
 * `node packages/effect-4/bench.mjs`, after `pnpm build`: the CPU time of a check by this package and by core, in one process
 * with interleaved rounds, and the memory that each needs. Compare only figures of the same run.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"

const rounds = 40
const warmUps = 10
const calls = 250
const concurrency = 64

const credential = JSON.stringify({
  credential_type: "aml",
  credential_name: "AML",
  issued_by: "Issuer",
  issuer_id: "7d9f6c52-4b1e-4c39-9a76-2f0e8d1b5a64",
  cred_version: "1.0",
  credentials: {
    attributes: {
      name: "Ada Testclear",
      birth_year: "1990",
      searched_on: new Date().toISOString().slice(0, 19).replace("T", " "),
      match_found: "No",
      aml_profile: "https://idv.example.com/1"
    }
  }
})

const serve = () => {
  const server = createServer((request, response) => {
    const token = "{\"access_token\":\"token\",\"token_type\":\"Bearer\",\"expires_in\":3600}"
    request.resume().on(
      "end",
      () => response.setHeader("content-type", "application/json").end(request.url === "/api/aml" ? credential : token)
    )
  })
  // Between two rounds of the same client, a loaded machine takes longer than the five seconds that Node waits.
  server.keepAliveTimeout = 600_000
  server.listen(0, "127.0.0.1", () => process.send?.(`http://127.0.0.1:${server.address().port}`))
}

/** Both have the same names. */
const load = {
  core: () =>
    Promise.all([import("effect-3"), import("../core/dist/index.js"), import("../core/dist/IdvHttp.js")]).then(
      ([effect, library, IdvHttp]) => ({ ...effect, ...library, IdvHttp })
    ),
  effect4: () =>
    Promise.all([import("effect"), import("./bundle/index.js")]).then(([effect, library]) => ({
      ...effect,
      ...library
    }))
}

/** A function that makes many checks at once. */
const start = (which, url) =>
  load[which]().then(({ AmlClient, Effect, Idv, IdvHttp, Layer, ManagedRuntime, Person, Redacted }) => {
    const options = { authUrl: url, baseUrl: url, customerId: "customer", customerKey: Redacted.make("key") }
    const runtime = ManagedRuntime.make(Layer.provide(Idv.layer(options), IdvHttp.layerUndici()))
    const checks = (count) =>
      Effect.gen(function*() {
        const aml = yield* AmlClient.AmlClient
        const ada = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
        yield* Effect.forEach(Array.from({ length: count }), () => aml.check(ada), { concurrency, discard: true })
      })
    return (count) => runtime.runPromise(checks(count))
  })

const memory = (which, url) =>
  start(which, url).then((run) => run(100)).then(() => {
    globalThis.gc()
    const { heapUsed, rss } = process.memoryUsage()
    process.send([heapUsed, rss])
    process.exit()
  })

const quartiles = (values) => {
  const sorted = values.toSorted((a, b) => a - b)
  return [1, 2, 3].map((quarter) => sorted[Math.floor(values.length * quarter / 4)].toFixed(0))
}

const main = async () => {
  const service = fork(import.meta.filename, ["serve"])
  const [url] = await once(service, "message")
  const names = Object.keys(load)
  const runs = await Promise.all(names.map((name) => start(name, url)))
  const micros = names.map(() => [])
  for (let round = -warmUps; round < rounds; round++) {
    // Alternates the order, because the second run of a round collects garbage of the first.
    const order = round % 2 === 0 ? [0, 1] : [1, 0]
    for (const index of order) {
      const before = process.cpuUsage()
      await runs[index](calls)
      const { system, user } = process.cpuUsage(before)
      if (round >= 0) micros[index].push((user + system) / calls)
    }
  }
  for (const [index, name] of names.entries()) {
    const [[heap, rss]] = await once(
      fork(import.meta.filename, ["memory", name, url], { execArgv: ["--expose-gc"] }),
      "message"
    )
    const values = micros[index]
    const [low, middle, high] = quartiles(values)
    console.log(
      `${name.padEnd(8)} ${middle} µs of CPU for each check (half of the rounds: ${low} to ${high}), heap ${
        (heap / 2 ** 20).toFixed(1)
      } MB, process ${(rss / 2 ** 20).toFixed(0)} MB`
    )
  }
  const overheads = micros[0].map((core, round) => micros[1][round] - core)
  const [low, middle, high] = quartiles(overheads)
  console.log(
    `overhead ${middle} µs of CPU for each check (half of the rounds: ${low} to ${high}), Node ${process.version}`
  )
  service.kill()
  process.exit()
}

const [, , command, ...args] = process.argv
await (command === "serve" ? serve() : command === "memory" ? memory(...args) : main())
