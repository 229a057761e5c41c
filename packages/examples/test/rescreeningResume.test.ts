import { Control } from "@effect-idv/mock-server"
import { Command, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { assertInclude, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Console, Context, Effect, Exit, Random, Ref, Schedule } from "effect"
import { createHash } from "node:crypto"
import { hostname } from "node:os"
import * as Program from "../../mock-server/test/support/program.ts"
import { started } from "../src/rescreening/event.ts"
import * as Lock from "../src/rescreening/lock.ts"
import * as People from "../src/rescreening/people.ts"
import * as Record from "../src/rescreening/record.ts"
import { counted, directory, header, main, run, service, start, underWay } from "./support/rescreeningRuns.ts"

/** `P7 Testpep`, if 7 is one of every ten. */
const nameOf = (id: number) => `P${id} ${id % 10 === 7 ? "Testpep" : "Testclear"}`

const people = (count: number) =>
  [header, ...Array.from({ length: count }, (_, id) => `${id},${nameOf(id)},1990-02-01`), ""].join("\n")

const latency = (millis: number) =>
  ({ on: "aml", what: { kind: "latency", distribution: { kind: "fixed", delay: millis } } }) as const

/** The work of seconds, and not of a minute. */
const fast = ["--concurrency", "32", "--rate", "5000"]

const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("2 millis") }))

const countsOf = (values: ReadonlyArray<string>) => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

