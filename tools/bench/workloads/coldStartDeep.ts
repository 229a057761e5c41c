/**
 * Makes one check over `fetch` in a program with deep imports: `coldStartDeep.ts <url>` prints the milliseconds, as
 * `coldStart.ts` does.
 */
import * as AmlClient from "@effect-idv/core/AmlClient"
import * as Idv from "@effect-idv/core/Idv"
import * as Person from "@effect-idv/core/Person"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const [, , url = ""] = process.argv

const startedAt = performance.now()

const layer = Idv.layer({
  authUrl: url,
  baseUrl: url,
  customerId: "demo-customer",
  customerKey: Redacted.make("demo-key")
})

Effect.gen(function*() {
  const aml = yield* AmlClient.AmlClient
  const person = yield* Person.make({ name: "Ada Testclear", dateOfBirth: "1990-02-01" })
  const { result } = yield* aml.check(person)
  if (result !== "No") yield* Effect.dieMessage(`returned ${result} instead of No`)
  const first = performance.now() - startedAt
  process.stdout.write(JSON.stringify({ first, last: first }), () => process.exit())
}).pipe(Effect.provide(Layer.provide(layer, FetchHttpClient.layer)), Effect.runFork)
