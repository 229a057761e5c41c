/** Checks one person over TLS with three HTTP clients. The variable NODE_EXTRA_CA_CERTS counts at the start of Node only. */
import { AmlClient, Idv, Person } from "@effect-idv/core"
import { Session } from "@effect-idv/mock-server"
import { FetchHttpClient } from "@effect/platform"
import { NodeHttpClient, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger } from "effect"

const url = process.argv[2] ?? ""
const names = process.argv.slice(3)

const clients = {
  undici: NodeHttpClient.layerUndici,
  node: NodeHttpClient.layer,
  fetch: FetchHttpClient.layer
}

const outcome = (name: string) =>
  Effect.gen(function*() {
    const aml = yield* AmlClient.AmlClient
    const person = yield* Person.make({ name, dateOfBirth: "1957-03-14" })
    return yield* AmlClient.withPolicy(aml.check(person), { retry: "never", deadline: "1 minute" }).pipe(
      Effect.match({
        onFailure: (error) => "reason" in error ? `${error._tag} ${JSON.stringify(error.reason)}` : error._tag,
        onSuccess: ({ result }) => result
      })
    )
  })

NodeRuntime.runMain(
  Effect.forEach(Object.entries(clients), ([client, layer]) =>
    Effect.forEach(names, outcome).pipe(
      Effect.flatMap((outcomes) => Console.log(JSON.stringify([client, ...outcomes]))),
      Effect.provide(
        Idv.layer({
          authUrl: url,
          baseUrl: url,
          ...Session.testCustomer(`test-tls-${client}`),
          tokenPolicy: { attempts: 1 }
        }).pipe(Layer.provide(layer))
      )
    )).pipe(Effect.provide(Logger.remove(Logger.defaultLogger))),
  { disablePrettyLogger: true }
)
