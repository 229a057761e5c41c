/** The command `idv-rescreen`, as a process. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, layer } from "@effect/vitest"
import { assertFalse, assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Schedule } from "effect"
import { createServer, type Server } from "node:http"
import * as Postgres from "../../../tools/test-services/Postgres.ts"
import { key } from "./support/people.ts"
import * as Processes from "./support/processes.ts"

const header = "id,name,date_of_birth"

/** `people.csv` in a directory of its own. */
const directory = (rows: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempDirectoryScoped({ prefix: "rescreen-" })
    const people = `${path}/people.csv`
    yield* files.writeFileString(people, [header, ...rows, ""].join("\n"))
    const written = Effect.gen(function*() {
      const names = (yield* files.readDirectory(path)).filter((name) => name !== "people.csv")
      return yield* Effect.forEach(names, (name) =>
        Effect.map(files.readFile(`${path}/${name}`), (bytes) =>
          [name, Buffer.from(bytes).toString("latin1")] as const))
    })
    return { path, people, files, written }
  })

const canaries = ["Canaryname", "1957-03-14", "14-03-1957", "demo-key", Buffer.alloc(32, 1).toString("base64")]

const assertNoCanary = (where: string, text: string) => {
  for (const canary of canaries) assertFalse(text.includes(canary), `${where} holds ${canary}`)
}

const person = (index: number) => `K${index},Canaryname${index} ${index % 5 === 0 ? "Testpep" : "Testclear"},1957-03-14`

const people = (count: number) => Array.from({ length: count }, (_, index) => person(index + 1))

