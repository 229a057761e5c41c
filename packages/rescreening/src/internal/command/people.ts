/** The commands about people: their matches, decisions, history, export, hold and erasure. Each returns its exit code. */
import * as ParsedArguments from "@effect-idv/cli/parsedArguments"
import { UsageError } from "@effect-idv/cli/usageError"
import * as AmlCheck from "@effect-idv/core/AmlCheck"
import * as Person from "@effect-idv/core/Person"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Ledger from "../../Ledger.ts"
import * as Matches from "../../Matches.ts"
import * as People from "../../People.ts"
import * as PersonalData from "../../PersonalData.ts"
import * as Rescreening from "../../Rescreening.ts"
import * as Decisions from "./decisions.ts"
import { onStandardInput, printJson, withLedger } from "./invocation.ts"

export const decide = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run", "reviewer"], ({ reviewer = "", run = "" }) =>
    Effect.gen(function*() {
      const approves = ParsedArguments.isOn(args, "approve")
      const csv = yield* Stream.mkString(Stream.decodeText(onStandardInput))
      const count = yield* Decisions.store(run, csv, { reviewer, approves })
      yield* Console.log(`Stored: ${count} ${approves ? "approvals" : "decisions"} about results of run ${run}.`)
    }))

const encodeCheck = (check: AmlCheck.AmlCheck) => Effect.orDie(Schema.encode(AmlCheck.WithoutBody)(check))
const encodePerson = (person: Person.Person | null) =>
  person === null
    ? Effect.succeed(null)
    : Effect.orDie(Schema.encode(Person.RequestBody)(Person.toRequestBody(person)))
const encodeWithBody = (check: AmlCheck.AmlCheck) => Effect.orDie(Schema.encode(AmlCheck.AmlCheck)(check))

export const matches = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["run", "reviewer"], ({ reviewer = "", run = "" }) =>
    Matches.review(run, { reader: reviewer }).pipe(
      Stream.mapEffect(({ check, late, row }) =>
        Effect.all({
          check: check === undefined ? Effect.succeed(null) : encodeCheck(check),
          late_checks: Effect.forEach(late, (check) => encodeCheck(check))
        }).pipe(Effect.map((checks) => ({ ...row, ...checks })))
      ),
      Stream.runForEach(printJson),
      Effect.provide(People.layerEnv)
    ))

export const history = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], ({ id }) =>
    Effect.flatMap(Ledger.Ledger, (ledger) =>
      Stream.runForEach(
        id === undefined ? ledger.history : Stream.fromIterableEffect(ledger.historyOf([id])),
        printJson
      )))

export const exportPerson = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["id", "by"], ({ by = "", id = "" }) =>
    Effect.gen(function*() {
      const { controls, history, runs } = yield* PersonalData.read(id, { actor: by })
      for (const { checks, person, ...inRun } of runs) {
        yield* printJson({
          ...inRun,
          checks: yield* Effect.forEach(checks, (check) => encodeWithBody(check)),
          person: yield* encodePerson(person)
        })
      }
      for (const { person, run } of controls) {
        yield* printJson({ run, isControl: true, person: yield* encodePerson(person) })
      }
      yield* Effect.forEach(history, printJson, { discard: true })
    }).pipe(Effect.provide(People.layerEnv)))

export const hold = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, ["id", "by"], ({ by = "", id = "" }) =>
    Effect.gen(function*() {
      const releases = ParsedArguments.isOn(args, "release")
      const changed = yield* PersonalData.hold(id, { actor: by, releases })
      const state = releases ? "not on hold" : "on hold: nothing about this person is erased"
      yield* Console.log(`The person is ${changed ? "now " : "already "}${state}.`)
    }))

const erasePerson = (id: string, actor: string | undefined, keepsHistory: boolean) =>
  Effect.gen(function*() {
    if (actor === undefined) return yield* new UsageError({ text: "--by is missing: who erases this person" })
    const runs = yield* PersonalData.erase(id, { actor, keepsHistory })
    yield* Console.log(
      `Erased: the person, in ${runs} ${
        runs === 1 ? "run" : "runs"
      }. Reports and exports that were written before, and ` +
        "backups, still contain the person."
    )
  })

export const erase = (args: ParsedArguments.ParsedArguments) =>
  withLedger(args, [], (flags) =>
    Effect.gen(function*() {
      const { "history-older-than": historyOlderThan, id, "older-than": olderThan } = flags
      if ((id === undefined) === (olderThan === undefined)) {
        return yield* new UsageError({ text: "Expected either --older-than or --id" })
      }
      const isHistoryKept = ParsedArguments.isOn(args, "keep-history")
      if (id === undefined && (isHistoryKept || flags.by !== undefined)) {
        return yield* new UsageError({ text: "--keep-history and --by need --id" })
      }
      if (id !== undefined && historyOlderThan !== undefined) {
        return yield* new UsageError({ text: "--history-older-than needs --older-than" })
      }
      if (id !== undefined) return yield* erasePerson(id, flags.by, isHistoryKept)
      const runs = yield* Rescreening.erase({ olderThan: olderThan ?? Duration.infinity, historyOlderThan })
      yield* Console.log(runs.length === 0 ? "No run is that old." : `Erased: ${runs.join(", ")}. Their counts stay.`)
    }))
