import { AmlCheck, AmlClient, Idv, IdvHttp, Person } from "@effect-idv/effect-4"
import { Console, Effect, Layer } from "effect"

const decide = Effect.fn("decide")(function*(input: Person.Input) {
  const aml = yield* AmlClient.AmlClient
  const check = yield* aml.check(yield* Person.make(input))
  return AmlCheck.match(check, {
    onNo: () => "clear",
    onDoubtfulNo: () => "review",
    onPotentialMatch: () => "review"
  })
})

const main = decide({ name: "Ada Testclear", dateOfBirth: "1990-02-01" }).pipe(
  Effect.tap(Effect.log),
  Effect.provide(Idv.layerEnv().pipe(Layer.provide(IdvHttp.layerEnv()))),
  Effect.catchTag("ConfigError", (error) =>
    Effect.andThen(
      Console.error(Idv.describeConfigError(error)),
      Effect.sync(() => {
        process.exitCode = 1
      })
    ))
)

void Effect.runPromise(main)
