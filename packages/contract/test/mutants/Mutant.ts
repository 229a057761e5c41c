/**
 * Mutants: servers that each violate one claim of the contract. A mutant is the mock server with another profile,
 * or behind a wrapper that changes its requests or responses. A conformance suite that passes on a mutant does not
 * test its claim.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { type Control, MockServer, Profile } from "../../../mock-server/src/index.ts"
import * as AmlRequests from "./amlRequests.ts"
import * as AmlResponses from "./amlResponses.ts"
import * as ErrorResponses from "./errorResponses.ts"
import * as LateRefusals from "./lateRefusals.ts"
import type { Mutant } from "./model.ts"
import * as ProfileVariants from "./profileVariants.ts"
import * as Server from "./server.ts"
import * as TokenRequests from "./tokenRequests.ts"
import * as TokenResponses from "./tokenResponses.ts"

export type { Mutant } from "./model.ts"

export const mutants: ReadonlyArray<Mutant> = [
  TokenRequests.mutants,
  TokenResponses.mutants,
  AmlRequests.mutants,
  AmlResponses.mutants,
  ErrorResponses.mutants,
  LateRefusals.mutants,
  ProfileVariants.mutants
].flat()

type Services = MockServer.MockServer | Control.Control | HttpClient.HttpClient

const layerMockServer = ({ profile }: Mutant): Layer.Layer<Services> =>
  MockServer.layerHttpClientWith(
    profile === undefined ? {} : { profile: Profile.apply(Profile.defaultProfile, profile) }
  )

const layerOn = <R>(mutant: Mutant, mockServer: Layer.Layer<Services, never, R>): Layer.Layer<Services, never, R> =>
  Layer.provideMerge(Layer.effect(HttpClient.HttpClient, Server.client(mutant.wrap)), mockServer)

/** A mutant in process. Its control API is that of the mock server. */
export const layerHttpClient = (mutant: Mutant): Layer.Layer<Services> => layerOn(mutant, layerMockServer(mutant))

/**
 * The same, but a mutant without a profile stands in front of the mock server of the context, because starting a
 * server takes as long as twenty cases.
 */
export const layerShared = (mutant: Mutant): Layer.Layer<Services, never, Services> =>
  layerOn(mutant, mutant.profile === undefined ? Layer.context<Services>() : layerMockServer(mutant))

/** A mutant on a free port of loopback, for tools that need a socket. */
export const layerSocket = (mutant: Mutant): Layer.Layer<MockServer.MockServer> => {
  const layerServing = Layer.unwrapEffect(
    Effect.map(Server.app(mutant.wrap), (app) => HttpServer.serve(app))
  )
  const layerUrl = Layer.effect(
    MockServer.MockServer,
    HttpServer.addressFormattedWith((url) =>
      Effect.map(
        MockServer.MockServer,
        ({ options }) => MockServer.MockServer.of({ url, options: { ...options, authUrl: url, baseUrl: url } })
      )
    )
  )
  return layerUrl.pipe(
    Layer.provide(HttpMiddleware.withTracerDisabledWhen(layerServing, () => true)),
    Layer.provide(Layer.orDie(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))),
    Layer.provide(layerMockServer(mutant))
  )
}