describe("rescreening goes on", () => {
  it.scopedLive(
    "after three SIGKILLs at random moments, with each of 600 people once in the report",
    () =>
      Effect.gen(function*() {
        const seed = yield* Clock.currentTimeMillis
        yield* Console.log(`The kills have the seed ${seed}`)
        const random = Random.make(seed)
        const at = yield* directory(people(600))
        const { asked, variables } = yield* service([latency(10)])

        let inFlight: ReadonlyArray<string> = []
        for (const kill of [1, 2, 3]) {
          const mark = yield* random.nextIntBetween(180 * (kill - 1) + 20, 180 * kill)
          const delay = yield* random.nextIntBetween(0, 30)
          yield* Effect.scoped(Effect.gen(function*() {
            const { end, process } = yield* start([at.input, ...fast], variables)
            yield* until(() => asked.names.length >= mark)
            yield* Effect.sleep(delay)
            yield* process.kill("SIGKILL")
            strictEqual((yield* end).exitCode, -1)
          }))
          const ids = underWay(yield* at.record)
          assertTrue(ids.size <= 32, `${ids.size} were in flight`)
          inFlight = [...inFlight, ...ids]
        }
        const { exitCode, stderr, stdout } = yield* run([at.input, ...fast], variables)

        strictEqual(stderr, "")
        strictEqual(exitCode, 10)
        const report = yield* at.csv
        deepStrictEqual(report.map(({ id }) => id), Array.from({ length: 600 }, (_, id) => String(id)))
        for (const { id, match_found } of report) {
          strictEqual(match_found, nameOf(Number(id)).endsWith("Testpep") ? "Potential match" : "No")
        }
        strictEqual((yield* at.jsonl).trim().split("\n").length, 600)

        strictEqual(counted(stdout, "no match"), 540)
        strictEqual(counted(stdout, "potential match"), 60)
        strictEqual(counted(stdout, "in all"), 600)
        strictEqual(counted(stdout, "checks begun"), 600 + inFlight.length)
        strictEqual(counted(stdout, "of them again, after an interruption"), inFlight.length)

        const extra = asked.names.length - 600
        yield* Console.log(`${inFlight.length} were in flight at the kills, ${extra} were checked again`)
        assertTrue(extra >= 0 && extra <= inFlight.length, `${extra} extra checks, ${inFlight.length} in flight`)
        const timesAsked = countsOf(asked.names)
        const timesInFlight = countsOf(inFlight.map((id) => nameOf(Number(id))))
        for (const [name, times] of timesAsked) {
          assertTrue(times <= 1 + (timesInFlight.get(name) ?? 0), `${name} was checked ${times} times`)
        }
        strictEqual(timesAsked.size, 600)
      }).pipe(Effect.provide(NodeContext.layer)),
    180_000
  )

  it.scopedLive("after a SIGINT, which loses nothing of what was under way", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(60))
      const { asked, variables } = yield* service([latency(150)])
      const { end, process } = yield* start([at.input, "--concurrency", "8"], variables)
      yield* until(() => asked.names.length >= 10)
      yield* process.kill("SIGINT").pipe(Effect.ignore)
      const first = yield* end
      strictEqual(first.exitCode, 130)
      strictEqual(first.stderr, "Interrupted. The same command goes on.\n")
      strictEqual(counted(first.stdout, "begun, and no outcome"), 0)
      strictEqual(counted(first.stdout, "no match") + counted(first.stdout, "potential match"), asked.names.length)
      strictEqual(counted(first.stdout, "not begun"), 60 - asked.names.length)

      const taken = asked.names.length
      const second = yield* run([at.input, ...fast], variables)
      strictEqual(second.exitCode, 10)
      strictEqual(counted(second.stdout, "of them taken from an earlier run"), taken)
      strictEqual(asked.names.length, 60)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with those who have no result, and counts them", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(6))
      const { asked, context, variables } = yield* service([
        { on: "aml", when: { kind: "nth", n: 2 }, what: { kind: "status", status: 500 } },
        { on: "aml", when: { kind: "nth", n: 4 }, what: { kind: "reset", at: "headers" } }
      ])
      const args = [at.input, "--concurrency", "1"]
      const first = yield* run(args, variables)
      strictEqual(first.exitCode, 2)
      deepStrictEqual((yield* at.csv).map(({ error, match_found, outcome }) => [outcome, match_found, error]), [
        ["no_match", "No", ""],
        ["not_screened", "", "AmlUnavailable"],
        ["no_match", "No", ""],
        ["unknown", "", "AmlUnavailable"],
        ["no_match", "No", ""],
        ["no_match", "No", ""]
      ])
      yield* Context.get(context, Control.Control).session("demo-customer").clearFaults
      const second = yield* run(args, variables)
      strictEqual(second.exitCode, 0)
      strictEqual(counted(second.stdout, "of them again, after no result"), 2)
      deepStrictEqual((yield* at.csv).map(({ times_started }) => times_started), ["1", "2", "1", "2", "1", "1"])

      const third = yield* run(args, variables)
      assertInclude(third.stdout, "6 of 6 rows are settled, 0 are left. To screen everybody anew choose another --out.")
      strictEqual(third.stderr, `${third.stdout.split("\n")[0]}\n`)
      strictEqual(third.exitCode, 3)
      strictEqual(asked.names.length, 8)

      const otherIds = yield* run([...args, "--id-pattern", ".*"], variables)
      strictEqual(otherIds.stderr, `${at.recordPath} was begun with another --id-pattern: choose another --out\n`)
      strictEqual(otherIds.exitCode, 1)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with another key, after one that was refused before anybody was screened", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(30))
      const { asked, variables } = yield* service()
      const refused = yield* run([at.input], { ...variables, IDV_CUSTOMER_KEY: "canary" })
      assertInclude(refused.stderr, "The token endpoint refused the request: status 401")
      assertInclude(refused.stdout, "Reconciliation of 30 rows:")
      deepStrictEqual([refused.exitCode, asked.tokens, asked.names.length], [1, 1, 0])
      strictEqual(`${refused.stdout}${refused.stderr}${yield* at.record}`.includes("canary"), false)
      strictEqual((yield* run([at.input], variables)).exitCode, 10)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("after it gave up on a service that is down", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(60))
      const { asked, context, variables } = yield* service([{ on: "aml", what: { kind: "status", status: 500 } }])
      const down = yield* run([at.input, "--stop-after", "20"], variables)
      strictEqual(down.stderr, "20 in a row have no result: is the service down? The same command goes on.\n")
      strictEqual(down.exitCode, 1)
      assertTrue(asked.names.length < 40, `${asked.names.length} were sent to a service that is down`)
      yield* Context.get(context, Control.Control).session("demo-customer").clearFaults
      strictEqual((yield* run([at.input], variables)).exitCode, 10)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("after a line of which only half was written", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(5))
      const { asked, variables } = yield* service()
      yield* run([at.input], variables)
      const whole = yield* at.record
      // Within the last outcome, in the middle of a character.
      const cut = Buffer.concat([Buffer.from(whole).subarray(0, -30), Buffer.from("é").subarray(0, 1)])
      yield* at.files.writeFile(at.recordPath, cut)
      strictEqual(underWay(cut.toString()).size, 1)
      const { exitCode, stdout } = yield* run([at.input], variables)
      strictEqual(exitCode, 0)
      strictEqual(counted(stdout, "of them again, after an interruption"), 1)
      strictEqual(asked.names.length, 6)
      strictEqual((yield* at.csv).length, 5)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with no other file, and with no damaged record", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(3))
      const { asked, variables } = yield* service()
      yield* run([at.input], variables)
      yield* at.files.writeFileString(at.input, people(4))
      const other = yield* run([at.input], variables)
      strictEqual(
        other.stderr,
        `${at.recordPath} is the record of another file, or of another version of it: choose another --out\n`
      )
      yield* at.files.writeFileString(at.input, people(3))
      const record = yield* at.record
      yield* at.files.writeFileString(at.recordPath, record.replace("\"matchFound\":\"No\"", "\"matchFound\":\"no\""))
      const damaged = yield* run([at.input], variables)
      strictEqual(damaged.stderr, `${at.recordPath} has a line that is none of this program\n`)
      deepStrictEqual([other.exitCode, damaged.exitCode, asked.names.length], [1, 1, 3])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with no file that changes while it is read", () =>
    Effect.gen(function*() {
      // A megabyte is read ahead, and blank lines are nobody.
      const at = yield* directory(`${people(1)}${`${" ".repeat(1000)}\n`.repeat(3000)}1,${nameOf(1)},1990-02-01\n`)
      const { asked, variables } = yield* service([latency(500)])
      const { end } = yield* start([at.input, "--concurrency", "1"], variables)
      yield* until(() => asked.names.length > 0)
      yield* at.files.writeFileString(at.input, people(1))
      const { exitCode, stderr } = yield* end
      strictEqual(stderr, `${at.input} was changed during the run\n`)
      strictEqual(exitCode, 1)
      strictEqual(yield* at.files.exists(`${at.path}/people-report.csv`), false)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with no answer about another version of the file, which was put back", () =>
    Effect.gen(function*() {
      const other = `${header}\n0,${nameOf(0)},1990-02-01\n`
      const at = yield* directory(other)
      const { asked, variables } = yield* service()
      yield* run([at.input], variables)
      const record = yield* at.record
      const shaOf = (text: string) => createHash("sha256").update(text).digest("hex")
      const cases = [
        ["line 2", `${header}\n0,Canary Testclear,1990-02-01\n`],
        ["line 2", `${header}\n0,${nameOf(0)},1990-02-31\n`],
        ["a line that is no row now", `${header}\n\n0,${nameOf(0)},1990-02-01\n`]
      ] as const
      for (const [since, original] of cases) {
        // As after a run that ended early, and so never compared the digests of the file.
        yield* at.files.writeFileString(at.recordPath, record.replace(shaOf(other), shaOf(original)))
        yield* at.files.writeFileString(at.input, original)
        const { exitCode, stderr } = yield* run([at.input], variables)
        strictEqual(stderr, `${at.input} was changed since ${since} was screened: choose another --out\n`)
        deepStrictEqual([exitCode, asked.names.length], [1, 1])
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("with nobody taken for written down whose write ended in a defect", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(3))
      const defect = yield* Ref.make(0)
      // The first is of the head of the record, the second of the first event, the third of the two after it.
      const sync = Effect.flatMap(
        Ref.updateAndGet(defect, (count) => count + 1),
        (count) => count < 3 ? Effect.yieldNow() : Effect.dieMessage("the disk is gone")
      )
      const files: FileSystem.FileSystem = {
        ...at.files,
        open: (path, options) =>
          Effect.map(at.files.open(path, options), (file) =>
            new Proxy(file, { get: (target, key) => key === "sync" ? sync : Reflect.get(target, key, target) }))
      }
      const ends = yield* Effect.gen(function*() {
        const record = yield* Record.open(at.recordPath, yield* People.open(at.input), /.*/)
        return yield* Effect.forEach([2, 3, 4], (line) =>
          Effect.exit(Effect.flatMap(started({ line, id: `${line}`, digest: "0".repeat(16) }), record.append)), {
          concurrency: "unbounded"
        })
      }).pipe(Effect.provideService(FileSystem.FileSystem, files))
      deepStrictEqual(ends.map(Exit.isSuccess), [true, false, false])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("not beside a run of another host, which may have the same number", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(1))
      const held = Effect.scoped(Lock.hold(at.lock))
      yield* at.files.writeFileString(at.lock, `${process.pid} elsewhere`)
      const { message } = yield* Effect.flip(held)
      assertInclude(message, `process ${process.pid} on elsewhere, writes here. If there is none, remove ${at.lock};`)
      strictEqual(yield* at.files.readFileString(at.lock), `${process.pid} elsewhere`)
      // Of this host it is that of a dead run before us.
      yield* at.files.writeFileString(at.lock, `${process.pid} ${hostname()}`)
      yield* held
      deepStrictEqual(yield* at.listing, ["people.csv"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("not beside a run that is alive, but after one that is dead", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(10))
      const { asked, variables } = yield* service([{ on: "aml", what: { kind: "hang", at: "headers" } }])
      const { end, process } = yield* start([at.input], variables)
      yield* until(() => asked.names.length > 0)
      const beside = yield* run([at.input], variables)
      assertInclude(beside.stderr, `Another run, process ${process.pid} on ${hostname()}, writes here.`)
      strictEqual(beside.exitCode, 1)
      yield* process.kill("SIGKILL")
      yield* end
      strictEqual(yield* at.files.readFileString(at.lock), `${process.pid} ${hostname()}`)

      const next = yield* start([at.input], variables)
      yield* until(() => asked.names.length > 10)
      strictEqual(yield* at.files.readFileString(at.lock), `${next.process.pid} ${hostname()}`)
      yield* next.process.kill("SIGKILL")
      strictEqual(counted((yield* next.end).stdout, "in all"), Number.NaN)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("after a full disk, and sends nothing that it cannot write down", () =>
    Effect.gen(function*() {
      const at = yield* directory(people(200))
      const { asked, variables } = yield* service()
      const program = yield* Program.bundled(main)
      // Files of this shell end at 8 blocks of 512 bytes.
      const limited = yield* Command.make("sh", "-c", "ulimit -f 8; exec node \"$0\" \"$@\"", program, at.input).pipe(
        Command.env(variables),
        Command.exitCode
      )
      strictEqual(limited, 1)
      assertTrue(asked.names.length > 0 && asked.names.length < 20, `${asked.names.length} were sent`)
      strictEqual(yield* at.files.exists(`${at.path}/people-report.csv`), false)
      strictEqual((yield* run([at.input, ...fast], variables)).exitCode, 10)
      strictEqual((yield* at.csv).length, 200)
    }).pipe(Effect.provide(NodeContext.layer)))
})
