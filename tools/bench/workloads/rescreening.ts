/**
 * Screens people through a ledger: `rescreening.ts check|plan|work|job|long <url of the service> <database> [people]`.
 * `plan` stores the next run and `work` screens it, so several processes can share a run. `job` uses a job of pg-boss for
 * each person, and no ledger. `long` plans, screens and reports one run against a stub, and prints its times and heap.
 */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { EncryptionKeys, Ledger, People, Report, Rescreening } from "@effect-idv/rescreening"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import PgBoss from "pg-boss"
import type { LongRun } from "../rescreening.ts"
import * as Workload from "../support/Workload.ts"

const [, , alternative = "", url = "", database = "", people = "0"] = process.argv

const layerAml = Layer.provide(
  Idv.layer({ authUrl: url, baseUrl: url, customerId: "demo-customer", customerKey: Redacted.make("demo-key") }),
  NodeHttpClient.layerUndici
)

/** Each of several processes creates the tables, unless they exist. */
const layerPg = (url: Redacted.Redacted) =>
  Layer.unwrapEffect(Effect.as(Ledger.migratePg({ url }), Ledger.layerPg({ url })))

const layerLedger = database.startsWith("postgres:")
  ? layerPg(Redacted.make(database))
  : Ledger.layerSqlite({ file: database })

const layerPeople = Layer.unwrapEffect(
  Effect.map(EncryptionKeys.make(Redacted.make(`k1:${Buffer.alloc(32, 1).toString("base64")}`)), People.layerEncrypted)
)

const names = ["Testclear", "Testpep", "Öztürk", "Иванова"]
const input = (index: number) => ({
  name: `Ada ${names[index % names.length]}`,
  dateOfBirth: `${1950 + index % 50}-03-14`
})

const population = (count: number) =>
  Stream.map(Stream.range(1, count), (index) => ({ key: `C-${index}`, person: Person.make(input(index)) }))

const service = "stub"
/** Higher than the machine can reach, so that the pauses between checks are not measured. */
const rate = 5000

/** Each process counts the runs, so that all agree on the name of the next one. */
let run = 0

const checks = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  let index = 0
  const check = Effect.suspend(() => Effect.flatMap(Person.make(input(index++)), aml.check))
  return Workload.concurrently(Workload.fromEffect(
    Effect.map(check, ({ credential }) => credential.credentials.attributes.matchFound),
    "No"
  ))
})

const plan = Effect.map(
  Effect.context<Ledger.Ledger | People.People>(),
  (context) => ({ calls }: Workload.Run) =>
    Workload.measure(
      calls,
      () => Effect.provide(Rescreening.plan(population(calls), { run: `r${run++}`, service, rate }), context)
    )
)

const work = Effect.map(
  Effect.context<Ledger.Ledger | People.People | AmlClient.AmlClient>(),
  (context) => ({ calls, concurrency }: Workload.Run) =>
    Workload.measure(calls, () =>
      Rescreening.work({ run: `r${run++}`, service, concurrency }).pipe(
        Effect.filterOrDie(
          (counts) => counts.no_match === calls,
          (counts) => new Error(`Of ${calls} people: ${JSON.stringify(counts)}`)
        ),
        Effect.provide(context)
      ))
)

/** The usual way to spread checks: a job for each person. */
const job = Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const boss = yield* Effect.acquireRelease(
    Effect.promise(() => new PgBoss({ connectionString: database, supervise: false, schedule: false }).start()),
    (boss) => Effect.promise(() => boss.stop({ graceful: false }))
  )
  const queue = "people"
  // Processes that create a queue at once may deadlock.
  yield* Effect.retry(
    Effect.tryPromise(() => boss.createQueue(queue)),
    Schedule.jittered(Schedule.spaced("200 millis"))
  )
  const screenJob = ({ data, id }: PgBoss.Job<Person.Input>) =>
    Person.make(data).pipe(
      Effect.flatMap(aml.check),
      Effect.zipRight(Effect.promise(() => boss.complete(queue, id)))
    )
  return ({ calls, concurrency }: Workload.Run) =>
    Effect.zipRight(
      Effect.promise(() =>
        boss.insert(Array.from({ length: calls }, (_, index) => ({ name: queue, data: input(index) })))
      ),
      Workload.measure(calls, () =>
        Effect.promise(() =>
          boss.fetch<Person.Input>(queue, { batchSize: concurrency })
        ).pipe(
          Effect.flatMap((jobs) =>
            Effect.as(Effect.forEach(jobs, screenJob, { concurrency: "unbounded", discard: true }), jobs)
          ),
          Effect.repeat({ until: (jobs) => jobs.length === 0 })
        ))
    )
})

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

const usedHeap = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const long = Effect.gen(function*() {
  const count = Number(people)
  const used: Array<number> = []
  let outcomes = 0
  const aml = yield* AmlClient.AmlClient
  const observed = AmlClient.AmlClient.of({
    ...aml,
    check: (person) =>
      Effect.tap(aml.check(person), () =>
        Effect.sync(() => {
          outcomes++
          if (outcomes === Math.floor(count * 0.1) || outcomes === Math.floor(count * 0.9)) used.push(usedHeap())
        }))
  })
  const night = "night"
  const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const from = performance.now()
      yield* effect
      return (performance.now() - from) / 1000
    })
  const planned = yield* seconds(Rescreening.plan(population(count), { run: night, service, rate: 100_000 }))
  const screened = yield* seconds(
    Effect.provideService(
      Rescreening.work({ run: night, service, concurrency: 64 }),
      AmlClient.AmlClient,
      observed
    )
  )
  const reported = yield* seconds(Effect.all([
    Stream.runDrain(Report.csv(night)),
    Stream.runDrain(Report.jsonLines(night)),
    Report.page(night)
  ]))
  const [early = NaN, late = NaN] = used
  return { planned, screened, reported, early, late, resident: process.memoryUsage().rss / 2 ** 20 } satisfies LongRun
}).pipe(
  Effect.provide([layerLedger, layerPeople, AmlClient.layerTest("No")]),
  Effect.flatMap((result) => Console.log(JSON.stringify(result)))
)

const built = <A, E, R, LE>(effect: Effect.Effect<A, E, R>, layer: Layer.Layer<R, LE>) =>
  Effect.flatMap(Layer.build(layer), (context) => Effect.provide(effect, context))

const layerAll = Layer.mergeAll(layerAml, layerLedger, layerPeople)

if (alternative === "long") NodeRuntime.runMain(long)
else if (alternative === "check") Workload.mainWith(built(checks, layerAml))
else if (alternative === "job") Workload.mainWith(Effect.flatMap(Layer.build(layerAml), (c) => Effect.provide(job, c)))
else if (alternative === "plan") Workload.mainWith(built(plan, layerAll))
else Workload.mainWith(built(work, layerAll))