describe("idv-rescreen", () => {
  layer(NodeContext.layer, { excludeTestServices: true })((it) => {
    it.scoped(
      "continues after a kill, checks nobody twice, and shows no name, date or key anywhere",
      () =>
        Effect.gen(function*() {
          const at = yield* directory([...people(60), "K61,Canaryname,1957-02-31", "Canaryname 62,Ada,1957-03-14"])
          const { received, variables } = yield* Processes.service()
          const args = ["start", at.people, "--run", "1", "--rate", "30", "--lease", "1s"]
          const killed = yield* Processes.start(args, variables)
          yield* Effect.repeat(Effect.sync(() => received.length), {
            until: (count) => count > 10,
            schedule: Schedule.spaced("50 millis")
          })
          yield* killed.signal("SIGKILL")
          yield* Fiber.join(killed.end)
          for (const [name, text] of yield* at.written) assertNoCanary(name, text)
          yield* Effect.sleep("1 second")
          const { exitCode, stderr, stdout } = yield* Processes.run(args, variables)
          strictEqual(stderr, "")
          strictEqual(exitCode, 2)
          assertInclude(stdout, "   2  wrong rows: not sent\n  62  in all")
          strictEqual(new Set(received.map(({ name }) => name)).size, received.length)
          assertNoCanary("stdout", stdout)
          const written = yield* at.written
          deepStrictEqual(
            written.map(([name]) => name).filter((name) => !/-(wal|shm)$/.test(name)).toSorted(),
            ["people-1.csv", "people-1.html", "people-1.jsonl", "people.ledger.sqlite"]
          )
          for (const [name, text] of written) assertNoCanary(name, text)
          for (const name of ["people-1.csv", "people.ledger.sqlite"]) {
            strictEqual((yield* at.files.stat(`${at.path}/${name}`)).mode & 0o777, 0o600)
          }
        })
    )

    it.scoped(
      "ends after SIGHUP as after Ctrl-C: the checks in flight get their outcome, and no row stays sent",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(60))
          const { received, variables } = yield* Processes.service([
            { on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: 300 } } }
          ])
          const stopped = yield* Processes.start(["start", at.people, "--run", "1", "--rate", "30"], variables)
          yield* Effect.repeat(Effect.sync(() => received.length), {
            until: (count) => count > 10,
            schedule: Schedule.spaced("50 millis")
          })
          yield* stopped.signal("SIGHUP")
          strictEqual((yield* Fiber.join(stopped.end)).exitCode, 143)
          const { stdout } = yield* Processes.run(["status", "--ledger", `${at.path}/people.ledger.sqlite`], {})
          assertInclude(stdout, "\"sent\":0")
          assertInclude(stdout, "\"unknown\":0")
        })
    )

    it.scoped(
      "starts twice at the same time on an empty PostgreSQL, and shares the work",
      () =>
        Effect.gen(function*() {
          const { createDatabase } = yield* Postgres.make
          const at = yield* directory(people(40))
          const { received, variables } = yield* Processes.service()
          const all = { ...variables, DATABASE_URL: yield* createDatabase }
          const run = Processes.run(["start", at.people, "--run", "1", "--rate", "200"], all)
          const refused = yield* run
          deepStrictEqual([refused.exitCode, refused.stderr], [
            1,
            `There is no ledger in the database ${all.DATABASE_URL.split("/").at(-1)} with the search_path ` +
            "\"$user\", public. Check DATABASE_URL or the file, or run idv-rescreen migrate once.\n"
          ])
          const migrate = Processes.run(["migrate"], all)
          for (const { exitCode, stderr } of yield* Effect.all([migrate, migrate], { concurrency: 2 })) {
            deepStrictEqual([exitCode, stderr], [0, ""])
          }
          const ends = yield* Effect.all([run, run], { concurrency: "unbounded" })
          deepStrictEqual(ends.map(({ exitCode, stderr }) => [exitCode, stderr]), [[10, ""], [10, ""]])
          strictEqual(new Set(received.map(({ name }) => name)).size, 40)
          strictEqual(received.length, 40)
        })
    )

    it.scoped(
      "stops with exit code 4 when the service rejects the key, and keeps all rows",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(20))
          const { received, variables } = yield* Processes.service()
          const args = ["start", at.people, "--run", "1"]
          const refused = yield* Processes.run(args, { ...variables, IDV_CUSTOMER_KEY: "Canaryname" })
          strictEqual(refused.exitCode, 4)
          assertInclude(refused.stderr, "Run 1 is paused: TokenRejected: ")
          assertNoCanary("stderr", refused.stderr)
          strictEqual(received.length, 0)
          const ledger = ["--ledger", `${at.path}/people.ledger.sqlite`]
          const { stdout } = yield* Processes.run(["status", ...ledger], {})
          assertInclude(stdout, "\"state\":\"paused\"")
          assertInclude(stdout, "\"pending\":20")
          strictEqual((yield* Processes.run(args, variables)).exitCode, 10)
          const compared = yield* Processes.run(["compare", "1", "1", "--all", ...ledger], {})
          strictEqual(compared.stdout.trim().split("\n").length, 20)
          for (const age of ["1d", "400 days", "1.5 weeks"]) {
            const { stdout } = yield* Processes.run(["erase", "--older-than", age, ...ledger], {})
            strictEqual(stdout, "No run is that old.\n")
          }
          for (
            const [words, expected] of [
              [["--older-than", "0d", "--keep-history"], "--keep-history and --by need --id\n"],
              [["--id", "K1", "--history-older-than", "0d"], "--history-older-than needs --older-than\n"]
            ] as const
          ) {
            const { exitCode, stderr } = yield* Processes.run(["erase", ...words, ...ledger], {})
            deepStrictEqual([exitCode, stderr], [1, expected])
          }
          const erased = yield* Processes.run(["erase", "--older-than", "0d", ...ledger], {})
          strictEqual(erased.stdout, "Erased: 1. Their counts stay.\n")
          for (const [name, text] of yield* at.written) {
            if (name.startsWith("people.ledger")) assertFalse(text.includes("K12"), name)
          }
        })
    )

    it.scoped(
      "start resumes a run that a failure paused, but not one that an operator paused, and resume reports the state",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(10))
          const { received, variables } = yield* Processes.service()
          const ledger = ["--ledger", `${at.path}/people.ledger.sqlite`]
          const start = (changed: Processes.Variables = {}) =>
            Processes.run(["start", at.people, "--run", "1"], { ...variables, ...changed })
          const resume = Effect.map(
            Processes.run(["resume", "--run", "1", ...ledger], variables),
            ({ stdout }) => stdout
          )
          strictEqual((yield* start({ IDV_CUSTOMER_KEY: "wrong" })).exitCode, 4)
          yield* resume
          strictEqual(
            (yield* Processes.run(["pause", "--run", "1", ...ledger], variables)).stdout,
            "Run 1 is paused.\n"
          )
          const paused = yield* start()
          assertInclude(paused.stderr, "Run 1 is paused: operator.")
          deepStrictEqual([paused.exitCode, received.length], [4, 0])
          assertInclude(yield* resume, "Run 1 is open; 0 rows")
          strictEqual((yield* start({ IDV_CUSTOMER_KEY: "wrong" })).exitCode, 4)
          const { exitCode, stdout } = yield* start()
          assertInclude(stdout, "Run 1 was paused and continues. The reason was TokenRejected: ")
          deepStrictEqual([exitCode, received.length], [10, 10])
          strictEqual(
            yield* resume,
            "Run 1 is complete. To screen rows without a result again, use --again.\n"
          )
        })
    )

    it.scoped(
      "work without --run takes the newest run that is not complete, and fails without one",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(4))
          const { received, variables } = yield* Processes.service()
          const ledger = ["--ledger", `${at.path}/ledger.sqlite`]
          const csv = yield* at.files.readFileString(at.people)
          for (const run of ["1", "2", "3"]) {
            strictEqual((yield* Processes.run(["plan", "--run", run, ...ledger], variables, csv)).exitCode, 0)
          }
          const work = (...more: ReadonlyArray<string>) => Processes.run(["work", ...more, ...ledger], variables)
          strictEqual((yield* work("--run", "3")).exitCode, 0)
          assertInclude((yield* work()).stdout, "Run 2:\n")
          assertInclude((yield* work()).stdout, "Run 1:\n")
          strictEqual(received.length, 12)
          const { exitCode, stderr, stdout } = yield* work()
          deepStrictEqual([exitCode, stdout], [1, ""])
          strictEqual(
            stderr,
            "All runs are complete. Wait until plan has stored the next run, or name a run with --run.\n"
          )
          strictEqual((yield* work("--run", "3")).exitCode, 0)
        })
    )

    it.scoped(
      "sends as many checks at once as --concurrency allows",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(200))
          const arrivals = yield* Effect.acquireRelease(
            Effect.async<{ readonly server: Server; readonly count: () => number }>((resume) => {
              let count = 0
              const server = createServer((request, response) => {
                // Responds to no check, so that all of them stay in flight.
                if (request.url === "/api/aml") {
                  count++
                  response.on("close", () => count--)
                } else {
                  response.writeHead(200, { "content-type": "application/json" }).end(
                    JSON.stringify({ access_token: "token", token_type: "Bearer", expires_in: 3600 })
                  )
                }
              })
              server.listen(0, "127.0.0.1", () => resume(Effect.succeed({ server, count: () => count })))
            }),
            ({ server }) =>
              Effect.sync(() => {
                server.closeAllConnections()
                server.close()
              })
          )
          const address = arrivals.server.address()
          const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
          const started = yield* Processes.start(
            ["start", at.people, "--run", "1", "--rate", "1000", "--concurrency", "200"],
            {
              IDV_AUTH_URL: url,
              IDV_BASE_URL: url,
              IDV_CUSTOMER_ID: "demo-customer",
              IDV_CUSTOMER_KEY: "demo-key",
              IDV_RESCREEN_KEY: key("k1", 1)
            }
          )
          yield* Effect.repeat(Effect.sync(arrivals.count), {
            until: (count) => count === 200,
            schedule: Schedule.spaced("50 millis")
          })
          yield* started.signal("SIGKILL")
          yield* Fiber.join(started.end)
        })
    )

    it.scoped(
      "stores a reviewer's decisions from standard input, all or none; the next report and exit code take them into account",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(10))
          const { variables } = yield* Processes.service()
          const ledger = ["--ledger", `${at.path}/people.ledger.sqlite`]
          strictEqual((yield* Processes.run(["start", at.people, "--run", "1"], variables)).exitCode, 10)
          const decide = (csv: string) =>
            Processes.run(["decide", "--run", "1", "--reviewer", "r1", ...ledger], variables, csv)
          const header = "id,digest,decision,reason"
          const wrong: ReadonlyArray<readonly [string, string]> = [
            ["id,decision\nK5,false_positive\n", "The first line of the decisions should be id,digest,decision,reason"],
            [`${header}\nK5,d,false_positive,age\nK5,d,true_match,age\n`, "Rows 3 of the decisions should be"],
            [
              `${header}\nCanaryname,d,false_positive,age\n`,
              "Run 1 has no result for these ids (decision 1 of the list)"
            ],
            [`${header}\nK5,d,false_positive,age\n`, "does not have this digest"],
            [`${header}\n"K5,d,false_positive,age\n`, "a quote is not closed"]
          ]
          for (const [csv, expected] of wrong) {
            const { exitCode, stderr, stdout } = yield* decide(csv)
            assertInclude(stderr, expected)
            deepStrictEqual([exitCode, stdout], [1, ""])
            assertNoCanary("stderr", stderr)
          }
          const report = Effect.gen(function*() {
            yield* Processes.run(["report", "--run", "1", "--out", `${at.path}/people-1`, ...ledger], {})
            return yield* at.files.readFileString(`${at.path}/people-1.csv`)
          })
          assertFalse((yield* report).includes("false_positive"))
          const { stdout: matches } = yield* Processes.run(
            ["matches", "--run", "1", "--reviewer", "r1", ...ledger],
            variables
          )
          assertInclude(matches, "Canaryname5 Testpep")
          const [digest5, digest10] = Array.from(matches.matchAll(/"digest":"([\da-f]{64})"/g), ([, digest]) => digest)
          const rows = [header, `K5,${digest5},false_positive,age`, `K10,${digest10},true_match,age`]
          strictEqual(
            (yield* decide(rows.join("\n"))).stdout,
            "Stored: 2 decisions about results of run 1.\n"
          )
          const lines = (yield* report).split("\n")
          assertInclude(lines.find((line) => /\bK5\b/.test(line)) ?? "", "false_positive")
          assertInclude(lines.find((line) => /\bK10\b/.test(line)) ?? "", "true_match")
          const again = yield* Processes.run(["start", at.people, "--run", "2"], variables)
          assertInclude(
            again.stdout,
            "   2  potential match\n  10  in all\nResults that need a decision or an approval: 0.\n"
          )
          strictEqual(again.exitCode, 0)
        })
    )

    it.scoped(
      "refuses a changed file, other options, another service or a wrong key in one line, and then continues",
      () =>
        Effect.gen(function*() {
          const at = yield* directory([...people(4), "K5,Canaryname,1957-02-31", "K1,Canaryname,1957-03-14"])
          const { received, variables } = yield* Processes.service()
          const ledger = ["--ledger", `${at.path}/people.ledger.sqlite`]
          const csv = yield* at.files.readFileString(at.people)
          const plan = (more: ReadonlyArray<string>, input = csv) =>
            [["plan", "--run", "1", ...more, ...ledger], {}, input] as const
          const work = (changed: Processes.Variables, ...more: ReadonlyArray<string>) =>
            [["work", "--run", "1", ...more, ...ledger], changed, ""] as const
          const runCommand = ([args, changed, input]: ReturnType<typeof plan> | ReturnType<typeof work>) =>
            Processes.run(args, { ...variables, ...changed }, input)
          strictEqual((yield* runCommand(plan([]))).exitCode, 0)
          const cases = [
            [plan([], `${csv}K6,Canaryname6 Testclear,1957-03-14\n`), "Run 1 was planned with another population."],
            [plan(["--evidence", "all"]), "Run 1 was planned with another evidence."],
            [work({ IDV_CUSTOMER_ID: "other" }), "Run 1 was planned with another service."],
            [
              work({ IDV_BASE_URL: `${variables["IDV_BASE_URL"]}/sandbox` }),
              "Run 1 was planned with another service."
            ],
            [
              work({ IDV_RESCREEN_KEY: key("k1", 2) }),
              "The encryption key cannot be used: it does not decrypt the data (key id k1)."
            ],
            [
              work({ IDV_RESCREEN_KEY: key("k2", 2) }),
              "The encryption key cannot be used: the data were encrypted with another key (key id k1)."
            ],
            [work({}, "--rate", "7"), "idv-rescreen work: unknown flag --rate"]
          ] as const
          for (const [command, expected] of cases) {
            const { exitCode, stderr } = yield* runCommand(command)
            assertInclude(stderr, expected)
            deepStrictEqual([exitCode, stderr.split("\n").length], [1, 2], stderr)
            assertNoCanary("stderr", stderr)
          }
          strictEqual(received.length, 0)
          const { exitCode, stdout } = yield* runCommand(work({ IDV_RESCREEN_KEY: `${key("k2", 2)},${key("k1", 1)}` }))
          strictEqual(exitCode, 2)
          assertInclude(stdout, "4  no match\n  2  wrong rows: not sent\n  6  in all")
          strictEqual(received.length, 4)
          // The people of a span: one whose row is repeated is checked once, and the repeated row is reported.
          const part = ["plan", "--run", "2", "--from-sent", "2000-01-01..2100-01-01", ...ledger]
          assertInclude((yield* Processes.run(part, variables, csv)).stdout, "Run 2: 5 rows, ")
          const repeated = yield* Processes.run(["work", "--run", "2", ...ledger], variables)
          assertInclude(repeated.stdout, "4  no match\n  1  wrong rows: not sent\n  5  in all")
          strictEqual(received.length, 8)
        })
    )

    it.scoped(
      "reports invalid arguments, variables and files in one line",
      () =>
        Effect.gen(function*() {
          const at = yield* directory(people(1))
          const good: Processes.Variables = {
            IDV_AUTH_URL: "http://127.0.0.1:9",
            IDV_BASE_URL: "http://127.0.0.1:9",
            IDV_CUSTOMER_ID: "demo-customer",
            IDV_CUSTOMER_KEY: "demo-key",
            IDV_RESCREEN_KEY: key("k1", 1)
          }
          yield* at.files.writeFileString(`${at.path}/empty.csv`, `${header}\n`)
          yield* at.files.writeFileString(`${at.path}/swapped.csv`, `name,id,date_of_birth\nCanaryname,1,1957-03-14\n`)
          const start = (file: string, ...more: ReadonlyArray<string>) => [
            "start",
            `${at.path}/${file}`,
            "--run",
            "1",
            ...more
          ]
          const cases: ReadonlyArray<readonly [ReadonlyArray<string>, Processes.Variables, string, string?]> = [
            [["start"], good, "idv-rescreen start: <people.csv> is missing"],
            [["strat"], good, "idv-rescreen: unknown command: did you mean start?"],
            [start("people.csv", "--other"), good, "idv-rescreen start: unknown flag"],
            [
              start("people.csv", "--rate", "Canaryname"),
              good,
              "--rate is invalid: expected a number from 0.01 to 100000"
            ],
            [start("people.csv", "--lease", "Canaryname"), good, "--lease"],
            [start("people.csv", "--concurrency", "1.5"), good, "--concurrency"],
            [start("people.csv", "--lease", "10 millis"), good, "--lease"],
            [start("people.csv", "--unknown", "Canaryname"), good, "--unknown"],
            [["start", at.people, "--run", "Canaryname 1"], good, "--run"],
            [start("empty.csv"), good, "The population is empty."],
            [start("swapped.csv"), good, "The first line of the population is not id,name,date_of_birth."],
            [start("missing.csv"), good, "missing.csv cannot be used: NotFound"],
            [start("people.csv", "--out", "/nowhere/report"), good, "/nowhere/report cannot be used: NotFound"],
            [start("people.csv", "--out", `${at.path}/people`), good, "people.csv: name another file with --out"],
            [
              start("people.csv"),
              { ...good, IDV_RESCREEN_KEY: undefined },
              "The encryption key cannot be used: there is none"
            ],
            [start("people.csv"), { ...good, IDV_RESCREEN_KEY: "Canaryname" }, "it is malformed"],
            [start("people.csv"), { ...good, IDV_BASE_URL: undefined }, "IDV_BASE_URL is missing"],
            [
              start("people.csv"),
              { ...good, DATABASE_URL: "mysql://Canaryname" },
              "DATABASE_URL should start with postgres://"
            ],
            ...["12m", "-400 days", "2 minutes", "1 hour", "400", "Canaryname"].map((age) =>
              [
                ["erase", `--older-than=${age}`, "--ledger", `${at.path}/new.sqlite`],
                good,
                "--older-than"
              ] as const
            ),
            [
              ["plan", "--run", "1", "--ledger", `${at.path}/new.sqlite`],
              { ...good, IDV_BASE_URL: "Canaryname" },
              "IDV_BASE_URL should be a URL"
            ],
            [
              ["plan", "--run", "1", "--ledger", `${at.path}/new.sqlite`],
              { ...good, IDV_BASE_URL: undefined },
              "IDV_BASE_URL is missing\n"
            ],
            [
              ["plan", "--run", "1", "--ledger", `${at.path}/new.sqlite`, "--expect-at-least", "2"],
              good,
              "The population has only 1 rows, fewer than expected.",
              `${header}\n${person(1)}\n`
            ],
            [["status"], good, "The ledger is missing: set DATABASE_URL"],
            [["report", "--run", "2", "--ledger", `${at.path}/new.sqlite`], good, "There is no ledger "],
            [
              ["status", "--ledger", `${at.path}/new.sqlite`],
              good,
              "new.sqlite. Check the path: only start and plan create a file."
            ],
            [["status", "--ledger", at.path], good, "The database of the ledger failed (open: EISDIR)."],
            [["status", "--ledger", at.people], good, "The database of the ledger failed (open: SQLITE_NOTADB)."],
            [
              ["status"],
              { ...good, DATABASE_URL: "postgres://Canaryname:Canaryname@127.0.0.1:1/Canaryname" },
              "The database of the ledger failed (open: ECONNREFUSED)."
            ]
          ]
          yield* Effect.forEach(cases, ([args, variables, expected, input]) =>
            Effect.gen(function*() {
              const { exitCode, stderr, stdout } = yield* Processes.run(args, variables, input)
              assertInclude(stderr, expected)
              deepStrictEqual([exitCode, stdout, stderr.split("\n").length], [1, "", 2], stderr)
              assertNoCanary("stderr", stderr)
            }), { concurrency: 2, discard: true })
          deepStrictEqual((yield* at.written).map(([name]) => name).filter((name) => name.includes("sqlite")), [])
          const { exitCode, stdout } = yield* Processes.run([], good)
          assertTrue(exitCode === 0 && stdout.includes("Exit codes: "))
        })
    )
  })
})
