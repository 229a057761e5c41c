/** The scenarios of the contract, and their workflows. */
import { FileSystem } from "@effect/platform"
import { Effect, Schema } from "effect"
import { parse } from "yaml"
import * as Contract from "../../src/Contract.ts"

/** The scenarios that assert assumptions, beside what the service document shows. */
export const names = ["assumed-refusals", "assumed-screening", "assumed-token", "mock-expiry", "mock-limits"]

export const documented = "documented"

const Scenario = Schema.Struct({
  workflows: Schema.Array(Schema.Struct({
    "workflowId": Schema.String,
    "x-claims": Schema.NonEmptyArray(Schema.String),
    "steps": Schema.Array(Schema.Struct({
      stepId: Schema.String,
      successCriteria: Schema.NonEmptyArray(
        Schema.Struct({ condition: Schema.String, context: Schema.optional(Schema.String) })
      )
    }))
  }))
})

/** The workflows of every scenario. */
export const workflows = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const files = yield* Effect.forEach([...names, documented], (name) =>
    Effect.flatMap(
      fs.readFileString(Contract.pathOf(`scenarios/${name}.arazzo.yaml`)),
      (yaml) => Schema.decodeUnknown(Scenario)(parse(yaml))
    ))
  return files.flatMap(({ workflows }) => workflows)
})
