/** The scenarios against other servers than the mock server, with an independent tool, `redocly respect`. */
import { NodeContext } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { MockServer, Profile } from "../../mock-server/src/index.ts"
import * as Mutant from "./mutants/Mutant.ts"
import * as Redocly from "./support/redocly.ts"
import * as Scenarios from "./support/scenarios.ts"

/** Mutants, each with the scenario that must find it. The first scenario moves the clock. */
const mutants: ReadonlyArray<readonly [id: string, scenario: string]> = [
  ["token.lifetime/for-ever", "mock-expiry"],
  ["token.request.authorization/wrong-key", "assumed-token"],
  ["token.request.grant-type/password", "assumed-token"],
  ["token.success.status/tokenStatus=201", "assumed-token"],
  ["aml.request.authorization/forged", "assumed-refusals"],
  ["aml.request.entity-type/company", "assumed-refusals"],
  ["aml.error.echo/name", "assumed-refusals"],
  ["aml.answer.name/somebody-else", "assumed-screening"],
  ["aml.answer.searched-on/t", "assumed-screening"],
  ["aml.answer.match-found/lower-case", "assumed-screening"],
  ["aml.answer.aml-profile/missing-no", "assumed-screening"],
  ["aml.match.again/different", "assumed-screening"]
]

describe("The scenarios", () => {
  it.scopedLive("of what the document shows pass whatever the assumptions are, and fail against what it forbids", () =>
    Effect.gen(function*() {
      /** The failed workflows, with the token of the mock server as their input. */
      const run = <E>(layer: Layer.Layer<MockServer.MockServer, E>) =>
        Effect.gen(function*() {
          const { url } = Context.get(yield* Layer.build(layer), MockServer.MockServer)
          const body = yield* Effect.promise(() =>
            fetch(`${url}/oauth/service`, {
              method: "POST",
              headers: { authorization: `Basic ${btoa("demo-customer:demo-key")}` },
              body: new URLSearchParams({ grant_type: "client_credentials" })
            }).then((response) => response.text())
          )
          const { outcomes } = yield* Redocly.respect(
            [{ scenario: Scenarios.documented, url }],
            "--input",
            `accessToken=${/"access_token":"([^"]+)"/.exec(body)?.[1] ?? body}`
          )
          return outcomes.flat().filter(({ isGreen }) => !isGreen).map(({ workflow }) => workflow)
        })
      const mutant = (id: string) =>
        Effect.map(
          Arr.findFirst(Mutant.mutants, (mutant) => mutant.id === id),
          (mutant) => Mutant.layerSocket(mutant)
        )
      const assumed: Profile.Patch = {
        tokenStatus: "201",
        tokenField: "text",
        amlStatus: "201",
        nameEcho: "upper",
        credVersion: "2.0",
        extraFields: "some",
        amlError: "empty",
        tokenFormat: "jwt"
      }
      const profile = Profile.apply(Profile.defaultProfile, assumed)
      deepStrictEqual(
        yield* Effect.all([
          run(MockServer.layerTest),
          run(MockServer.layer({ port: 0, profile })),
          run(yield* mutant("aml.answer.aml-profile/missing-no"))
        ], { concurrency: 2 }),
        [[], [], ["documented-check"]]
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("fail against a mutant in a workflow that names its claim, and pass elsewhere", () =>
    Effect.gen(function*() {
      const named = new Map((yield* Scenarios.workflows).map((workflow) => [workflow.workflowId, workflow["x-claims"]]))
      const urlOf = <E>(layer: Layer.Layer<MockServer.MockServer, E>) =>
        Effect.map(Layer.build(layer), (context) => Context.get(context, MockServer.MockServer).url)
      const broken = yield* Effect.forEach(mutants, ([id, scenario]) =>
        Effect.gen(function*() {
          const mutant = yield* Arr.findFirst(Mutant.mutants, (mutant) => mutant.id === id)
          return { mutant, scenario, url: yield* urlOf(Mutant.layerSocket(mutant)) }
        }))
      const right = yield* urlOf(MockServer.layerTest)
      const { outcomes } = yield* Redocly.respect([
        ...broken,
        { scenario: "assumed-screening", url: right }
      ])
      const seen = broken.map(({ mutant: { claim, id } }, i) => {
        const red = (outcomes[i] ?? []).filter(({ isGreen }) => !isGreen).map(({ workflow }) => workflow)
        return [id, red.some((workflow) => named.get(workflow)?.includes(claim) === true) ? claim : red]
      })
      deepStrictEqual(seen, broken.map(({ mutant: { claim, id } }) => [id, claim]))
      const beside = outcomes.slice(broken.length).flat()
      deepStrictEqual(beside.map(({ isGreen }) => isGreen), [true, true, true])
    }).pipe(Effect.provide(NodeContext.layer)))
})
